// TreeEnsembleClassifier (ai.onnx.ml, versions 1 and 3): labels, and the raw scores of an ensemble (ensemble.h) after
// post_transform, float32 whatever X is.
// If only one of two classes has weights, the score is that of the second class, whichever the weights name. Its label
// is chosen above 0.5 if no weight is negative (probabilities), else above 0. Weights named for class 0 make two
// columns as post_transform.h says; named for class 1 they stand beside a column of zeros. All as in onnxruntime.
// Else the label is that of the largest score among classes with any weight. If both of two classes have weights,
// onnxruntime answers 0 or 1 by the sign of the second score, whatever the labels, and loses base values; not here.
// With the engine's own attribute assay_raw = 1 output 2 is the raw scores: one column if only one class has weights.
#include <fmt/format.h>

#include "assay/model/ops/classifier.h"
#include "assay/model/ops/ensemble_attributes.h"
#include "assay/model/ops/kernel_cost.h"
#include "assay/model/ops/post_transform.h"
#include "assay/model/ops/tabular.h"

namespace assay {
namespace {

// What all kernels of a node share.
struct ClassifierTrees {
  TreeEnsemble ensemble;
  std::shared_ptr<const TreeEnsemble> both_columns;  // of one score that is given as two columns; else null
  bool all_positive = true;
  bool one_score = false;
  bool named_for_first = true;
};

class TreeEnsembleClassifier final : public Kernel, public KernelCost {
 public:
  explicit TreeEnsembleClassifier(NodeSetup& setup) : labels_(setup, "classlabels_int64s") {
    setup.expect_inputs(1, 1);
    setup.expect_outputs(1, 2);
    x_ = table_input(setup, 0);
    transform_ = post_transform(setup);
    raw_ = setup.flag("assay_raw", false);
    const size_t classes = labels_.size();
    trees_ = setup.shared<ClassifierTrees>(x_.width, [&] { return read_trees(setup); });
    scratch_ = setup.checked_bytes(trees_->ensemble.scratch_count(), TreeEnsemble::kScratchSize);
    const size_t targets = trees_->ensemble.targets();
    columns_ = raw_ ? targets : classes;
    const auto rows = static_cast<int64_t>(x_.rows);
    setup.set_output(0, labels_.type(), {rows});
    if (setup.wants_output(1)) {
      setup.set_output(1, OnnxElement::float32, {rows, static_cast<int64_t>(columns_)});
    }
    if (classes == 1) labels_.pad_single();
  }

  void forward(const Buffers& values) const override {
    with_number(x_.type, [&]<class T>() {
      trees_->ensemble.for_rows(
          values.in<T>(0), x_.rows, x_.width, values.scratch,
          [&](size_t row, std::span<double> scores, const uint8_t* scored) { finish(values, row, scores, scored); });
    });
  }
  size_t scratch_bytes() const override { return scratch_; }
  // No way through the trees meets a node twice.
  uint64_t further_steps() const override { return x_.rows * trees_->ensemble.nodes().size() * kSlowSteps; }
  std::shared_ptr<const TreeEnsemble> raw_trees() const override {
    if (trees_->both_columns != nullptr) return trees_->both_columns;
    const bool unchanged = raw_ || (transform_ == PostTransform::none && !trees_->one_score);
    return unchanged ? std::shared_ptr<const TreeEnsemble>(trees_, &trees_->ensemble) : nullptr;
  }

 private:
  std::shared_ptr<const ClassifierTrees> read_trees(const NodeSetup& setup) const {
    const size_t classes = labels_.size();
    EnsembleAttributes found = ensemble_attributes(setup, "class", classes);
    auto made = std::make_shared<ClassifierTrees>();
    made->all_positive = found.all_positive;
    // Two base values make it an ensemble with scores for both.
    made->one_score = classes == 2 && found.one_target && found.base.size() < 2;
    if (made->one_score) {
      made->named_for_first = found.source.weights.empty() || found.source.weights[0].target == 0;
      for (TreeWeight& weight : found.source.weights) weight.target = 0;
    }
    const size_t targets = made->one_score ? 1 : classes;
    if (!found.base.empty()) expect_length(setup, "base_values", found.base.size(), targets);
    if (made->one_score && made->named_for_first && !raw_ && transform_ == PostTransform::none) {
      made->both_columns = both_columns(setup, found);
    }
    made->ensemble =
        TreeEnsemble(setup.where(), found.source, x_.width, targets, TreeAggregate::sum, std::move(found.base));
    return made;
  }
  // The columns of one score as an ensemble of two: 1 - s (-s where weights are negative) and s.
  std::shared_ptr<const TreeEnsemble> both_columns(const NodeSetup& setup, const EnsembleAttributes& found) const {
    TreeSource source = found.source;
    source.weights.clear();
    for (const TreeWeight& weight : found.source.weights) {
      source.weights.push_back({0, -weight.value});
      source.weights.push_back({1, weight.value});
    }
    for (TreeSource::Node& node : source.nodes) {
      node.first_weight *= 2;
      node.weight_count *= 2;
    }
    const double base = found.base.empty() ? 0 : found.base[0];
    return std::make_shared<TreeEnsemble>(setup.where(), source, x_.width, 2, TreeAggregate::sum,
                                          std::vector<double>{(found.all_positive ? 1 : 0) - base, base});
  }
  void finish(const Buffers& values, size_t row, std::span<double> scores, const uint8_t* scored) const {
    // Labels follow from what is written: scores that are equal there are equal.
    for (double& score : scores) score = static_cast<double>(static_cast<float>(score));
    if (values.out<void>(0) != nullptr) labels_.write(values.out<void>(0), row, label(scores, scored));
    if (values.out<void>(1) == nullptr) return;
    float* out = values.out<float>(1) + row * columns_;
    double both[2] = {0, scores[0]};
    if (trees_->one_score && !raw_) {
      if (trees_->named_for_first) {
        apply_post_transform_binary(transform_, scores[0], trees_->all_positive, both);
      } else {
        apply_post_transform(transform_, both);
      }
      scores = both;
    } else if (!raw_) {
      apply_post_transform(transform_, scores);
    }
    for (size_t c = 0; c < columns_; c++) out[c] = static_cast<float>(scores[c]);
  }
  size_t label(std::span<const double> scores, const uint8_t* scored) const {
    if (trees_->one_score) return scores[0] > (trees_->all_positive ? 0.5 : 0.0) ? 1 : 0;
    if (scores.size() == 1) return scores[0] > 0 ? 1 : 0;
    // A class without weights competes with others' negative scores only where there are two.
    const bool all = scores.size() == 2;
    size_t best = SIZE_MAX;
    for (size_t c = 0; c < scores.size(); c++) {
      if ((all || scored[c] != 0) && (best == SIZE_MAX || scores[c] > scores[best])) best = c;
    }
    return best == SIZE_MAX ? 0 : best;
  }

  TableInput x_;
  ClassLabels labels_;
  PostTransform transform_ = PostTransform::none;
  std::shared_ptr<const ClassifierTrees> trees_;
  bool raw_ = false;
  size_t columns_ = 0;
  size_t scratch_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> make_tree_ensemble_classifier(NodeSetup& setup) {
  return std::make_unique<TreeEnsembleClassifier>(setup);
}

}  // namespace assay
