#include "assay/model/probability_trial.h"

#include <algorithm>
#include <cmath>

#include "assay/core/budget.h"
#include "assay/core/matrix.h"
#include "assay/model/graph_rows.h"

namespace assay {
namespace {

constexpr size_t kTriedRows = 16;
// What is no probability mostly shows in the first row; and plans for 1 and 4 rows are there already.
constexpr size_t kAtOnce = 4;

}  // namespace

bool gives_probabilities(const std::string& name, const RowRunner& predict, const std::vector<RowInput>& inputs,
                         size_t features, const Context& context) {
  const auto is_other = [](const RowInput& input) { return input.type != OnnxElement::float32; };
  if (std::any_of(inputs.begin(), inputs.end(), is_other)) return true;
  const size_t width = predict.width(0);
  if (predict.steps_of(kTriedRows) > context.budget.steps) return true;
  Spending(context, name).take_bytes(kTriedRows * sizeof(float) * (uint64_t{features} + width));
  Matrix rows(kTriedRows, features);
  for (size_t i = 0; i < rows.values().size(); i++) rows.values()[i] = static_cast<float>(i * 7 % 23) / 4 - 2;
  Matrix outputs(kTriedRows, width);
  for (size_t begin = 0, count = 1; begin < kTriedRows; begin += count, count = std::min(kAtOnce, kTriedRows - begin)) {
    const MatrixView<float> tried = outputs.view().rows_between(begin, begin + count);
    predict.run(rows.view().rows_between(begin, begin + count), context, [&](const Block& block, Workspace& workspace) {
      workspace.forward(context);
      copy_rows(workspace.fetched(0), predict.fetched(0).type, width, block.begin, block.end, tried);
    });
    const bool inside = std::all_of(tried.data(), tried.data() + count * width,
                                    [](float p) { return std::isnan(p) || (p >= -1e-3F && p <= 1 + 1e-3F); });
    if (!inside) return false;
  }
  return true;
}

}  // namespace assay
