// _core.Model.from_trees: a model from the arrays of trees that the package found in another library's object.
//
// The arrays are not trusted: lengths are checked here, links between nodes when the trees are built.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/model/graph/onnx.h"
#include "assay/model/trees/booster.h"
#include "python/src/arrays.h"
#include "python/src/checks.h"
#include "python/src/models.h"

namespace nb = nanobind;

namespace assay::python {
namespace {

constexpr std::array<std::pair<std::string_view, TreeAggregate>, kTreeAggregates> kAggregates = {
    {{"average", TreeAggregate::average},
     {"sum", TreeAggregate::sum},
     {"minimum", TreeAggregate::minimum},
     {"maximum", TreeAggregate::maximum}}};
constexpr std::array<std::pair<std::string_view, BoosterLink>, 6> kLinks = {
    {{"none", BoosterLink::none},
     {"exponential", BoosterLink::exponential},
     {"signed_square", BoosterLink::signed_square},
     {"softplus", BoosterLink::softplus},
     {"sigmoid", BoosterLink::sigmoid},
     {"softmax", BoosterLink::softmax}}};

template <class Pairs>
auto named(std::string_view argument, const Pairs& pairs, std::string_view name) {
  std::string known;
  for (const auto& [word, value] : pairs) {
    if (word == name) return value;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", word);
  }
  fail_input(argument, fmt::format("one of {}", known), in_quotes(name));
}

template <class Array>
std::span<const typename Array::Scalar> span_of(const Array& array) {
  return {array.data(), array.size()};
}

int64_t within(std::string_view argument, size_t at, int64_t found, size_t count) {
  if (found >= 0 && static_cast<uint64_t>(found) < count) return found;
  fail_input(fmt::format("{}[{}]: expected a number from 0 to {}, found {}", argument, at,
                         static_cast<int64_t>(count) - 1, found));
}

struct NodeArrays {
  RowVector modes, features;
  DoubleVector thresholds;
  RowVector missing_true, true_child, false_child, first_weight, weight_count;
  DoubleVector covers;  // empty if not known
};

std::vector<TreeSource::Node> nodes_of(const NodeArrays& arrays, size_t weights, size_t sets) {
  const size_t count = arrays.modes.size();
  const auto each_node = [&](std::string_view argument, size_t found) {
    expect_count(argument, "numbers, one for each node", count, found);
  };
  each_node("features", arrays.features.size());
  each_node("thresholds", arrays.thresholds.size());
  each_node("missing_true", arrays.missing_true.size());
  each_node("true_child", arrays.true_child.size());
  each_node("false_child", arrays.false_child.size());
  each_node("first_weight", arrays.first_weight.size());
  each_node("weight_count", arrays.weight_count.size());
  if (arrays.covers.size() != 0) each_node("covers", arrays.covers.size());
  std::vector<TreeSource::Node> nodes(count);
  for (size_t i = 0; i < count; i++) {
    TreeSource::Node& node = nodes[i];
    node.mode = static_cast<TreeMode>(within("modes", i, arrays.modes.data()[i], kTreeModes));
    node.id = static_cast<int64_t>(i);
    if (arrays.covers.size() != 0) node.cover = arrays.covers.data()[i];
    if (node.mode == TreeMode::leaf) {
      node.weight_count = static_cast<size_t>(within("weight_count", i, arrays.weight_count.data()[i], weights + 1));
      node.first_weight = static_cast<size_t>(
          within("first_weight", i, arrays.first_weight.data()[i], weights - node.weight_count + 1));
      continue;
    }
    node.feature = arrays.features.data()[i];
    node.threshold = arrays.thresholds.data()[i];
    node.missing_goes_true = arrays.missing_true.data()[i] != 0;
    node.true_child = static_cast<size_t>(within("true_child", i, arrays.true_child.data()[i], count));
    node.false_child = static_cast<size_t>(within("false_child", i, arrays.false_child.data()[i], count));
    // NaN is in no set, and is not below any threshold.
    const bool known = !has_set(node.mode) || (node.threshold >= 0 && node.threshold < static_cast<double>(sets));
    if (!known) fail_input(fmt::format("thresholds[{}]: expected one of {} sets, found {}", i, sets, node.threshold));
  }
  return nodes;
}

std::vector<TreeWeight> weights_of(const RowVector& targets, const DoubleVector& values, size_t count) {
  expect_count("weight_values", "numbers, one for each of weight_targets", targets.size(), values.size());
  std::vector<TreeWeight> weights;
  for (size_t i = 0; i < targets.size(); i++) {
    const int64_t target = within("weight_targets", i, targets.data()[i], count);
    weights.push_back({static_cast<uint32_t>(target), values.data()[i]});
  }
  return weights;
}

std::vector<std::vector<double>> sets_of(const RowVector& lengths, const DoubleVector& members) {
  std::span<const double> left = span_of(members);
  std::vector<std::vector<double>> sets;
  for (size_t i = 0; i < lengths.size(); i++) {
    const auto length = static_cast<size_t>(within("set_lengths", i, lengths.data()[i], left.size() + 1));
    sets.emplace_back(left.begin(), left.begin() + static_cast<ptrdiff_t>(length));
    left = left.subspan(length);
  }
  if (!left.empty()) fail_input(fmt::format("set_members: expected {} fewer numbers", left.size()));
  return sets;
}

ModelHandle model_from_trees(const std::string& name, RowVector modes, RowVector features, DoubleVector thresholds,
                             RowVector missing_true, RowVector true_child, RowVector false_child,
                             RowVector first_weight, RowVector weight_count, DoubleVector covers,
                             const RowVector& weight_targets, const DoubleVector& weight_values,
                             const RowVector& set_lengths, const DoubleVector& set_members, const RowVector& roots,
                             size_t feature_count, size_t targets, const DoubleVector& base,
                             const std::string& aggregate, const std::string& link, bool classification,
                             std::vector<std::string> class_names, std::vector<std::string> feature_names,
                             std::map<size_t, std::vector<std::string>> categories, std::string producer,
                             std::string note, const std::optional<std::string>& unit, bool compares_doubles) {
  if (targets == 0 || targets > std::numeric_limits<uint32_t>::max()) {
    fail_input(fmt::format("targets: expected a number from 1 to {}, found {}", std::numeric_limits<uint32_t>::max(),
                           targets));
  }
  Booster booster;
  booster.producer = std::move(producer);
  booster.features = feature_count;
  booster.feature_names = std::move(feature_names);
  booster.categories = std::move(categories);
  booster.classification = classification;
  booster.class_names = std::move(class_names);
  booster.link = named("link", kLinks, link);
  booster.targets = targets;
  booster.aggregate = named("aggregate", kAggregates, aggregate);
  booster.base = values_of(base);
  booster.note = std::move(note);
  booster.compares_doubles = compares_doubles;
  booster.source.sets = sets_of(set_lengths, set_members);
  booster.source.weights = weights_of(weight_targets, weight_values, targets);
  const NodeArrays nodes{std::move(modes),        std::move(features),     std::move(thresholds),
                         std::move(missing_true), std::move(true_child),   std::move(false_child),
                         std::move(first_weight), std::move(weight_count), std::move(covers)};
  booster.source.nodes = nodes_of(nodes, booster.source.weights.size(), booster.source.sets.size());
  for (size_t i = 0; i < roots.size(); i++) {
    booster.source.roots.push_back(
        static_cast<size_t>(within("roots", i, roots.data()[i], booster.source.nodes.size())));
  }
  OnnxModel graph = booster_graph(name, booster);
  std::string bytes = serialise_onnx(graph);
  ModelHandle made = graph_model(name, std::move(graph), graph_options(unit, std::nullopt));
  made.bytes = std::make_shared<const std::string>(std::move(bytes));
  return made;
}

}  // namespace

void bind_trees(nb::class_<ModelHandle>& model) {
  model.def_static("from_trees", &model_from_trees, nb::arg("name"), nb::kw_only(), nb::arg("modes"),
                   nb::arg("features"), nb::arg("thresholds"), nb::arg("missing_true"), nb::arg("true_child"),
                   nb::arg("false_child"), nb::arg("first_weight"), nb::arg("weight_count"), nb::arg("covers"),
                   nb::arg("weight_targets"), nb::arg("weight_values"), nb::arg("set_lengths"), nb::arg("set_members"),
                   nb::arg("roots"), nb::arg("feature_count"), nb::arg("targets"), nb::arg("base"),
                   nb::arg("aggregate"), nb::arg("link"), nb::arg("classification"), nb::arg("class_names"),
                   nb::arg("feature_names"), nb::arg("categories"), nb::arg("producer") = "", nb::arg("note") = "",
                   nb::arg("unit") = nb::none(), nb::arg("compares_doubles") = false);
}

}  // namespace assay::python
