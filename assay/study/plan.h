// What a study will do: which methods, aggregators and criteria, what is left out and why, and how long it will take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/options.h"
#include "assay/explain/subject.h"
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
  std::vector<size_t> members;  // entries that are aggregated
  std::vector<LeftOut> left_out;
  std::vector<std::string> notes;
  uint64_t evaluations = 0;  // expected, with neighbours and variations; without criteria that need pool or training
  double seconds = 0;        // expected
};

// Throws an input error for an unknown name or option. Needs no data, so it can run before anything is read.
void check_study_options(const StudyOptions& options);

// Throws an unsupported error if something that was named cannot be done. What was not named goes to left_out instead.
// Runs the methods on a few rows to see what they cost. notes: sentences on the rows beside their
// own notes; both are put before the plan's.
StudyPlan plan_study(const Subject& subject, const StudyOptions& options, const Context& context,
                     const std::vector<std::string>& notes = {});

}  // namespace assay
