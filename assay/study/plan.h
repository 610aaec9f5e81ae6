// What a study will do: which methods, aggregators and criteria, what is left out and why, and how long it will take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/options.h"
#include "assay/explain/subject.h"
#include "assay/study/budget.h"
#include "assay/study/choices.h"
#include "assay/study/study.h"

namespace assay {

// What the user asks for. An empty list means the default. Whatever is named must be possible.
struct StudyOptions {
  std::vector<Spec> methods = {};      // default: all that the model allows
  std::vector<Spec> criteria = {};     // default: the paper's
  std::vector<Spec> aggregators = {};  // default: all
  bool no_aggregates = false;
  // Names of the methods that are aggregated. Default: those found faithful on rows of the pool (member_choice.h).
  std::vector<std::string> members = {};
  // In place of that default: those of the paper's six that are studied, or all methods if fewer than three are.
  // exact_shapley is none of the six: three estimates of the same values would outvote the rest.
  bool paper_members = false;
  bool retrain = false;    // adds roar and kar to the default criteria
  bool curves = true;      // over radius and subset size
  bool variations = true;  // other seeds and baselines
  AdviceOptions advice = {};

  // The time that the study may take. Without a limit nothing is given up.
  double seconds = kNoTimeLimit;
  bool seconds_named = false;    // by the user: then a study that cannot be done in that time is an error
  double seconds_spent = 0;      // of them, before planning begins: reading, training
  bool rows_named = true;        // false: fewer rows may be studied, if the subject is then opened again
  bool background_named = true;  // false: likewise with fewer background rows
  // What an earlier plan of the same study chose. It is taken as it is.
  StudyChoices choices = {};
};

struct PlannedEntry {
  Spec spec;
  std::string name;
  std::string stem;
  EntryKind kind = EntryKind::method;
  uint64_t evaluations = 0;  // expected
  double seconds = 0;        // expected
};

struct StudyPlan {
  StudyOptions options;
  std::vector<PlannedEntry> entries;  // methods first
  std::vector<Spec> criteria;
  std::vector<size_t> members;   // entries that are aggregated
  bool all_are_members = false;  // for lack of better: fewer than three of the paper's six are studied
  std::vector<LeftOut> left_out;
  std::vector<std::string> notes;
  uint64_t evaluations = 0;  // expected, with neighbours and variations; without criteria that need training
  double seconds = 0;        // expected
  // What was chosen because the user said nothing: options.choices and what this plan adds to them.
  StudyChoices choices = {};
  bool open_again =
      false;  // whether other rows or another background were chosen: the plan is not that of this subject
  double full_seconds = 0;                 // expected without a limit
  std::vector<std::string> given_up = {};  // for the limit, in words; beside methods, which are in left_out
};

// Throws an input error for an unknown name or option. Needs no data, so it can run before anything is read.
void check_study_options(const StudyOptions& options);

// Throws an unsupported error if something that was named cannot be done. What was not named goes to left_out instead.
// Runs all parts on a few rows to see what they cost (pilot.h), and under a time limit gives up what does not fit
// (budget.h). notes: sentences on the rows beside their own notes; both are put before the plan's.
//
// If plan.open_again, the caller opens the subject again as plan.choices say and plans that, with these choices among
// the options and this plan as `estimated`: nothing is measured twice. Where all was chosen before and nothing is
// estimated, nothing is measured: evaluations and seconds are 0.
StudyPlan plan_study(const Subject& subject, const StudyOptions& options, const Context& context,
                     const std::vector<std::string>& notes = {}, const StudyPlan* estimated = nullptr);

// The same without estimates, choices that depend on a clock, and notes on the rows: a function of subject and options
// alone.
StudyPlan plan_parts(const Subject& subject, const StudyOptions& options, const Context& context);

}  // namespace assay
