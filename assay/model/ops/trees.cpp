// Trees (domain "assay"): the raw scores of an ensemble (trees/ensemble.h), float32. What boosters of other libraries
// are read into: unlike ONNX's operators it has leaves with several weights, base values, covers, and all modes.
//
// Attributes; those that begin alike have equal lengths: nodes_modes, nodes_features, nodes_thresholds (of member
// modes: the number of a set), nodes_missing_true, nodes_true, nodes_false (positions of children), nodes_first_weight,
// nodes_weight_count, and nodes_covers or none; weight_targets, weight_values; set_lengths, set_members; roots;
// base_values or none; n_targets; aggregate (as TreeEnsemble's).
#include <fmt/format.h>

#include <memory>

#include "assay/model/ops/ensemble_attributes.h"
#include "assay/model/ops/kernel_cost.h"
#include "assay/model/ops/tabular.h"

namespace assay {
namespace {

size_t position(const NodeSetup& setup, std::string_view name, int64_t found, size_t count) {
  if (found >= 0 && static_cast<uint64_t>(found) < count) return static_cast<size_t>(found);
  setup.fail(fmt::format("{} must lie below {}, found {}", name, count, found));
}

void read_sets(const NodeSetup& setup, TreeSource& source) {
  const std::vector<double> members = tensor_reals(setup, "set_members");
  size_t next = 0;
  for (const int64_t length : tensor_wholes(setup, "set_lengths")) {
    if (length < 0 || static_cast<uint64_t>(length) > members.size() - next) {
      setup.fail(fmt::format("a set has {} members, {} are left in set_members", length, members.size() - next));
    }
    const auto begin = members.begin() + static_cast<ptrdiff_t>(next);
    source.sets.emplace_back(begin, begin + length);
    next += static_cast<size_t>(length);
  }
}

void read_weights(const NodeSetup& setup, size_t targets, TreeSource& source) {
  const std::vector<int64_t> of = tensor_wholes(setup, "weight_targets");
  const std::vector<double> values = tensor_reals(setup, "weight_values");
  expect_length(setup, "weight_values", values.size(), of.size());
  for (size_t i = 0; i < of.size(); i++) {
    source.weights.push_back({static_cast<uint32_t>(position(setup, "weight_targets", of[i], targets)), values[i]});
  }
}

void read_nodes(const NodeSetup& setup, TreeSource& source) {
  const std::vector<int64_t> modes = tensor_wholes(setup, "nodes_modes");
  const std::vector<int64_t> features = tensor_wholes(setup, "nodes_features");
  const std::vector<double> thresholds = tensor_reals(setup, "nodes_thresholds");
  const std::vector<int64_t> missing = tensor_wholes(setup, "nodes_missing_true");
  const std::vector<int64_t> true_children = tensor_wholes(setup, "nodes_true");
  const std::vector<int64_t> false_children = tensor_wholes(setup, "nodes_false");
  const std::vector<int64_t> first_weights = tensor_wholes(setup, "nodes_first_weight");
  const std::vector<int64_t> weight_counts = tensor_wholes(setup, "nodes_weight_count");
  const std::vector<double> covers = tensor_reals(setup, "nodes_covers");
  const size_t count = modes.size();
  expect_length(setup, "nodes_features", features.size(), count);
  expect_length(setup, "nodes_thresholds", thresholds.size(), count);
  expect_length(setup, "nodes_missing_true", missing.size(), count);
  expect_length(setup, "nodes_true", true_children.size(), count);
  expect_length(setup, "nodes_false", false_children.size(), count);
  expect_length(setup, "nodes_first_weight", first_weights.size(), count);
  expect_length(setup, "nodes_weight_count", weight_counts.size(), count);
  if (!covers.empty()) expect_length(setup, "nodes_covers", covers.size(), count);
  source.nodes.resize(count);
  for (size_t i = 0; i < count; i++) {
    TreeSource::Node& node = source.nodes[i];
    node.mode = static_cast<TreeMode>(position(setup, "nodes_modes", modes[i], kTreeModes));
    node.id = static_cast<int64_t>(i);
    if (!covers.empty()) node.cover = covers[i];
    if (node.mode == TreeMode::leaf) {
      node.weight_count = position(setup, "nodes_weight_count", weight_counts[i], source.weights.size() + 1);
      node.first_weight =
          position(setup, "nodes_first_weight", first_weights[i], source.weights.size() - node.weight_count + 1);
      continue;
    }
    node.feature = features[i];
    node.threshold = thresholds[i];
    node.missing_goes_true = missing[i] != 0;
    node.true_child = position(setup, "nodes_true", true_children[i], count);
    node.false_child = position(setup, "nodes_false", false_children[i], count);
    if (!has_set(node.mode)) continue;
    // NaN is no number of a set, and is not below any.
    const bool known = thresholds[i] >= 0 && thresholds[i] < static_cast<double>(source.sets.size());
    if (!known) setup.fail(fmt::format("node {} tests set {}, of {}", i, thresholds[i], source.sets.size()));
  }
}

class Trees final : public Kernel, public KernelCost {
 public:
  explicit Trees(NodeSetup& setup) {
    setup.expect_inputs(1, 1);
    setup.expect_outputs(1, 1);
    setup.floating_input(0);
    x_ = table_input(setup, 0);
    const int64_t wanted = setup.integer("n_targets", 1);
    if (wanted < 1) setup.fail(fmt::format("n_targets must be 1 or more, found {}", wanted));
    setup.set_output(0, OnnxElement::float32, {static_cast<int64_t>(x_.rows), wanted});
    const auto targets = static_cast<size_t>(wanted);
    const auto aggregate =
        static_cast<TreeAggregate>(position(setup, "aggregate", setup.integer("aggregate", 1), kTreeAggregates));
    ensemble_ = setup.shared<TreeEnsemble>(x_.width, [&] { return read_trees(setup, targets, aggregate); });
    scratch_ = setup.checked_bytes(ensemble_->scratch_count(), TreeEnsemble::kScratchSize);
  }

  void forward(const Buffers& values) const override {
    float* y = values.out<float>(0);
    with_real(x_.type, [&]<class T>() {
      ensemble_->for_rows(values.in<T>(0), x_.rows, x_.width, values.scratch,
                          [&](size_t, std::span<double> scores, const uint8_t*) {
                            for (const double score : scores) *y++ = static_cast<float>(score);
                          });
    });
  }
  size_t scratch_bytes() const override { return scratch_; }
  // No way through the trees meets a node twice.
  uint64_t further_steps() const override { return x_.rows * ensemble_->nodes().size() * kSlowSteps; }
  std::shared_ptr<const TreeEnsemble> raw_trees() const override { return ensemble_; }

 private:
  std::shared_ptr<const TreeEnsemble> read_trees(const NodeSetup& setup, size_t targets,
                                                 TreeAggregate aggregate) const {
    TreeSource source;
    read_sets(setup, source);
    read_weights(setup, targets, source);
    read_nodes(setup, source);
    for (const int64_t root : tensor_wholes(setup, "roots")) {
      source.roots.push_back(position(setup, "roots", root, source.nodes.size()));
    }
    std::vector<double> base = tensor_reals(setup, "base_values");
    if (!base.empty()) expect_length(setup, "base_values", base.size(), targets);
    return std::make_shared<TreeEnsemble>(setup.where(), source, x_.width, targets, aggregate, std::move(base));
  }

  TableInput x_;
  std::shared_ptr<const TreeEnsemble> ensemble_;
  size_t scratch_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> make_trees(NodeSetup& setup) { return std::make_unique<Trees>(setup); }

}  // namespace assay
