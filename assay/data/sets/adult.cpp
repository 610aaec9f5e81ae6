// UCI Adult: does a person of the 1994 US census earn more than 50,000 dollars a year?
//
// Both files as UCI publishes them, 32,561 training and 16,281 test rows. The test file's first line is a remark and
// its labels end in a dot; both are removed. `?` is a missing category; the encoder gives it a level of its own.
#include <string>

#include "assay/core/error.h"
#include "assay/data/sets/common.h"

namespace assay {
namespace {

const std::vector<std::string> kColumns = {
    "age",          "workclass", "fnlwgt", "education",    "education-num", "marital-status", "occupation",    "relationship",
    "race",         "sex",       "capital-gain", "capital-loss", "hours-per-week", "native-country", "income",
};

std::string text_of(const DataFiles& files, std::string_view file) {
  constexpr uint64_t kLimit = uint64_t{64} << 20;  // ten times the real size
  return read_all(*files.open(file)(), kLimit);
}

// The test file in the form of the training file.
std::string without_remark_and_dots(const std::string& text) {
  std::string out;
  out.reserve(text.size());
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line(text.data() + begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.ends_with('.')) line.remove_suffix(1);
    if (!line.starts_with('|')) out.append(line).append("\n");
    begin = end + 1;
  }
  return out;
}

LoadedSet load(const DataFiles& files, const SetOptions&) {
  std::string text = text_of(files, "adult.data");
  if (!text.ends_with('\n')) text += '\n';
  TableOptions options;
  options.numeric = {"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"};
  options.label = "income";
  LoadedSet set;
  set.training_rows = read_unnamed_table(files.path("adult.data"), text, kColumns, ',', options).rows();
  text += without_remark_and_dots(text_of(files, "adult.test"));
  set.table = read_unnamed_table(files.path("adult.test"), text, kColumns, ',', options);
  return set;
}

}  // namespace

DatasetSource adult_set() {
  DatasetInfo info;
  info.name = "adult";
  info.title = "Adult: census income above 50,000 dollars";
  info.rows = 48842;
  info.features = 14;
  info.label = "income";
  info.address = "https://archive.ics.uci.edu/dataset/2/adult";
  info.citation = "B. Becker, R. Kohavi (1996), UCI Machine Learning Repository, doi:10.24432/C5XW20";
  info.folders = {"adult"};
  info.files = {{"adult.data", "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"},
                {"adult.test", "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05"}};
  return {info, load};
}

}  // namespace assay
