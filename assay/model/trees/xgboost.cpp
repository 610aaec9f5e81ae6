#include "assay/model/trees/xgboost.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <set>

#include "assay/core/error.h"
#include "assay/model/trees/xgboost_parts.h"

namespace assay {
namespace {

using Kind = FlatDocument::Kind;
using Value = FlatDocument::Value;

constexpr size_t kMostTargets = size_t{1} << 16;
constexpr std::string_view kOldBinary = "binf";

std::string_view without_space(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
}

// Booster.dump_model's format: an array of trees.
bool looks_like_dump(std::string_view bytes) {
  bytes = without_space(bytes);
  if (!bytes.starts_with('[')) return false;
  bytes = without_space(bytes.substr(1));
  if (!bytes.starts_with('{')) return false;
  return without_space(bytes.substr(1)).starts_with("\"nodeid\"");
}

// An object of UBJSON goes on with the type of a key's length or of its own; none of these follow '{' in JSON.
bool is_ubjson(std::string_view bytes) {
  return bytes.size() > 1 && bytes[0] == '{' && std::string_view("iUIlL#$").find(bytes[1]) != std::string_view::npos;
}

Value field(std::string_view where, Value object, std::string_view key, Kind kind, std::string_view words) {
  const Value value = object[key];
  if (value.kind() != kind) fail_input(where, fmt::format("{} to be {}", key, words), value.kind_words());
  return value;
}

std::vector<std::string> texts_of(std::string_view where, Value object, std::string_view key) {
  std::vector<std::string> texts;
  if (!object[key].exists()) return texts;
  for (const Value item : xgboost_list(where, object, key)) {
    if (item.kind() != Kind::text || !valid_utf8(item.text())) {
      fail_input(where, fmt::format("{} to be texts in UTF-8", key),
                 item.kind() == Kind::text ? in_quotes(item.text()) : std::string(item.kind_words()));
    }
    texts.emplace_back(item.text());
  }
  return texts;
}

std::string producer_of(Value document) {
  std::string version;
  for (const double part :
       document["version"].numbers().first(std::min<size_t>(3, document["version"].numbers().size()))) {
    if (!(part >= 0 && part <= 9999 && part == std::floor(part))) return "XGBoost";
    version += fmt::format("{}{}", version.empty() ? " " : ".", part);
  }
  return fmt::format("XGBoost{}", version);
}

class LearnerReader {
 public:
  LearnerReader(std::string_view name, Value document, const Context& context)
      : name_(name),
        context_(context),
        learner_(xgboost_object(name, document, "learner")),
        parameters_(xgboost_object(name, learner_, "learner_model_param")) {
    booster_.producer = producer_of(document);
  }

  Booster read() {
    booster_.features = xgboost_count(name_, parameters_, "num_feature", 0, kMostFeatures);
    if (booster_.features == 0) fail_input(name_, "num_feature to be at least 1", "0");
    read_objective();
    booster_.feature_names = texts_of(name_, learner_, "feature_names");
    check_names();
    read_trees();
    return std::move(booster_);
  }

 private:
  void add_note(std::string_view note) {
    if (!booster_.note.empty() && !note.empty()) booster_.note += "; ";
    booster_.note += note;
  }

  void read_objective() {
    const std::string_view name = xgboost_text(name_, xgboost_object(name_, learner_, "objective"), "name");
    const XgboostObjective objective = xgboost_objective(name);
    const size_t classes = xgboost_count(name_, parameters_, "num_class", 0, kMostTargets);
    const size_t targets = xgboost_count(name_, parameters_, "num_target", 1, kMostTargets);
    if (classes > 1 && targets > 1) {
      fail_input(name_, "num_class or num_target above 1", fmt::format("{} and {}", classes, targets));
    }
    booster_.targets = std::max({classes, targets, size_t{1}});
    booster_.link = objective.link;
    booster_.classification = objective.classification;
    add_note(objective.note);
    booster_.only_scores = objective.only_scores;
    if (objective.link == BoosterLink::softmax && classes < 2) {
      fail_input(name_, fmt::format("num_class above 1 for objective {}", name), fmt::format("{}", classes));
    }
    if (objective.classification && objective.link == BoosterLink::sigmoid && booster_.targets > 1) {
      // Not one choice among classes.
      booster_.classification = false;
      add_note("every target is the probability of a label of its own");
    }
    booster_.base = xgboost_base(name_, parameters_, objective.base, booster_.targets);
  }

