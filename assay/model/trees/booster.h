// A model of trees as the file of its library describes it, and as a graph that the engine runs.
//
// Readers (xgboost.h, lightgbm.h) and the Python package fill a Booster; everything after sees a graph like any other:
// one node of trees (domain "assay", operator Trees), then the link.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "assay/model/graph/onnx.h"
#include "assay/model/trees/ensemble.h"

namespace assay {

// The most features a row may have. Files set the number, and memory depends on it.
inline constexpr int64_t kMostFeatures = int64_t{1} << 21;

// How raw scores become the predictions of the library.
enum class BoosterLink {
  none,           // scores are predictions: regressions, rankings
  exponential,    // exp(score): counts, amounts, hazards
  signed_square,  // sign(score) * score^2
  softplus,       // ln(1 + exp(score))
  sigmoid,        // 1 / (1 + exp(-score)), each score for itself
  softmax,        // over all scores
};

struct Booster {
  std::string producer;                    // with its version where the file tells it, as in "XGBoost 2.1.1"
  size_t features = 0;                     // at least 1
  std::vector<std::string> feature_names;  // empty where the file has none of its own
  // Categorical features by their number. Code k stands for the k-th text; no texts: the file knows codes alone.
  std::map<size_t, std::vector<std::string>> categories;
  // True: probabilities are the sigmoid or softmax of the scores, or with link none the scores themselves, which then
  // sum to 1. A single target is the second of two classes. False: a regression, whatever the link.
  bool classification = false;
  std::vector<std::string> class_names;  // empty: numbered from 0
  BoosterLink link = BoosterLink::none;
  size_t targets = 1;
  TreeAggregate aggregate = TreeAggregate::sum;
  std::vector<double> base;  // one for each target, in raw scores; or empty
  TreeSource source;         // not checked yet: children and weights may lead anywhere
  // Whether the library compares doubles; others narrow cells to float32 first, as the engine does.
  bool compares_doubles = false;
  std::string note;          // what users should know about the raw scores; may be empty
  std::string caution = {};  // ModelInfo::caution
  // Whether the scores only say an order (ranking, hinge, hazards), a quantile, or something of the user's own: then
  // they are no predictions of a label that it could be judged by.
  bool only_scores = false;
};

// The booster as a graph. An input error that starts with `name` if its parts contradict each other.
OnnxModel booster_graph(std::string_view name, const Booster& booster);

// The names of metadata that it writes beside those of engine_model.h.
inline constexpr std::string_view kCategoriesKey = "assay.categories";  // JSON: {"feature number": ["text", ...], ...}
inline constexpr std::string_view kMarginKey = "assay.margin";          // the value to explain of a regression
inline constexpr std::string_view kNoteKey = "assay.note";
inline constexpr std::string_view kCautionKey = "assay.caution";
inline constexpr std::string_view kOnlyScoresKey = "assay.only_scores";    // "1", or left out; see Booster
inline constexpr std::string_view kDoublesKey = "assay.compares_doubles";  // "1", or left out; see Booster

// Whether tables for this model must be read with their doubles (TableOptions::doubles).
bool compares_doubles(const OnnxModel& model);

}  // namespace assay
