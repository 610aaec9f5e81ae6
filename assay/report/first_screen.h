// The first screen of a finished study: how good the model is, what drives it, which explanation to use, what that
// costs, and what to do next. Everything else is in study_table() and study_conclusions().
#pragma once

#include <cstddef>
#include <string>

#include "assay/report/report_facts.h"
#include "assay/study/assess.h"
#include "assay/study/study.h"

namespace assay {

struct ScreenOptions {
  std::string next = {};  // a command; empty: none
  size_t lines = 18;      // sentences and rivals that would make it longer are left out
};

// What is known of the model and of its drivers, by label: "Model", "Explained", and "Drivers" if an explanation is
// recommended.
FactPairs screen_facts(const Study& study, const Advice& advice);

// Without times, so that it is the same each time.
std::string first_screen(const Study& study, const Assessment& assessment, const ScreenOptions& options = {});

// "4.1 s in all, 0.0024 s to explain by exact_shapley": how long the study took, and what is recommended overall.
std::string time_words(const Study& study, const Advice& advice, const StudyTimes& times);

// Two digits of seconds, but never "1.3e+02".
std::string duration_words(double seconds);

}  // namespace assay