  void check_names() const {
    const auto& names = booster_.feature_names;
    if (!names.empty() && names.size() != booster_.features) {
      fail_input(name_, fmt::format("feature_names of {} features", booster_.features),
                 fmt::format("{}", names.size()));
    }
    std::set<std::string_view> seen;
    for (const std::string& name : names) {
      if (!seen.insert(name).second)
        fail_input(name_, "feature_names to differ", fmt::format("{} twice", in_quotes(name)));
    }
  }

  void read_trees() {
    Value gradient_booster = xgboost_object(name_, learner_, "gradient_booster");
    const std::string_view kind = xgboost_text(name_, gradient_booster, "name");
    std::span<const double> shares;
    if (kind == "dart") {
      shares = xgboost_numbers(name_, gradient_booster, "weight_drop");
      gradient_booster = xgboost_object(name_, gradient_booster, "gbtree");
    } else if (kind == "gblinear") {
      fail_input(name_, "a booster of trees (gbtree or dart)",
                 "gblinear, a linear model; its weights are in the file and need no explanation by trees");
    } else if (kind != "gbtree") {
      fail_input(name_, "a booster of trees (gbtree or dart)", in_quotes(kind));
    }
    const Value model = xgboost_object(name_, gradient_booster, "model");
    // From version 3.4 on, boosters with dropped trees are called gbtree, and have the shares of trees here.
    if (kind == "gbtree" && model["weight_drop"].exists()) shares = xgboost_numbers(name_, model, "weight_drop");
    const auto types = texts_of(name_, learner_, "feature_types");
    if (!types.empty() && types.size() != booster_.features) {
      fail_input(name_, fmt::format("feature_types of {} features", booster_.features),
                 fmt::format("{}", types.size()));
    }
    const std::string unsure = read_xgboost_categories(name_, model, types, booster_);
    if (!unsure.empty()) {
      add_note(
          fmt::format("categories of features {} are known by their codes alone: their texts go beyond ASCII or 2^53, "
                      "where XGBoost's files are not to be trusted",
                      unsure));
    }
    add_trees(model, kind == "dart" || !shares.empty(), shares);
    note_best_iteration(model);
  }

  void add_trees(Value model, bool has_shares, std::span<const double> shares) {
    const auto trees = xgboost_list(name_, model, "trees");
    const auto groups = xgboost_numbers(name_, model, "tree_info");
    const size_t told = xgboost_count(name_, model["gbtree_model_param"], "num_trees", trees.size(), size_t{1} << 31);
    if (told != trees.size()) {
      fail_input(name_, fmt::format("{} trees as num_trees says", told), fmt::format("{}", trees.size()));
    }
    const auto check_count = [&](std::string_view key, size_t count) {
      if (count != trees.size()) {
        fail_input(name_, fmt::format("{} of {} trees", key, trees.size()), fmt::format("{}", count));
      }
    };
    check_count("tree_info", groups.size());
    if (has_shares) check_count("weight_drop", shares.size());
    for (size_t k = 0; k < trees.size(); k++) {
      context_.check_cancelled();
      if (!(groups[k] >= 0 && groups[k] < static_cast<double>(booster_.targets) &&
            groups[k] == std::floor(groups[k]))) {
        fail_input(name_, fmt::format("tree_info[{}] to be a target below {}", k, booster_.targets),
                   fmt::format("{}", groups[k]));
      }
      const double share = has_shares ? static_cast<double>(static_cast<float>(shares[k])) : 1;
      if (!std::isfinite(share)) fail_input(name_, fmt::format("weight_drop[{}] to be a finite number", k), "another");
      add_xgboost_tree(name_, trees[k], k, static_cast<size_t>(groups[k]), share, booster_);
    }
    // Files from before feature_types was kept: the splits tell.
    for (const TreeSource::Node& node : booster_.source.nodes) {
      const bool is_feature = node.feature >= 0 && static_cast<uint64_t>(node.feature) < booster_.features;
      if (node.mode == TreeMode::member_whole && is_feature) booster_.categories[static_cast<size_t>(node.feature)];
    }
  }

