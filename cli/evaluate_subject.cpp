#include "cli/evaluate_subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "assay/aggregate/aggregators.h"
#include "assay/core/error.h"
#include "assay/evaluate/joining/explanation_checks.h"

namespace assay::cli {
namespace {

bool holds_ranks(const Explanations& explanations) {
  const auto& options = explanations.provenance.options;
  const std::pair<std::string, std::string> ranks("result", "ranks");
  return is_aggregate(explanations) && std::ranges::find(options, ranks) != options.end();
}

}  // namespace

EvaluateTask EvaluatedFile::task() {
  return {.explanations = explanations,
          .subject = has_model() ? subject.view() : Subject(),
          .pool_explanations = pool_explanations ? &*pool_explanations : nullptr,
          .method = method ? &*method : nullptr,
          .method_seed = explanations.provenance.seed,
          .others = others,
          .other_names = other_names};
}

Subjects read_subjects(const EvaluateArguments& arguments, const Session& session) {
  const size_t count = arguments.explanations.size();
  const size_t pools = arguments.pool_explanations.size();
  if (pools > 0 && pools != count) {
    fail_input("--pool-explanations", fmt::format("{}, one for each of --explanations", count),
               fmt::format("{}", pools));
  }
  Subjects subjects;
  for (size_t i = 0; i < count; i++) {
    EvaluatedFile& made = *subjects.all.emplace_back(std::make_unique<EvaluatedFile>());
    read_joined(arguments.explanations[i], pools > 0 ? arguments.pool_explanations[i] : "", session, made);
    // Aggregates that cannot be made again need explanations of the pool from a file.
    const bool helped = is_aggregate(made.explanations) && made.pool_given;
    if (!made.not_again.empty() && !helped) made.notes.push_back(made.not_again);
    if (holds_ranks(made.explanations)) {
      made.notes.emplace_back(
          "values are ranks, 1 for the most important: criteria take large values for important; aggregate with "
          "result=scores");
    }
  }
  return subjects;
}

void join_others(const EvaluateArguments& arguments, Subjects& subjects, const Session& session) {
  for (const std::string& file : arguments.others) {
    subjects.others.push_back(read_explanations(file, session.context));
    check_explained_unit(file, subjects.others.back());
  }
  for (const auto& subject : subjects.all) {
    const auto compare_with = [&](const std::string& file, const Explanations& other) {
      check_explained_alike(file, other, subject->file, subject->explanations);
      subject->others.push_back(&other);
      subject->other_names.push_back(file);
    };
    for (size_t i = 0; i < subjects.others.size(); i++) compare_with(arguments.others[i], subjects.others[i]);
    // Several files without others are compared with each other.
    if (!subjects.others.empty()) continue;
    for (const auto& other : subjects.all) {
      if (other != subject) compare_with(other->file, other->explanations);
    }
  }
}

}  // namespace assay::cli
