#include "assay/evaluate/again/shifted_model.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "assay/model/trees/ensemble.h"

namespace assay {
namespace {

// Numbers of the rows that are shifted at a time, unless one row is larger.
constexpr size_t kNumbersPerTurn = size_t{1} << 21;

class ShiftedModel final : public Model,
                           public Differentiable,
                           public Rescalable,
                           public AffineEntry,
                           public TreeScores {
 public:
  ShiftedModel(const Model& model, std::vector<float> c) : model_(model), c_(std::move(c)) {
    assert(c_.size() == model.info().features());
    // Those of x that decide as the model's do on x - c, as predict() takes it: the same leaves.
    if (model.tree_scores() != nullptr) trees_ = model.tree_scores()->trees().shifted(c_);
    const AffineEntry* entry = model.affine_entry();
    if (entry == nullptr) return;
    // (row - c) * weights + bias = row * weights + (bias - c * weights)
    const MatrixView<const float> weights = entry->weights();
    for (size_t j = 0; j < weights.cols(); j++) {
      double sum = entry->bias()[j];
      for (size_t i = 0; i < weights.rows(); i++) sum -= static_cast<double>(c_[i]) * weights(i, j);
      bias_.push_back(static_cast<float>(sum));
    }
  }

  const ModelInfo& info() const override { return model_.info(); }
  const Differentiable* differentiable() const override { return model_.differentiable() == nullptr ? nullptr : this; }
  const Rescalable* rescalable() const override { return model_.rescalable() == nullptr ? nullptr : this; }
  const AffineEntry* affine_entry() const override { return model_.affine_entry() == nullptr ? nullptr : this; }
  const TreeScores* tree_scores() const override { return trees_ ? this : nullptr; }

  void predict(MatrixView<const float> rows, MatrixView<float> outputs, const Context& context) const override {
    in_turns(rows, [&](MatrixView<const float> back, size_t begin, size_t end) {
      model_.predict(back, outputs.rows_between(begin, end), context);
    });
  }

  void gradient(MatrixView<const float> rows, MatrixView<const float> weights, MatrixView<float> gradients,
                MatrixView<float> outputs, const Context& context) const override {
    in_turns(rows, [&](MatrixView<const float> back, size_t begin, size_t end) {
      model_.differentiable()->gradient(back, weights.rows_between(begin, end), gradients.rows_between(begin, end),
                                        outputs.empty() ? outputs : outputs.rows_between(begin, end), context);
    });
  }

  std::optional<std::string> refuses(DeepLiftRule rule) const override { return model_.rescalable()->refuses(rule); }

  void multipliers(MatrixView<const float> rows, MatrixView<const float> reference, MatrixView<const float> weights,
                   DeepLiftRule rule, MatrixView<float> multipliers, const Context& context) const override {
    in_turns(rows, [&](MatrixView<const float> back, size_t begin, size_t end) {
      const bool one = reference.rows() == 1;
      const Matrix base = taken_back(one ? reference : reference.rows_between(begin, end));
      model_.rescalable()->multipliers(back, base.view(), weights.rows_between(begin, end), rule,
                                       multipliers.rows_between(begin, end), context);
    });
  }

  MatrixView<const float> weights() const override { return model_.affine_entry()->weights(); }
  std::span<const float> bias() const override { return bias_; }
  void predict_from(MatrixView<const float> entries, MatrixView<float> outputs, const Context& context) const override {
    model_.affine_entry()->predict_from(entries, outputs, context);
  }
  std::optional<LeakyTail> leaky_tail() const override { return model_.affine_entry()->leaky_tail(); }

  const TreeEnsemble& trees() const override { return *trees_; }
  bool are_outputs() const override { return model_.tree_scores()->are_outputs(); }
  void outputs_of(MatrixView<const float> scores, MatrixView<float> outputs, const Context& context) const override {
    model_.tree_scores()->outputs_of(scores, outputs, context);
  }

 private:
  Matrix taken_back(MatrixView<const float> rows) const {
    Matrix back(rows.rows(), rows.cols());
    for (size_t r = 0; r < rows.rows(); r++) {
      const auto from = rows.row(r);
      const auto to = back.row(r);
      for (size_t i = 0; i < from.size(); i++) to[i] = from[i] - c_[i];
    }
    return back;
  }

  // run(shifted rows, begin, end) for parts of the rows.
  template <class Run>
  void in_turns(MatrixView<const float> rows, const Run& run) const {
    const size_t turn = std::max<size_t>(kNumbersPerTurn / std::max<size_t>(rows.cols(), 1), 1);
    for (size_t begin = 0; begin < rows.rows(); begin += turn) {
      const size_t end = std::min(begin + turn, rows.rows());
      run(taken_back(rows.rows_between(begin, end)).view(), begin, end);
    }
  }

  const Model& model_;
  std::vector<float> c_;
  std::vector<float> bias_;  // of the affine entry
  std::optional<TreeEnsemble> trees_;
};

}  // namespace

std::unique_ptr<Model> shifted_model(const Model& model, std::vector<float> c) {
  return std::make_unique<ShiftedModel>(model, std::move(c));
}

}  // namespace assay
