// Parts of the reader of XGBoost's files, for xgboost*.cpp alone.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/model/trees/booster.h"
#include "assay/model/trees/flat_document.h"

namespace assay {

// A field of an object. An input error that starts with `where` if it is missing or of another kind.
FlatDocument::Value xgboost_object(std::string_view where, FlatDocument::Value object, std::string_view key);
std::string_view xgboost_text(std::string_view where, FlatDocument::Value object, std::string_view key);
std::span<const double> xgboost_numbers(std::string_view where, FlatDocument::Value object, std::string_view key);
std::vector<FlatDocument::Value> xgboost_list(std::string_view where, FlatDocument::Value object, std::string_view key);
// A whole number from 0 to most that stands as a text, as XGBoost writes parameters, or as a number; `otherwise` when
// the field is missing.
size_t xgboost_count(std::string_view where, FlatDocument::Value object, std::string_view key, size_t otherwise,
                     size_t most);

// What an objective makes of raw scores.
struct XgboostObjective {
  enum class Base { score, logit, logarithm };  // how base_score becomes a raw score

  BoosterLink link = BoosterLink::none;
  bool classification = false;
  Base base = Base::score;
  std::string note;
  bool only_scores = false;  // see Booster
};
XgboostObjective xgboost_objective(std::string_view name);
// The raw scores that a parameter base_score stands for, one for each target.
std::vector<double> xgboost_base(std::string_view where, FlatDocument::Value parameters, XgboostObjective::Base kind,
                                 size_t targets);

// Fills booster.categories: the features of type "c", and the texts that files have since XGBoost 3.1. Returns the
// numbers of features whose texts are there but cannot be read for sure: "2, 5".
std::string read_xgboost_categories(std::string_view where, FlatDocument::Value model,
                                    std::span<const std::string> types, Booster& booster);

// Adds a tree of `model` to a booster whose targets are known. share: what its leaf weights are multiplied by.
void add_xgboost_tree(std::string_view where, FlatDocument::Value tree, size_t number, size_t target, double share,
                      Booster& booster);

}  // namespace assay
