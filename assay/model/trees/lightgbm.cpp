#include "assay/model/trees/lightgbm.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/model/trees/lightgbm_parts.h"

namespace assay {
namespace {

class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  bool next(std::string_view& line) {
    if (rest_.empty()) return false;
    const size_t end = rest_.find('\n');
    line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return true;
  }

 private:
  std::string_view rest_;
};

struct Objective {
  std::string_view name;
  BoosterLink link = BoosterLink::none;
  bool classification = false;
  bool many_classes = false;
  bool only_scores = false;
};
constexpr auto kObjectives = [] {
  using enum BoosterLink;
  return std::array<Objective, 16>{{{"regression", none},
                                    {"regression_l1", none},
                                    {"huber", none},
                                    {"fair", none},
                                    {"quantile", none, false, false, true},
                                    {"mape", none},
                                    {"poisson", exponential},
                                    {"gamma", exponential},
                                    {"tweedie", exponential},
                                    {"binary", sigmoid, true},
                                    {"multiclass", softmax, true, true},
                                    {"multiclassova", sigmoid, true, true},
                                    {"cross_entropy", sigmoid},
                                    {"cross_entropy_lambda", softplus},
                                    {"lambdarank", none, false, false, true},
                                    {"rank_xendcg", none, false, false, true}}};
}();

// What the head says of all trees.
struct Head {
  LightgbmSection section;
  bool average = false;
  double slope = 1;  // of the sigmoid
};

// Words after the name of the objective: "sqrt", "sigmoid:2", "num_class:3"; others change no prediction.
void read_objective_word(std::string_view word, Head& head, Booster& booster) {
  const std::string where = head.section.where("objective");
  if (word == "sqrt" && booster.link == BoosterLink::none) {
    booster.link = BoosterLink::signed_square;
  } else if (word.starts_with("sigmoid:") && booster.classification) {
    if (!parse_lightgbm_number(word.substr(8), head.slope) || !(head.slope > 0) || !std::isfinite(head.slope)) {
      fail_input(where, "sigmoid:, a number above 0", in_quotes(word));
    }
  } else if (word.starts_with("num_class:")) {
    int64_t classes = 0;
    if (!parse_lightgbm_number(word.substr(10), classes) || classes != static_cast<int64_t>(booster.targets)) {
      fail_input(where, fmt::format("num_class:{} as num_tree_per_iteration says", booster.targets), in_quotes(word));
    }
  }
}

void read_objective(Head& head, Booster& booster) {
  const std::string where = head.section.where("objective");
  const std::string_view text = head.section.has("objective") ? head.section.text("objective") : "";
  const std::string_view name = text.substr(0, text.find(' '));
  if (name.empty() || name == "custom" || name == "none") {
    add_lightgbm_note(booster, "The model was trained with an objective of its user's: predictions are raw scores.");
    booster.only_scores = true;
    return;
  }
  const Objective* found = nullptr;
  std::vector<std::string> names;
  for (const Objective& known : kObjectives) {
    if (known.name == name) found = &known;
    names.emplace_back(known.name);
  }
  if (found == nullptr) {
    fail_input(where, fmt::format("one of {}{}", joined(names, "or"), suggestion(name, names)), in_quotes(name));
  }
  if (found->many_classes != (booster.targets > 1)) {
    fail_input(head.section.where("num_tree_per_iteration"),
               fmt::format("{} for the objective {}", found->many_classes ? "2 or more" : "1", name),
               fmt::format("{}", booster.targets));
  }
  booster.link = found->link;
  booster.classification = found->classification;
  booster.only_scores = found->only_scores;
  for_lightgbm_words(text.substr(name.size()),
                     [&](std::string_view word) { read_objective_word(word, head, booster); });
  if (head.slope != 1) {
    add_lightgbm_note(booster,
                      fmt::format("Raw scores are {} times those of LightGBM, the slope of its sigmoid, so that "
                                  "they are log odds.",
                                  head.slope));
  }
}

void read_features(const LightgbmSection& head, Booster& booster) {
  booster.features = static_cast<size_t>(head.whole("max_feature_idx", 0, kMostFeatures - 1)) + 1;
  bool own = false;
  for_lightgbm_words(head.text("feature_names"), [&](std::string_view word) {
    if (!valid_utf8(word)) fail_input(head.where("feature_names"), "UTF-8", in_quotes(word));
    own = own || word != fmt::format("Column_{}", booster.feature_names.size());
    booster.feature_names.emplace_back(word);
  });
  if (booster.feature_names.size() != booster.features) {
    fail_input(head.where("feature_names"),
               fmt::format("{} names as max_feature_idx={} says", booster.features, booster.features - 1),
               fmt::format("{}", booster.feature_names.size()));
  }
  // What LightGBM writes where there were none.
  if (!own) booster.feature_names.clear();
}

void read_head(Lines& lines, std::string_view& line, std::string_view name, Head& head, Booster& booster) {
  head.section = LightgbmSection(std::string(name));
  while (lines.next(line) && !line.starts_with("Tree=") && line != "end of trees") {
    if (line == "average_output") {
      head.average = true;
    } else if (!line.empty()) {
      head.section.add_line(line);
    }
  }
  const std::string_view version = head.section.text("version");
  if (version != "v3" && version != "v4") {
    fail_input(head.section.where("version"), "v3 or v4, which LightGBM 3 and 4 write", in_quotes(version));
  }
  // The number of trees bounds it once they are counted.
  booster.targets = static_cast<size_t>(head.section.whole("num_tree_per_iteration", 1, kMostFeatures));
  read_features(head.section, booster);
  read_objective(head, booster);
}

// All trees; returns their number. line: the one that ended the head.
size_t read_trees(Lines& lines, std::string_view line, std::string_view name, Booster& booster,
                  const Context& context) {
  size_t count = 0;
  LightgbmSection tree;
  const auto finish = [&] {
    if (count > 0) add_lightgbm_tree(tree, count - 1, booster);
  };
  bool inside = line.starts_with("Tree=") || line == "end of trees";
  for (; inside && line != "end of trees"; inside = lines.next(line)) {
    if (!line.starts_with("Tree=")) {
      if (!line.empty()) tree.add_line(line);
      continue;
    }
    context.check_cancelled();
    finish();
    int64_t number = -1;
    if (!parse_lightgbm_number(line.substr(5), number) || number != static_cast<int64_t>(count)) {
      fail_input(name, fmt::format("a line Tree={}", count), in_quotes(line));
    }
    tree = LightgbmSection(fmt::format("{}: tree {}", name, number));
    count++;
  }
  if (!inside) fail_input(name, "a line 'end of trees'", "the end of the file");
  finish();
  if (count == 0) fail_input(name, "at least one tree", "none");
  if (count % booster.targets != 0) {
    fail_input(name, fmt::format("a multiple of num_tree_per_iteration={} trees", booster.targets),
               fmt::format("{}", count));
  }
  return count;
}

}  // namespace

