#include "assay/explain/explainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/core/vector_target.h"
#include "assay/core/version.h"
#include "assay/explain/games/value_function.h"
#include "assay/explain/methods.h"

namespace assay {
namespace {

// Rows whose outputs are in memory at a time.
constexpr size_t kRowsAtATime = 4096;

void check_shapes(const ExplainTask& task, bool uses_reference) {
  const ModelInfo& info = task.model.info();
  const auto expect = [&](std::string_view what, size_t found, size_t expected) {
    if (found == expected) return;
    fail_input(fmt::format("{}: expected {} {}, found {}", info.name, expected, what, found));
  };
  expect("columns in the rows", task.rows.cols(), info.features());
  expect("columns among the players", task.players.columns(), info.features());
  expect("targets, one for each row", task.targets.of_row.size(), task.rows.rows());
  if (task.rows.rows() == 0) fail_input(fmt::format("{}: there are no rows to explain", info.name));
  if (!uses_reference) return;
  expect("columns in the reference", task.reference.rows.cols(), info.features());
  if (task.reference.rows.rows() == 0) fail_input(fmt::format("{}: the reference has no rows", info.name));
}

// A row for which the model gives no number cannot be explained.
[[noreturn]] void fail_row(const ModelInfo& info, std::string_view what, size_t row, std::span<const float> values,
                           double found) {
  const auto missing = std::find_if(values.begin(), values.end(), [](float v) { return std::isnan(v); });
  if (missing != values.end()) {
    const auto column = static_cast<size_t>(missing - values.begin());
    fail_input(fmt::format("{}: {} {} has no value (NaN) in column {}, and the model gives {} for it; impute it first",
                           info.name, what, row + 1, in_quotes(info.feature_names[column]), found));
  }
  fail_input(fmt::format("{}: the model gives {} for {} {}", info.name, found, what, row + 1));
}

void find_outputs(const ExplainTask& task, const ValueFunction& value, std::vector<double>& output,
                  const Context& context) {
  const size_t rows = task.rows.rows();
  output.resize(rows);
  for (size_t begin = 0; begin < rows; begin += kRowsAtATime) {
    const size_t end = std::min(begin + kRowsAtATime, rows);
    Matrix outputs(end - begin, task.model.info().outputs());
    task.model.predict(task.rows.rows_between(begin, end), outputs.view(), context);
    for (size_t r = begin; r < end; r++) {
      float found = 0;
      value.apply(r, outputs.view().rows_between(r - begin, r - begin + 1), {&found, 1});
      if (!std::isfinite(found)) fail_row(task.model.info(), "row", r, task.rows.row(r), found);
      output[r] = found;
    }
  }
}

void find_bases(const ExplainTask& task, const ValueFunction& value, std::vector<double>& base,
                const Context& context) {
  const size_t references = task.reference.rows.rows();
  Matrix outputs(references, task.model.info().outputs());
  task.model.predict(task.reference.rows.view(), outputs.view(), context);
  std::vector<float> found(references);
  const std::string what = fmt::format("reference ({}) row", task.reference.description);
  base.resize(task.rows.rows());
  std::vector<double> of_target(task.targets.names.size(), NAN);  // of every target that is not the information form
  for (size_t r = 0; r < base.size(); r++) {
    double& known = of_target[task.targets.of_row[r]];
    if (!task.targets.information && !std::isnan(known)) {
      base[r] = known;
      continue;
    }
    value.apply(r, outputs.view(), found);
    double sum = 0;
    for (size_t b = 0; b < references; b++) {
      if (!std::isfinite(found[b])) fail_row(task.model.info(), what, b, task.reference.rows.row(b), found[b]);
      sum += found[b];
    }
    base[r] = known = sum / static_cast<double>(references);
  }
}

Provenance provenance_of(const MethodInfo& method, const Spec& spec, const ExplainTask& task, const Context& context) {
  Provenance made;
  made.method = method.name;
  for (const OptionInfo& option : method.options) {
    const auto given = std::find_if(spec.options.begin(), spec.options.end(),
                                    [&](const auto& each) { return each.first == option.name; });
    made.options.emplace_back(option.name, given == spec.options.end() ? option.value : given->second);
  }
  made.seed = context.seed;
  made.unit = task.targets.information ? "information" : std::string(output_unit_name(task.model.info().unit));
  made.model = task.model.info().name;
  made.reference = method.uses_reference ? task.reference.description : "none";
  made.version = kVersion;
  made.vector_target = vector_target();
  return made;
}

}  // namespace

std::optional<std::string> refusal(const Spec& spec, const ExplainTask& task) {
  const MethodInfo& method = find_method(spec.name);
  const std::optional<std::string> reason = method.make(spec)->refuses(task);
  if (!reason) return {};
  return fmt::format("{} {}", method.name, *reason);
}

Explanations explain(const Spec& spec, const ExplainTask& task, const Context& context) {
  const MethodInfo& method = find_method(spec.name);
  const std::unique_ptr<Explainer> explainer = method.make(spec);
  check_shapes(task, method.uses_reference);
  if (const auto reason = explainer->refuses(task)) {
    throw Error(ErrorKind::unsupported, fmt::format("{} {}", method.name, *reason));
  }
  Context quiet = context;
  quiet.progress = nullptr;
  const ValueFunction value(task.model, task.rows, task.targets, quiet);
  Explanations made;
  find_outputs(task, value, made.output, quiet);
  if (method.uses_reference) {
    find_bases(task, value, made.base, quiet);
  } else {
    made.base.assign(task.rows.rows(), NAN);  // and so the gap
  }
  made.values = Matrix(task.rows.rows(), task.players.size());
  Attributions attributions{.values = made.values.view()};
  explainer->attribute(task, attributions, context);
  made.standard_error = std::move(attributions.standard_error);
  made.background_error = std::move(attributions.background_error);
  made.evaluations = attributions.evaluations;
  made.notes = std::move(attributions.notes);
  made.features = task.players.names;
  made.target = task.targets.of_row;
  made.target_names = task.targets.names;
  made.gap.resize(made.rows());
  for (size_t r = 0; r < made.rows(); r++) {
    double sum = 0;
    for (const float each : made.values.row(r)) sum += each;
    made.gap[r] = made.output[r] - made.base[r] - sum;
  }
  made.provenance = provenance_of(method, spec, task, context);
  return made;
}

}  // namespace assay
