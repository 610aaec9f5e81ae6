#include "assay/model/model.h"

#include <algorithm>
#include <utility>

namespace assay {
namespace {

class FunctionModel final : public Model {
 public:
  FunctionModel(ModelInfo info, BlackBox function, size_t most_rows)
      : info_(std::move(info)), function_(std::move(function)), most_rows_(std::max<size_t>(most_rows, 1)) {}

  const ModelInfo& info() const override { return info_; }
  void predict(MatrixView<const float> rows, MatrixView<float> outputs, const Context& context) const override {
    for (size_t begin = 0; begin < rows.rows(); begin += most_rows_) {
      context.check_cancelled();
      const size_t end = std::min(rows.rows(), begin + most_rows_);
      function_(rows.rows_between(begin, end), outputs.rows_between(begin, end));
    }
  }

 private:
  ModelInfo info_;
  BlackBox function_;
  size_t most_rows_;
};

}  // namespace

std::string_view output_unit_name(OutputUnit unit) {
  switch (unit) {
    case OutputUnit::margin: return "margin";
    case OutputUnit::probability: return "probability";
    case OutputUnit::log_odds: return "log_odds";
    default: return "value";
  }
}

std::unique_ptr<Model> model_from_function(ModelInfo info, BlackBox function, size_t most_rows) {
  return std::make_unique<FunctionModel>(std::move(info), std::move(function), most_rows);
}

}  // namespace assay
