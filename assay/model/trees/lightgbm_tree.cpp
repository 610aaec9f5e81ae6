#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/model/trees/lightgbm_parts.h"

namespace assay {
namespace {

// Whether a number is all of the text.
template <class T>
bool fills_text(std::string_view text, T& value) {
  T parsed = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, parsed);
  if (text.empty() || stop != end || error != std::errc()) return false;
  value = parsed;
  return true;
}

constexpr int64_t kMostInt32 = std::numeric_limits<int32_t>::max();

// The bits of decision_type.
constexpr int64_t kCategorical = 1;
constexpr int64_t kDefaultLeft = 2;
constexpr int64_t kMissingShift = 2;
enum MissingType : int64_t { kMissingNone = 0, kMissingZero = 1, kMissingNan = 2 };

// The categories that go left, one set for each categorical split. Bit b of word w stands for category 32 w + b.
void add_sets(const LightgbmSection& tree, size_t count, TreeSource& source) {
  const std::vector<int64_t> bounds = tree.wholes("cat_boundaries", count + 1);
  for (size_t i = 0; i < bounds.size(); i++) {
    const int64_t least = i == 0 ? 0 : bounds[i - 1];
    if (bounds[i] < least || (i == 0 && bounds[i] != 0)) {
      fail_input(tree.where("cat_boundaries"), "numbers that start at 0 and never fall",
                 fmt::format("{} at position {}", bounds[i], i));
    }
  }
  const std::vector<int64_t> words = tree.wholes("cat_threshold", static_cast<size_t>(bounds.back()));
  for (size_t i = 0; i < count; i++) {
    std::vector<double>& set = source.sets.emplace_back();
    for (int64_t w = bounds[i]; w < bounds[i + 1]; w++) {
      const int64_t word = words[static_cast<size_t>(w)];
      if (word < 0 || word > std::numeric_limits<uint32_t>::max()) {
        fail_input(tree.where("cat_threshold"), "numbers of 32 bits", fmt::format("{}", word));
      }
      for (int64_t bit = 0; bit < 32; bit++) {
        if ((word >> bit & 1) != 0) set.push_back(static_cast<double>(32 * (w - bounds[i]) + bit));
      }
    }
  }
}

// How a branch treats its feature. first_set: of the sets of this tree, of which there are `sets`.
void set_decision(const LightgbmSection& tree, int64_t type, size_t first_set, size_t sets, TreeSource::Node& node) {
  const int64_t missing = type >> kMissingShift;
  if (type < 0 || missing > kMissingNan) {
    fail_input(tree.where("decision_type"), "numbers from 0 to 11", fmt::format("{}", type));
  }
  if ((type & kCategorical) != 0) {
    // Missing values are in no set, whatever the missing type.
    const double set = node.threshold;
    if (!(set >= 0 && set < static_cast<double>(sets) && set == std::trunc(set))) {
      fail_input(tree.where("threshold"), fmt::format("numbers below num_cat = {} in categorical splits", sets),
                 fmt::format("{}", set));
    }
    node.mode = TreeMode::member_whole;
    node.threshold = static_cast<double>(first_set) + set;
    return;
  }
  const bool default_left = (type & kDefaultLeft) != 0;
  node.mode = missing == kMissingZero ? TreeMode::less_equal_or_zero : TreeMode::less_equal;
  // Without a missing type LightGBM takes 0 for a missing value.
  node.missing_goes_true = missing == kMissingNone ? 0 <= node.threshold : default_left;
}

// The branches of a tree with more than one leaf, which will stand after them.
void add_branches(const LightgbmSection& tree, size_t number, size_t leaves, Booster& booster) {
  TreeSource& source = booster.source;
  const size_t root = source.nodes.size();
  const size_t branches = leaves - 1;
  const auto sets = static_cast<size_t>(tree.whole("num_cat", 0, kMostInt32));
  const size_t first_set = source.sets.size();
  if (sets > 0) add_sets(tree, sets, source);
  const std::vector<int64_t> features = tree.wholes("split_feature", branches);
  const std::vector<double> thresholds = tree.reals("threshold", branches);
  const std::vector<int64_t> types = tree.wholes("decision_type", branches);
  const std::vector<int64_t> lefts = tree.wholes("left_child", branches);
  const std::vector<int64_t> rights = tree.wholes("right_child", branches);
  std::vector<double> counts;
  if (tree.has("internal_count")) counts = tree.reals("internal_count", branches);
  std::vector<uint8_t> taken(branches + leaves, 0);
  taken[0] = 1;
  // Branches stand before leaves; a negative child is the leaf ~child.
  const auto child = [&](std::string_view key, int64_t to) {
    const bool is_leaf = to < 0;
    const auto at = static_cast<uint64_t>(is_leaf ? ~to : to);
    if (at >= (is_leaf ? leaves : branches)) {
      fail_input(tree.where(key), fmt::format("numbers from -{} to {}", leaves, branches - 1), fmt::format("{}", to));
    }
    const size_t position = is_leaf ? branches + at : at;
    if (taken[position]++ != 0) {
      fail_input(tree.where(key), "every node below one other",
                 fmt::format("{} {} again", is_leaf ? "leaf" : "node", at));
    }
    return root + position;
  };
  for (size_t i = 0; i < branches; i++) {
    if (features[i] < 0 || static_cast<uint64_t>(features[i]) >= booster.features) {
      fail_input(tree.where("split_feature"), fmt::format("numbers from 0 to {}", booster.features - 1),
                 fmt::format("{}", features[i]));
    }
    TreeSource::Node node;
    node.feature = features[i];
    node.threshold = thresholds[i];
    set_decision(tree, types[i], first_set, sets, node);
    if (std::isnan(node.threshold)) fail_input(tree.where("threshold"), "numbers", "nan");
    if (node.mode == TreeMode::member_whole) booster.categories[static_cast<size_t>(features[i])];
    node.true_child = child("left_child", lefts[i]);
    node.false_child = child("right_child", rights[i]);
    if (!counts.empty()) node.cover = counts[i];
    node.tree = static_cast<int64_t>(number);
    node.id = static_cast<int64_t>(i);
    source.nodes.push_back(node);
  }
}

}  // namespace

