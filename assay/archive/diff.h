// What changed between two studies, before and after: what went in, what is studied in one of them alone, and the
// scores that both have, with significance.
//
//   the same rows   Student's t over the pairs of rows where both are defined (entry_comparison in study/assess.h)
//   other rows      Welch's t: (m2 - m1) / sqrt(s1^2 + s2^2), with s the standard errors of the means and
//                   (s1^2 + s2^2)^2 / (s1^4 / (n1 - 1) + s2^4 / (n2 - 1)) degrees of freedom (Welch 1947)
//
// p-values are two-sided and Holm-adjusted over the explanations of a criterion (Holm 1979); 0.05 is significant. Rows
// are the same where both studies name them and the names are equal in order, or else where they chose the same rows by
// the same seed from the same data (equal hashes, or one data set of the program). Row numbers are no names.
//
// Cost: reads scores/*.json of what both have, two entries at a time.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "assay/archive/study_folder.h"
#include "assay/core/context.h"
#include "assay/study/assess.h"

namespace assay {

// Something that went in and is not the same; empty where one study has none.
struct InputChange {
  std::string what;  // "seed", "data sha256", "--methods"
  std::string before;
  std::string after;
};

enum class ChangeKind {
  same,     // equal means, or both undefined
  unclear,  // different, but it may be chance
  better,   // significantly, by the criterion's direction
  worse,
  different,  // significantly, by a criterion without direction
  lost,       // was defined and is not any more
  gained,     // the other way round
};
std::string_view change_name(ChangeKind change);

struct ScoreChange {
  size_t criterion = 0;  // of the first study
  std::string criterion_spec = {};
  std::string explanation = {};
  Direction direction = Direction::neither;
  ScoreSummary before = {};
  ScoreSummary after = {};
  EntryComparison test = {};  // difference: after less before, on common rows where paired
  double adjusted_p = NAN;
  ChangeKind change = ChangeKind::same;
};

struct StudyDiff {
  std::string before;  // names of the folders
  std::string after;
  bool same_rows = false;
  std::string rows_words = {};  // why scores are paired, or not
  std::vector<InputChange> inputs = {};
  std::vector<std::string> only_before = {};  // "the method lime", "the criterion irof"
  std::vector<std::string> only_after = {};
  std::vector<ScoreChange> scores = {};  // of what both have: criterion by criterion, in the first study's order
  std::vector<std::string> notes = {};   // criteria that were computed with other options
};

StudyDiff diff_studies(const StudyFolder& before, const StudyFolder& after, const Context& context);

// Whether anything is significantly worse, or lost.
bool something_worse(const StudyDiff& diff);

// Welch's test of two means whose rows are not the same. Undefined where an error is; values that are dependent bring
// no count of what is independent, so the normal distribution is used.
EntryComparison welch_comparison(const Scores& first, const Scores& second);

}  // namespace assay
