// Criteria of the k strongest players of a row: S = the k players of largest |phi|, ties by index.
//
// A row's score is the mean over the reference rows; it is undefined if the score for one of them is. k is a quarter of
// the players, at least one, unless the user gives it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/options.h"
#include "assay/core/refusal.h"
#include "assay/evaluate/criterion.h"
#include "assay/evaluate/removal/removal.h"

namespace assay {

inline void describe_k(OptionVisitor& visit, std::optional<int64_t>& k) {
  visit.integer_or("k", k, "auto", "strongest players, by |attribution|; auto: a quarter of them, at least 1",
                   "players", 1, 1'000'000'000);
}

// The options of a criterion that has k alone.
struct TopKOptions {
  std::optional<int64_t> k = {};

  void describe(OptionVisitor& visit) { describe_k(visit, k); }
};

// k as given, or max(1, players / 4).
size_t chosen_k(std::optional<int64_t> k, size_t players);
// Refuses a k above the number of players; with `rest`, also a k that leaves no other player.
std::optional<Refusal> refuses_k(std::optional<int64_t> k, size_t players, bool rest = false);
// The same for a criterion whose options have a k.
template <class Options>
std::optional<Refusal> refuses_options_k(const EvaluateTask& task, const Options& options) {
  return refuses_k(options.k, task.explanations.players());
}
// Adds notes: which k was chosen, and in how many of these rows the k-th and the next player are equally strong.
void note_k(const EvaluateTask& task, std::span<const size_t> rows, std::optional<int64_t> k, Scores& scores,
            const Context& context);

// What is asked of the k strongest players.
struct TopKQuestion {
  std::string_view name;  // of the criterion
  bool kept = false;      // true: only these are as in the row; false: only these are at the reference
  ScoredClass which = ScoredClass::predicted;
  ScoreUnit unit = ScoreUnit::log_odds;
  // The score of a changed row; if empty, the class score.
  std::function<double(const Removal& removal, size_t row, std::span<const float> outputs)> made = {};
  // The score of a row for one reference row, from the score of the changed row.
  std::function<double(const Removal& removal, size_t row, size_t reference, double made)> value;
};

void score_top_k(const EvaluateTask& task, const TopKQuestion& question, std::optional<int64_t> k, Scores& scores,
                 const Context& context);

}  // namespace assay
