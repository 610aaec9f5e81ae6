#include "cli/evaluate_needs.h"

#include <fmt/format.h>

#include <vector>

#include "assay/core/text.h"

namespace assay::cli {
namespace {

// Such a criterion leaves every row undefined, and says so; nothing else of it is needed.
bool lacks_explainer(const CriterionInfo& info, const Subject& subject) {
  return info.needs.explainer && !subject.method;
}

// Whether rows are explained that were not: by the method of the explanations.
bool explains(const CriterionInfo& info, const Subject& subject) {
  return info.needs.explainer || (info.needs.pool_explanations && !subject.pool_given);
}

}  // namespace

bool uses_reference(const CriterionInfo& info, const Subject& subject) {
  if (lacks_explainer(info, subject)) return false;
  const MethodInfo* method = subject.method_info();
  return info.needs.reference || (explains(info, subject) && method != nullptr && method->uses_reference);
}

std::optional<std::string> lacking(const CriterionInfo& info, const Subject& subject,
                                   const EvaluateArguments& arguments) {
  const Needs& needs = info.needs;
  const auto because = [&](std::string_view what, std::string_view advice) {
    return fmt::format("{} needs {}: {}", info.name, what, advice);
  };
  if (lacks_explainer(info, subject)) return {};
  if (needs.pool_explanations && !subject.pool_given && !subject.method) {
    return because("explanations of the pool's rows, and those of the rows do not say how they were made",
                   "give --pool-explanations");
  }
  std::vector<std::string> missing;
  if (arguments.rows.model.empty()) missing.emplace_back("--model");
  if (arguments.rows.table.what.empty()) missing.emplace_back("--data");
  const bool model = needs.model || needs.pool || needs.labels || needs.trainer || explains(info, subject);
  if (model && !missing.empty()) {
    return because("the model and the rows that were explained", fmt::format("give {}", joined(missing)));
  }
  const bool pool = needs.pool || (needs.pool_explanations && !subject.pool_given);
  if (pool && arguments.rows.pool.empty()) return because("a pool of training rows", "give --pool");
  if (uses_reference(info, subject) && !arguments.rows.has_reference()) {
    return because("something that stands for absent features",
                   "give --baseline, --background or --pool (its mean is the default)");
  }
  if (needs.others && subject.others.empty() && arguments.others.empty() && arguments.explanations.size() < 2) {
    return because("other explanations of the same rows", "give --others");
  }
  if (subject.rows == nullptr) return {};
  if (needs.pool_explanations && !subject.pool_explanations) {
    return because("explanations of the pool's rows, which have none of the targets that the rows are explained for",
                   "give --pool-explanations");
  }
  if (needs.labels && subject.rows->data.labels.empty()) {
    return because("labels of the rows", "give --labels, a column of the model's own classes or values");
  }
  if (needs.trainer && !subject.trainer) {
    return because("a model that can be trained again", "`assay train` writes such models");
  }
  return {};
}

std::string with_advice(std::string reason, const EvaluateArguments& arguments) {
  const ModelRowsArguments& rows = arguments.rows;
  const auto says = [&](std::string_view word) { return reason.find(word) != std::string::npos; };
  std::vector<std::string> missing;
  if (says("model") && rows.model.empty()) missing.emplace_back("--model");
  if ((says("model") || says("rows")) && rows.table.what.empty()) missing.emplace_back("--data");
  if (says("pool") && rows.pool.empty()) missing.emplace_back("--pool");
  if (says("reference") && !rows.has_reference()) missing.emplace_back("--baseline");
  if (missing.empty()) return reason;
  return fmt::format("{}: give {}", reason, joined(missing));
}

}  // namespace assay::cli
