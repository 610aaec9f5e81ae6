// TreeEnsemble (ai.onnx.ml, version 5): the raw scores of an ensemble (ensemble.h) after post_transform, of the type of
// X. Branches and leaves are separate lists here, a leaf has one weight, and BRANCH_MEMBER tests for a set of numbers.
// A transform other than PROBIT has no effect on one target, as in onnxruntime. Its numbers are ONNX's (1 is SOFTMAX, 2
// LOGISTIC), which onnxruntime 1.31 swaps; and 2.5 is no member of {2, 35}, but in onnxruntime it is.
#include <fmt/format.h>

#include <cmath>

#include "assay/model/ops/ensemble_attributes.h"
#include "assay/model/ops/kernel_cost.h"
#include "assay/model/ops/post_transform.h"
#include "assay/model/ops/tabular.h"

namespace assay {
namespace {

// The sets of the member nodes in their order: numbers with NaN after each set, which may be missing after the last.
std::vector<std::vector<double>> read_member_sets(const NodeSetup& setup, size_t expected) {
  std::vector<std::vector<double>> sets;
  bool open = false;
  for (const double member : tensor_reals(setup, "membership_values")) {
    if (!open) sets.emplace_back();
    open = !std::isnan(member);
    if (open) sets.back().push_back(member);
  }
  if (sets.size() != expected) {
    setup.fail(fmt::format("expected {} sets in membership_values, one for each BRANCH_MEMBER; found {}", expected,
                           sets.size()));
  }
  return sets;
}

TreeSource read_source(const NodeSetup& setup, size_t targets) {
  const std::vector<int64_t> true_ids = setup.integers("nodes_truenodeids");
  const std::vector<int64_t> false_ids = setup.integers("nodes_falsenodeids");
  const std::vector<int64_t> true_leafs = setup.integers("nodes_trueleafs");
  const std::vector<int64_t> false_leafs = setup.integers("nodes_falseleafs");
  const std::vector<int64_t> features = setup.integers("nodes_featureids");
  const std::vector<int64_t> missing = setup.integers("nodes_missing_value_tracks_true");
  const std::vector<double> splits = tensor_reals(setup, "nodes_splits");
  const std::vector<int64_t> modes = tensor_wholes(setup, "nodes_modes");
  const std::vector<int64_t> leaf_targets = setup.integers("leaf_targetids");
  const std::vector<double> leaf_weights = tensor_reals(setup, "leaf_weights");
  const size_t branches = features.size();
  const size_t leaves = leaf_targets.size();
  expect_length(setup, "nodes_truenodeids", true_ids.size(), branches);
  expect_length(setup, "nodes_falsenodeids", false_ids.size(), branches);
  expect_length(setup, "nodes_trueleafs", true_leafs.size(), branches);
  expect_length(setup, "nodes_falseleafs", false_leafs.size(), branches);
  expect_length(setup, "nodes_splits", splits.size(), branches);
  expect_length(setup, "nodes_modes", modes.size(), branches);
  expect_length(setup, "leaf_weights", leaf_weights.size(), leaves);
  if (!missing.empty()) expect_length(setup, "nodes_missing_value_tracks_true", missing.size(), branches);

  TreeSource source;
  source.nodes.resize(branches + leaves);
  const auto child = [&](int64_t id, bool is_leaf) {
    if (id < 0 || static_cast<uint64_t>(id) >= (is_leaf ? leaves : branches)) {
      setup.fail(fmt::format("a child is {} {}, of {}", is_leaf ? "leaf" : "node", id, is_leaf ? leaves : branches));
    }
    return static_cast<size_t>(id) + (is_leaf ? branches : 0);
  };
  size_t sets = 0;
  for (size_t i = 0; i < branches; i++) {
    TreeSource::Node& node = source.nodes[i];
    if (modes[i] < 0 || modes[i] > static_cast<int64_t>(TreeMode::member)) {
      setup.fail(fmt::format("nodes_modes must lie in 0 to 6, found {}", modes[i]));
    }
    node.mode = static_cast<TreeMode>(modes[i]);
    node.missing_goes_true = !missing.empty() && missing[i] == 1;
    node.feature = features[i];
    node.threshold = node.mode == TreeMode::member ? static_cast<double>(sets++) : splits[i];
    node.true_child = child(true_ids[i], true_leafs[i] != 0);
    node.false_child = child(false_ids[i], false_leafs[i] != 0);
    node.id = static_cast<int64_t>(i);
  }
  source.sets = read_member_sets(setup, sets);
  for (size_t i = 0; i < leaves; i++) {
    if (leaf_targets[i] < 0 || static_cast<uint64_t>(leaf_targets[i]) >= std::min<size_t>(targets, UINT32_MAX)) {
      setup.fail(fmt::format("leaf_targetids must lie in 0 to {}, found {}", targets - 1, leaf_targets[i]));
    }
    source.weights.push_back({static_cast<uint32_t>(leaf_targets[i]), leaf_weights[i]});
    source.nodes[branches + i].first_weight = i;
    source.nodes[branches + i].weight_count = 1;
  }
  for (const int64_t root : setup.integers("tree_roots")) {
    if (root < 0 || static_cast<uint64_t>(root) >= branches) {
      setup.fail(fmt::format("a root is node {}, of {}", root, branches));
    }
    // A tree of one leaf is written as a branch to that leaf either way; its feature means nothing.
    const TreeSource::Node& node = source.nodes[static_cast<size_t>(root)];
    const bool is_leaf = node.true_child == node.false_child && node.true_child >= branches;
    source.roots.push_back(is_leaf ? node.true_child : static_cast<size_t>(root));
  }
  return source;
}

class TreeEnsembleKernel final : public Kernel, public KernelCost {
 public:
  explicit TreeEnsembleKernel(NodeSetup& setup) {
    setup.expect_inputs(1, 1);
    setup.expect_outputs(1, 1);
    setup.floating_input(0);
    x_ = table_input(setup, 0);
    const int64_t aggregate = setup.integer("aggregate_function", 1);
    if (aggregate < 0 || aggregate > 3) {
      setup.fail(fmt::format("aggregate_function must lie in 0 to 3, found {}", aggregate));
    }
    const int64_t transform = setup.integer("post_transform", 0);
    if (transform < 0 || transform > 4) {
      setup.fail(fmt::format("post_transform must lie in 0 to 4, found {}", transform));
    }
    transform_ = static_cast<PostTransform>(transform);
    const int64_t targets = setup.integer("n_targets", 1);
    if (targets < 1) setup.fail(fmt::format("n_targets must be 1 or more, found {}", targets));
    setup.set_output(0, x_.type, {static_cast<int64_t>(x_.rows), targets});
    ensemble_ = std::make_shared<TreeEnsemble>(setup.where(), read_source(setup, static_cast<size_t>(targets)),
                                               x_.width, static_cast<size_t>(targets),
                                               static_cast<TreeAggregate>(aggregate), std::vector<double>());
    scratch_ = setup.checked_bytes(ensemble_->scratch_count(), TreeEnsemble::kScratchSize);
  }

  void forward(const Buffers& values) const override {
    with_real(x_.type, [&]<class T>() {
      T* y = values.out<T>(0);
      ensemble_->for_rows(values.in<T>(0), x_.rows, x_.width, values.scratch,
                          [&](size_t, std::span<double> scores, const uint8_t*) {
                            apply_post_transform(transform_, scores);
                            for (const double score : scores) *y++ = static_cast<T>(score);
                          });
    });
  }
  size_t scratch_bytes() const override { return scratch_; }
  // No way through the trees meets a node twice.
  uint64_t further_steps() const override { return x_.rows * ensemble_->nodes().size() * kSlowSteps; }
  std::shared_ptr<const TreeEnsemble> raw_trees() const override {
    return transform_ == PostTransform::none ? ensemble_ : nullptr;
  }

 private:
  TableInput x_;
  PostTransform transform_ = PostTransform::none;
  std::shared_ptr<const TreeEnsemble> ensemble_;
  size_t scratch_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> make_tree_ensemble(NodeSetup& setup) { return std::make_unique<TreeEnsembleKernel>(setup); }

}  // namespace assay