  void note_best_iteration(Value model) {
    const std::string_view best = learner_["attributes"]["best_iteration"].text();
    size_t iteration = 0;
    const auto [stop, error] = std::from_chars(best.data(), best.data() + best.size(), iteration);
    const size_t bounds = model["iteration_indptr"].numbers().size();
    const size_t parallel = xgboost_count(name_, model["gbtree_model_param"], "num_parallel_tree", 1, size_t{1} << 31);
    const size_t rounds =
        bounds > 1 ? bounds - 1 : booster_.source.roots.size() / std::max<size_t>(parallel, 1) / booster_.targets;
    if (best.empty() || error != std::errc() || stop != best.data() + best.size() || iteration + 1 >= rounds) return;
    add_note(fmt::format("the file's best_iteration is {}; like Booster.predict, all {} rounds are used", iteration,
                         rounds));
    booster_.caution = fmt::format(
        "all {} rounds are used, as Booster.predict does; XGBClassifier and XGBRegressor stop at the file's "
        "best_iteration, {}, and predict otherwise",
        rounds, iteration);
  }

  std::string_view name_;
  const Context& context_;
  Value learner_;
  Value parameters_;
  Booster booster_;
};

}  // namespace

Value xgboost_object(std::string_view where, Value object, std::string_view key) {
  return field(where, object, key, Kind::object, "an object");
}

std::string_view xgboost_text(std::string_view where, Value object, std::string_view key) {
  return field(where, object, key, Kind::text, "a text").text();
}

std::span<const double> xgboost_numbers(std::string_view where, Value object, std::string_view key) {
  const Value value = object[key];
  if (value.kind() == Kind::list && value.items().empty()) return {};
  return field(where, object, key, Kind::numbers, "an array of numbers").numbers();
}

std::vector<Value> xgboost_list(std::string_view where, Value object, std::string_view key) {
  return field(where, object, key, Kind::list, "an array without numbers").items();
}

size_t xgboost_count(std::string_view where, Value object, std::string_view key, size_t otherwise, size_t most) {
  const Value value = object[key];
  if (!value.exists()) return otherwise;
  const std::string_view text = value.text();
  double count = value.number();
  if (value.kind() == Kind::text) {
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc() || stop != text.data() + text.size()) count = -1;
  }
  if (!(count >= 0 && count <= static_cast<double>(most) && count == std::floor(count))) {
    const std::string found = value.kind() == Kind::text     ? in_quotes(text)
                              : value.kind() == Kind::number ? fmt::format("{}", count)
                                                             : std::string(value.kind_words());
    fail_input(where, fmt::format("{} to be a whole number from 0 to {}", key, most), found);
  }
  return static_cast<size_t>(count);
}

bool looks_like_xgboost(std::string_view bytes) {
  if (bytes.starts_with(kOldBinary) || looks_like_dump(bytes)) return true;
  const auto has_key = [](std::string_view text) { return text.starts_with("learner") || text.starts_with("version"); };
  const std::string_view text = without_space(bytes);
  if (!text.starts_with('{')) return false;
  if (const std::string_view json = without_space(text.substr(1)); json.starts_with('"'))
    return has_key(json.substr(1));
  // Nothing may stand before UBJSON.
  if (!bytes.starts_with('{')) return false;
  bytes.remove_prefix(1);
  // UBJSON: the type of the length of the first key, and that length.
  const size_t length = bytes.empty() ? 0 : std::string_view("iUIlL").find(bytes[0]);
  constexpr size_t kSizes[] = {1, 1, 2, 4, 8};
  return !bytes.empty() && length < 5 && bytes.size() > kSizes[length] && bytes[kSizes[length]] == 7 &&
         has_key(bytes.substr(1 + kSizes[length]));
}

Booster read_xgboost(std::string_view name, std::string_view bytes, const Context& context) {
  if (bytes.starts_with(kOldBinary)) {
    fail_input(name, "XGBoost's JSON or UBJSON",
               "its old binary format; load it with an XGBoost before 3.1 and save it as .json");
  }
  if (looks_like_dump(bytes)) {
    fail_input(name, "what Booster.save_model writes",
               "a dump of the trees (Booster.dump_model), which lacks what turns them into predictions");
  }
  const FlatDocument document =
      is_ubjson(bytes) ? parse_flat_ubjson(name, bytes, context) : parse_flat_json(name, bytes, context);
  if (document.root().kind() != Kind::object) fail_input(name, "an object", document.root().kind_words());
  return LearnerReader(name, document.root(), context).read();
}

}  // namespace assay