bool parse_lightgbm_number(std::string_view text, double& value) { return fills_text(text, value); }
bool parse_lightgbm_number(std::string_view text, int64_t& value) { return fills_text(text, value); }

void LightgbmSection::add_line(std::string_view line) {
  const size_t equals = line.find('=');
  const std::string_view key = line.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? "" : line.substr(equals + 1);
  if (!values_.emplace(key, value).second) {
    fail_input(fmt::format("{}: {} is there twice", where_, in_quotes(key)));
  }
}

std::string LightgbmSection::where(std::string_view key) const { return fmt::format("{}, {}", where_, key); }

std::string_view LightgbmSection::text(std::string_view key) const {
  const auto found = values_.find(key);
  if (found == values_.end()) fail_input(where_, fmt::format("a line {}=...", key), "none");
  return found->second;
}

int64_t LightgbmSection::whole(std::string_view key, int64_t least, int64_t most) const {
  int64_t value = 0;
  if (!parse_lightgbm_number(text(key), value) || value < least || value > most) {
    fail_input(where(key), fmt::format("a whole number from {} to {}", least, most), in_quotes(text(key)));
  }
  return value;
}

template <class T>
std::vector<T> LightgbmSection::numbers(std::string_view key, size_t count, std::string_view kind) const {
  std::vector<T> made;
  size_t found = 0;
  for_lightgbm_words(text(key), [&](std::string_view word) {
    if (++found > count) return;
    T value = 0;
    if (!parse_lightgbm_number(word, value)) fail_input(where(key), kind, in_quotes(word));
    made.push_back(value);
  });
  if (found != count) {
    fail_input(where(key), fmt::format("{} number{}", count, count == 1 ? "" : "s"), fmt::format("{}", found));
  }
  return made;
}

std::vector<double> LightgbmSection::reals(std::string_view key, size_t count) const {
  return numbers<double>(key, count, "numbers");
}
std::vector<int64_t> LightgbmSection::wholes(std::string_view key, size_t count) const {
  return numbers<int64_t>(key, count, "whole numbers");
}

void add_lightgbm_tree(const LightgbmSection& tree, size_t number, Booster& booster) {
  if (tree.has("is_linear") && tree.whole("is_linear", 0, 1) != 0) {
    fail_input(tree.where("is_linear"), "0, constant leaves", "1, leaves with linear models, which cannot be read");
  }
  const auto leaves = static_cast<size_t>(tree.whole("num_leaves", 1, kMostInt32));
  const size_t branches = leaves - 1;
  const std::vector<double> values = tree.reals("leaf_value", leaves);
  for (const double value : values) {
    if (!std::isfinite(value)) fail_input(tree.where("leaf_value"), "finite numbers", fmt::format("{}", value));
  }
  TreeSource& source = booster.source;
  source.roots.push_back(source.nodes.size());
  if (branches > 0) add_branches(tree, number, leaves, booster);
  std::vector<double> counts;
  if (tree.has("leaf_count") && !tree.text("leaf_count").empty()) counts = tree.reals("leaf_count", leaves);
  for (size_t i = 0; i < leaves; i++) {
    TreeSource::Node node;
    node.first_weight = source.weights.size();
    node.weight_count = 1;
    // All rows come to the only leaf, of which some files have no count.
    if (branches == 0) node.cover = 1;
    if (!counts.empty()) node.cover = counts[i];
    node.tree = static_cast<int64_t>(number);
    node.id = static_cast<int64_t>(branches + i);
    source.nodes.push_back(node);
    source.weights.push_back({static_cast<uint32_t>(number % booster.targets), values[i]});
  }
}

}  // namespace assay
