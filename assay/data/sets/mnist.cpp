// MNIST: 70,000 handwritten digits, 28 x 28 pixels of 0..255, in the four files of its authors.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "assay/core/error.h"
#include "assay/data/io/array_table.h"
#include "assay/data/sets/common.h"

namespace assay {
namespace {

constexpr size_t kSide = 28;
constexpr size_t kPixels = kSide * kSide;

// Appends the images and labels of one part to the table.
void append(const DataFiles& files, const std::string& part, Table& table) {
  const auto image_path = files.path(part + "-images-idx3-ubyte");
  const auto label_path = files.path(part + "-labels-idx1-ubyte");
  const Table images = read_idx_table(*files.open(part + "-images-idx3-ubyte")());
  const Table labels = read_idx_table(*files.open(part + "-labels-idx1-ubyte")());
  if (images.item_shape != std::vector<size_t>{kSide, kSide}) {
    fail_input(image_path, "images of 28 x 28 pixels", fmt::format("rows of {} values", images.values.cols()));
  }
  if (labels.values.cols() != 1 || labels.rows() != images.rows()) {
    fail_input(label_path, fmt::format("one label for each of {} images", images.rows()),
               fmt::format("{} x {} values", labels.rows(), labels.values.cols()));
  }
  for (size_t i = 0; i < images.rows(); ++i) {
    const float label = labels.values(i, 0);
    if (!(label >= 0 && label <= 9 && label == std::trunc(label))) {
      fail_input(fmt::format("{}, label {}", label_path, i + 1), "a digit", fmt::format("{}", label));
    }
    const auto row = table.values.append_row();
    std::ranges::copy(images.values.row(i), row.begin());
    row[kPixels] = label;
  }
}

LoadedSet load_mnist(const DataFiles& files, const SetOptions&) {
  LoadedSet set;
  Table& table = set.table;
  for (size_t y = 0; y < kSide; ++y) {
    for (size_t x = 0; x < kSide; ++x) table.columns.push_back({fmt::format("pixel_{}_{}", y, x)});
  }
  table.columns.push_back({"digit", ColumnKind::categorical, {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}});
  table.label = kPixels;
  table.item_shape = {kSide, kSide};
  table.values = Matrix(0, kPixels + 1);
  append(files, "train", table);
  set.training_rows = table.rows();
  append(files, "t10k", table);
  table.values.shrink_to_fit();
  return set;
}

}  // namespace

DatasetSource mnist_set() {
  DatasetInfo info;
  info.name = "mnist";
  info.title = "MNIST: handwritten digits, 28 x 28";
  info.rows = 70000;
  info.features = kPixels;
  info.label = "digit";
  info.address = "http://yann.lecun.com/exdb/mnist";
  info.citation = "Y. LeCun, C. Cortes, C. Burges (1998)";
  info.folders = {"mnist"};
  info.files = {{"train-images-idx3-ubyte", "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
                 "train-images-idx3-ubyte.gz"},
                {"train-labels-idx1-ubyte", "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
                 "train-labels-idx1-ubyte.gz"},
                {"t10k-images-idx3-ubyte", "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
                 "t10k-images-idx3-ubyte.gz"},
                {"t10k-labels-idx1-ubyte", "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
                 "t10k-labels-idx1-ubyte.gz"}};
  return {info, load_mnist};
}

}  // namespace assay