void add_lightgbm_note(Booster& booster, std::string_view sentence) {
  if (!booster.note.empty()) booster.note += ' ';
  booster.note += sentence;
}

bool looks_like_lightgbm(std::string_view bytes) {
  return bytes.starts_with("tree\n") || bytes.starts_with("tree\r\n");
}

Booster read_lightgbm(std::string_view name, std::string_view bytes, const Context& context) {
  Lines lines(bytes);
  std::string_view line;
  if (!lines.next(line) || line != "tree") fail_input(name, "'tree' as the first line", in_quotes(line));
  Booster booster;
  booster.producer = "LightGBM";
  booster.compares_doubles = true;
  Head head;
  read_head(lines, line, name, head, booster);
  const size_t trees = read_trees(lines, line, name, booster, context);
  double scale = head.slope;
  if (head.average) {
    const size_t rounds = trees / booster.targets;
    scale /= static_cast<double>(rounds);
    add_lightgbm_note(booster, "Raw scores are the means of the trees, where LightGBM's are their sums.");
  }
  for (TreeWeight& weight : booster.source.weights) weight.value *= scale;
  // Of what follows the trees, the texts of categories; the last ones count where a file was added to.
  std::string_view listed, frame;
  constexpr std::string_view kListed = "[categorical_feature: ";
  constexpr std::string_view kFrame = "pandas_categorical:";
  while (lines.next(line)) {
    if (line.starts_with(kListed) && line.ends_with(']')) {
      listed = line.substr(kListed.size(), line.size() - kListed.size() - 1);
    } else if (line.starts_with(kFrame)) {
      frame = line.substr(kFrame.size());
    }
  }
  const std::string_view infos = head.section.has("feature_infos") ? head.section.text("feature_infos") : "";
  add_lightgbm_categories(name, infos, listed, frame, booster);
  return booster;
}

}  // namespace assay
