// The words of an assessment: which explanation to use when, and what the numbers do not support.
//
// Plain sentences for people who did not make the study. Names of entries are on one line and cut when long, so that a
// sentence can be printed as it is (for HTML it must still be escaped).
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/evaluate/criterion.h"
#include "assay/study/assess.h"
#include "assay/study/study.h"

namespace assay {

// What users choose by: the first criterion of the study with this role stands for it.
struct StudyAim {
  CriterionRole role;
  std::string_view word;     // "stability"
  std::string_view measure;  // "average sensitivity"; empty where it is the same word
};
inline constexpr std::array<StudyAim, 3> kStudyAims = {{{CriterionRole::faithfulness, "faithfulness", ""},
                                                        {CriterionRole::stability, "stability", "average sensitivity"},
                                                        {CriterionRole::simplicity, "simplicity", "complexity"}}};

// Below this p-value a difference is significant.
inline constexpr double kSignificance = 0.05;

// Attributions are float32: two methods that compute the same thing have scores that differ by about so much of their
// size, and no test should tell them apart.
inline constexpr double kTieRounding = 1e-6;

// Whether a is above b by more than that. False where one is NaN.
bool above_rounding(double a, double b);

// The first criterion of the study with this role.
std::optional<size_t> first_criterion_for(const Study& study, CriterionRole role);

// The aims' criteria that rank entries, by index into the study's criteria, in the order of kStudyAims.
std::vector<size_t> ranked_aims(const Study& study, const std::vector<CriterionRanking>& rankings);

// How sentences call a criterion: by its name, or as the user wrote it where several have that name.
std::string criterion_label(const Study& study, size_t criterion);

// "0.931 +- 0.012": so many significant digits of the error, and as many decimals of the mean; without an error the
// mean alone.
std::string mean_with_error(double mean, double error, int digits = 2);

// A share as a whole percentage: never 100 % while something is missing, nor 0 % while something is there.
std::string whole_percent(double share);

// Names by index into the study's entries: "a, b and 3 more".
std::string entry_names(const Study& study, const std::vector<size_t>& entries, size_t most = 4,
                        std::string_view last = "and");

// Both read rankings and domination of the assessment.
std::vector<std::string> verdict_sentences(const Study& study, const Assessment& assessment);
std::vector<std::string> warning_sentences(const Study& study, const Assessment& assessment);

}  // namespace assay
