// The words of an assessment: which explanation to use when, and what the numbers do not support.
//
// Plain sentences for people who did not make the study. Names of entries are made one line and cut when long. So a
// sentence can be printed as it is; for HTML it must still be escaped.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/evaluate/criterion.h"
#include "assay/study/assess.h"
#include "assay/study/comparisons.h"
#include "assay/study/study.h"

namespace assay {

// What users choose by. It is measured by the first criterion of the study that has this role.
struct StudyAim {
  CriterionRole role;
  std::string_view word;     // "stability"
  std::string_view measure;  // "average sensitivity"; empty if it is the same as `word`
};
inline constexpr std::array<StudyAim, 3> kStudyAims = {{{CriterionRole::faithfulness, "faithfulness", ""},
                                                        {CriterionRole::stability, "stability", "average sensitivity"},
                                                        {CriterionRole::simplicity, "simplicity", "complexity"}}};

// Below this p-value a difference is significant.
inline constexpr double kSignificance = 0.05;

// The first criterion of the study with this role.
std::optional<size_t> first_criterion_for(const Study& study, CriterionRole role);

// The criteria of kStudyAims, in that order, without those that rank nothing. Indices into the study's criteria.
std::vector<size_t> ranked_aims(const Study& study, const std::vector<CriterionRanking>& rankings);

// The name of a criterion in sentences. If several have the same name: as the user wrote it, with options.
std::string criterion_label(const Study& study, size_t criterion);

// "0.931 +- 0.012": the error with `digits` significant digits, the mean with as many decimals as the error. Without
// an error, the mean alone.
std::string mean_with_error(double mean, double error, int digits = 2);

// A share as a whole percentage. 100 % and 0 % only if the share is exactly 1 or 0.
std::string whole_percent(double share);

// The names of these entries, by index: "a, b and 3 more".
std::string entry_names(const Study& study, const std::vector<size_t>& entries, size_t most = 4,
                        std::string_view last = "and");

// Those of the verdict's sentences that belong on a first screen: whether attributions describe the model at all, what
// to use overall, and whether aggregates help. What is best for one aim stands in the table there.
std::vector<std::string> main_sentences(const Study& study, const Assessment& assessment);

// What to do now, one plain sentence each.
std::vector<std::string> next_steps(const Study& study, const Advice& advice);

// Both read `rankings` and `dominated` of the assessment, which must be filled in.
std::vector<std::string> verdict_sentences(const Study& study, const Assessment& assessment);
std::vector<std::string> warning_sentences(const Study& study, const Assessment& assessment);

// The first of the warnings: few rows, a small background, margins that move together. They limit what everything else
// says.
std::vector<std::string> sample_warnings(const Study& study);

}  // namespace assay
