// TreeEnsembleRegressor (ai.onnx.ml, versions 1 and 3): the raw scores of an ensemble (ensemble.h) after
// post_transform, float32 whatever X is. As in onnxruntime a transform other than PROBIT has no effect on one target;
// unlike there, a target without a weight at any leaf that a row reaches still has its base value.
#include <fmt/format.h>

#include "assay/core/text.h"
#include "assay/model/ops/ensemble_attributes.h"
#include "assay/model/ops/kernel_cost.h"
#include "assay/model/ops/post_transform.h"
#include "assay/model/ops/tabular.h"

namespace assay {
namespace {

TreeAggregate aggregate_named(const NodeSetup& setup) {
  const std::string name = setup.text("aggregate_function", "SUM");
  if (name == "SUM") return TreeAggregate::sum;
  if (name == "AVERAGE") return TreeAggregate::average;
  if (name == "MIN") return TreeAggregate::minimum;
  if (name == "MAX") return TreeAggregate::maximum;
  setup.fail(fmt::format("aggregate_function must be SUM, AVERAGE, MIN or MAX, found {}", in_quotes(name)));
}

class TreeEnsembleRegressor final : public Kernel, public KernelCost {
 public:
  explicit TreeEnsembleRegressor(NodeSetup& setup) {
    setup.expect_inputs(1, 1);
    setup.expect_outputs(1, 1);
    x_ = table_input(setup, 0);
    transform_ = post_transform(setup);
    const TreeAggregate aggregate = aggregate_named(setup);
    const int64_t targets = setup.integer("n_targets", 1);
    if (targets < 1) setup.fail(fmt::format("n_targets must be 1 or more, found {}", targets));
    setup.set_output(0, OnnxElement::float32, {static_cast<int64_t>(x_.rows), targets});
    ensemble_ = setup.shared<TreeEnsemble>(x_.width, [&] {
      EnsembleAttributes found = ensemble_attributes(setup, "target", static_cast<size_t>(targets));
      if (!found.base.empty()) expect_length(setup, "base_values", found.base.size(), static_cast<size_t>(targets));
      return std::make_shared<TreeEnsemble>(setup.where(), found.source, x_.width, static_cast<size_t>(targets),
                                            aggregate, std::move(found.base));
    });
    scratch_ = setup.checked_bytes(ensemble_->scratch_count(), TreeEnsemble::kScratchSize);
  }

  void forward(const Buffers& values) const override {
    float* y = values.out<float>(0);
    with_number(x_.type, [&]<class T>() {
      ensemble_->for_rows(values.in<T>(0), x_.rows, x_.width, values.scratch,
                          [&](size_t, std::span<double> scores, const uint8_t*) {
                            apply_post_transform(transform_, scores);
                            for (const double score : scores) *y++ = static_cast<float>(score);
                          });
    });
  }
  size_t scratch_bytes() const override { return scratch_; }
  // No way through the trees meets a node twice.
  uint64_t further_steps() const override { return x_.rows * ensemble_->nodes().size() * kSlowSteps; }
  std::shared_ptr<const TreeEnsemble> raw_trees() const override {
    const bool unchanged =
        transform_ == PostTransform::none || (ensemble_->targets() == 1 && transform_ != PostTransform::probit);
    return unchanged ? ensemble_ : nullptr;
  }

 private:
  TableInput x_;
  PostTransform transform_ = PostTransform::none;
  std::shared_ptr<const TreeEnsemble> ensemble_;
  size_t scratch_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> make_tree_ensemble_regressor(NodeSetup& setup) {
  return std::make_unique<TreeEnsembleRegressor>(setup);
}

}  // namespace assay
