// What changed between two studies, before and after: their inputs, what only one of them studies, what the model says
// and what drives it (diff_outputs.h), and the scores that both have, with significance.
//
//   the same rows   Student's t over the pairs of rows where both are defined (entry_comparison in study/assess.h)
//   other rows      Welch's t: (m2 - m1) / sqrt(s1^2 + s2^2), with s the standard errors of the means and
//                   (s1^2 + s2^2)^2 / (s1^4 / (n1 - 1) + s2^4 / (n2 - 1)) degrees of freedom (Welch 1947)
//
// p-values are two-sided and Holm-adjusted over the explanations of a criterion (Holm 1979); below 0.05 is significant.
// If both studies name their rows, the rows are the same when the names are equal, in order. Else they are the same
// when chosen by the same seed from the same data (equal hashes, or one built-in data set). Row numbers are not names.
//
// If the studies explain other units or targets, or have other references, scores that depend on these are not compared
// (CriterionInfo::scale_dependent): they would differ even if nothing became better or worse.
//
// If one of them averages over background rows that were drawn, and the other does not over the same rows, what depends
// on these is not tested: all rows share the draw, so that its effect does not average out over them. Tested by paired
// rows, two studies that differ by the draw alone were "significantly" different in most trials.
//
// Cost: reads the scores/*.json files of the entries that both have, two at a time.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "assay/archive/diff_outputs.h"
#include "assay/archive/study_folder.h"
#include "assay/core/context.h"
#include "assay/study/assess.h"

namespace assay {

// An input or setting that differs. before, after: its values; empty if that study has none.
struct InputChange {
  std::string what;  // "seed", "input data sha256", "setting arguments"
  std::string before;
  std::string after;
};

enum class ChangeKind {
  same,       // equal means, or both undefined
  unclear,    // different, but not significantly
  untested,   // different, perhaps because each study drew its own background rows
  better,     // significantly
  worse,      // significantly
  different,  // significantly, by a criterion that has no direction
  lost,       // defined before, undefined after
  gained,     // undefined before, defined after
};
std::string_view change_name(ChangeKind change);

struct ScoreChange {
  size_t criterion = 0;  // index in the first study
  std::string criterion_spec = {};
  std::string explanation = {};
  Direction direction = Direction::neither;
  ScoreSummary before = {};
  ScoreSummary after = {};
  EntryComparison test = {};  // of after against before: the difference is after minus before
  double adjusted_p = NAN;
  bool drawn_apart = false;  // not tested: it depends on background rows that each study drew for itself
  ChangeKind change = ChangeKind::same;
};

// A criterion that both studies have and whose scores cannot be compared.
struct NotCompared {
  std::string criterion;  // its spec
  std::string reason;     // "one study explains margins and the other probabilities"
};

struct StudyDiff {
  std::string before;  // names of the folders
  std::string after;
  bool same_rows = false;
  std::string rows_words = {};  // why scores are paired, or not
  std::vector<InputChange> inputs = {};
  std::vector<std::string> only_before = {};  // "the method lime", "the criterion irof"
  std::vector<std::string> only_after = {};
  std::vector<ScoreChange> scores = {};  // what both have: criterion by criterion, in the first study's order
  std::vector<NotCompared> not_compared = {};
  PredictionChanges predictions = {};
  DriverChanges drivers = {};
  std::vector<std::string> notes = {};  // on criteria whose options differ
};

StudyDiff diff_studies(const StudyFolder& before, const StudyFolder& after, const Context& context);

// Whether any score is worse or lost.
bool something_worse(const StudyDiff& diff);
// Whether any score differs and is not tested, because each study drew its own background rows.
bool something_untested(const StudyDiff& diff);

// Welch's test of two means over different rows. Undefined if one of the errors is. For dependent values the normal
// distribution is used, because the number of independent values is not known.
EntryComparison welch_comparison(const Scores& first, const Scores& second);

}  // namespace assay
