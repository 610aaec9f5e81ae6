#include "cli/evaluate_needs.h"

#include <fmt/format.h>

#include "assay/aggregate/aggregators.h"
#include "assay/core/text.h"
#include "assay/evaluate/criteria.h"
#include "cli/needed_options.h"

namespace assay::cli {
namespace {

// Then the criterion leaves every row undefined with a reason, and its other needs do not matter.
bool lacks_explainer(const Needs& needs, const EvaluatedFile& subject) { return needs.explainer && !subject.method; }

// Whether the criterion explains other rows, by the method of the explanations.
bool explains(const Needs& needs, const EvaluatedFile& subject) {
  return needs.explainer || (needs.pool_explanations && !subject.pool_given);
}

}  // namespace

Needs needs_of(const Spec& spec) {
  const CriterionInfo& info = find_criterion(spec.name);
  return info.make(spec)->needs(info.needs);
}

bool uses_reference(const Spec& spec, const EvaluatedFile& subject) {
  const Needs needs = needs_of(spec);
  if (lacks_explainer(needs, subject)) return false;
  const MethodInfo* method = subject.method_info();
  return needs.reference || (explains(needs, subject) && method != nullptr && method->uses_reference);
}

std::optional<std::string> lacking(const Spec& spec, const EvaluatedFile& subject, const EvaluateArguments& arguments) {
  const Needs needs = needs_of(spec);
  const auto because = [&](std::string_view what, std::string_view advice) {
    return fmt::format("{} needs {}: {}", spec.name, what, advice);
  };
  if (lacks_explainer(needs, subject)) return {};
  if (needs.pool_explanations && !subject.pool_given && !subject.method) {
    const std::string& method = subject.explanations.provenance.method;
    const bool aggregate = is_aggregate(subject.explanations);
    const std::string why =
        aggregate        ? fmt::format("{} cannot be explained again", aggregate_in_words(subject.explanations))
        : method.empty() ? "those of the rows do not say how they were made"
                         : fmt::format("this version cannot make them by {} as it was used", in_quotes(method));
    return because(
        fmt::format("explanations of the pool's rows, and {}", why),
        aggregate ? "give --pool-explanations (`assay aggregate --pool-out` writes them)" : "give --pool-explanations");
  }
  const auto missing = [&](Need need) { return missing_options({need}, arguments.rows); };
  const auto because_missing = [&](std::string_view what, Need need) {
    return because(what, fmt::format("give {}", joined(missing(need))));
  };
  const bool model = needs.model || needs.pool || needs.labels || needs.trainer || explains(needs, subject);
  if (model && !missing(Need::model).empty()) {
    return because_missing("the model and the rows that were explained", Need::model);
  }
  const bool pool = needs.pool || (needs.pool_explanations && !subject.pool_given);
  if (pool && arguments.rows.pool.empty()) return because_missing("a pool of training rows", Need::pool);
  if (uses_reference(spec, subject) && !arguments.rows.has_reference()) {
    return because_missing("something that stands for absent features", Need::reference);
  }
  if (needs.others && subject.others.empty() && arguments.others.empty() && arguments.explanations.size() < 2) {
    return because("other explanations of the same rows", "give --others");
  }
  if (!subject.has_model()) return {};
  if (needs.pool_explanations && !subject.pool_explanations) {
    return because("explanations of the pool's rows, which have none of the targets that the rows are explained for",
                   "give --pool-explanations");
  }
  if (needs.labels && subject.subject.rows->labels.empty()) {
    return because("labels of the rows", "give --labels, a column of the model's own classes or values");
  }
  if (needs.trainer && !subject.subject.trainer) {
    return because("a model that can be trained again", "`assay train` writes such models");
  }
  return {};
}

}  // namespace assay::cli
