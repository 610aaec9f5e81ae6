#include "assay/explain/explainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "assay/core/error.h"
#include "assay/core/parallel.h"
#include "assay/core/text.h"
#include "assay/core/vector_target.h"
#include "assay/core/version.h"
#include "assay/explain/common.h"
#include "assay/explain/games/value_function.h"
#include "assay/explain/kernels/row_loops.h"
#include "assay/explain/methods.h"
#include "assay/model/predict_rows.h"

namespace assay {
namespace {

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
  if (!task.reference.scales.empty()) expect("scales of columns", task.reference.scales.size(), info.features());
  if (!uses_reference) return;
  expect("columns in the reference", task.reference.rows.cols(), info.features());
  if (task.reference.rows.rows() == 0) fail_input(fmt::format("{}: the reference has no rows", info.name));
}

// A row for which the model gives no number cannot be explained.
[[noreturn]] void fail_row(const ExplainTask& task, const std::string& row, std::span<const float> values,
                           double found) {
  const ModelInfo& info = task.model.info();
  const auto names = task.column_names.empty() ? std::span(info.feature_names) : task.column_names;
  const std::string given = std::isnan(found) ? "no number" : fmt::format("{}", found);
  const auto odd = std::find_if(values.begin(), values.end(), [](float v) { return !std::isfinite(v); });
  if (odd == values.end()) fail_input(fmt::format("{}: the model gives {} for {}", info.name, given, row));
  const std::string& column = names[static_cast<size_t>(odd - values.begin())];
  if (std::isnan(*odd)) {
    fail_input(fmt::format("{}: {} has no value (NaN) in column {}, and the model gives {} for it; impute it first",
                           info.name, row, in_quotes(column), given));
  }
  fail_input(fmt::format("{}: {} has {} in column {}, and the model gives {} for it", info.name, row, *odd,
                         in_quotes(column), given));
}

std::string row_name(const ExplainTask& task, size_t row) {
  return task.row_names.empty() ? fmt::format("row {}", row + 1) : fmt::format("row {}", one_line(task.row_names[row]));
}

void check_outputs(const ExplainTask& task, std::span<const double> output, size_t begin, size_t end) {
  for (size_t r = begin; r < end; r++) {
    if (!std::isfinite(output[r])) fail_row(task, row_name(task, r), task.rows.row(r), output[r]);
  }
}

std::vector<double> find_outputs(const ExplainTask& task, const ValueFunction& value, const Context& context) {
  std::vector<double> output(task.rows.rows());
  predict_rows(
      task.model, task.rows,
      [&](size_t begin, MatrixView<const float> outputs) {
        value.apply_to_rows(begin, outputs, std::span(output).subspan(begin, outputs.rows()));
        // Here and not at the end: the rest of many rows need not be run to refuse one of the first.
        check_outputs(task, output, begin, begin + outputs.rows());
      },
      context);
  return output;
}

void find_bases(const ExplainTask& task, const ValueFunction& value, std::vector<double>& base,
                const Context& context) {
  const size_t references = task.reference.rows.rows();
  const auto outputs = kept_or_made<Matrix>(task.kept, "outputs at the reference", [&] {
    auto made = std::make_shared<Matrix>(references, task.model.info().outputs());
    task.model.predict(task.reference.rows.view(), made->view(), context);
    return made;
  });
  std::vector<float> found(references);
  base.resize(task.rows.rows());
  std::vector<double> of_target(task.targets.names.size(), NAN);  // of every target that is not the information form
  for (size_t r = 0; r < base.size(); r++) {
    double& known = of_target[task.targets.of_row[r]];
    if (!task.targets.information && !std::isnan(known)) {
      base[r] = known;
      continue;
    }
    value.apply(r, outputs->view(), found);
    double sum = 0;
    for (size_t b = 0; b < references; b++) {
      if (!std::isfinite(found[b])) {
        fail_row(task, fmt::format("reference ({}) row {}", task.reference.description, b + 1),
                 task.reference.rows.row(b), found[b]);
      }
      sum += found[b];
    }
    base[r] = known = sum / static_cast<double>(references);
  }
}

// The sum of each row's values.
std::vector<double> sums_of_rows(const Explanations& made, const Context& context) {
  std::vector<double> sums(made.rows());
  parallel_blocks(context, made.rows(), items_per_block(made.players()), [&](const Block& block) {
    sum_rows(made.values.row(block.begin).data(), block.end - block.begin, made.players(), sums.data() + block.begin);
  });
  return sums;
}

// The model may be undefined where coalitions or noise lead, though it is not at the rows themselves. A sum of finite
// float32 values is finite in float64.
void note_undefined(Explanations& made, std::span<const double> sums) {
  const auto undefined = std::ranges::count_if(sums, [](double sum) { return !std::isfinite(sum); });
  if (undefined == 0) return;
  made.notes.push_back(
      fmt::format("{} of {} rows have values that are undefined: the model gives no number where the "
                  "method asks it",
                  undefined, made.rows()));
}

// Models give float32: of large outputs that differ by little, the differences have few digits, and so do attributions.
void note_lost_digits(Explanations& made) {
  constexpr double kRoundingOfFloat = 0x1p-24;
  constexpr double kWorthTelling = 1e-3;
  double size = 0;
  double spread = 0;
  for (size_t r = 0; r < made.rows(); r++) {
    size = std::max({size, std::fabs(made.output[r]), std::fabs(made.base[r])});
    spread = std::max(spread, std::fabs(made.output[r] - made.base[r]));
  }
  const double rounding = size * kRoundingOfFloat;
  if (spread == 0) {
    // A constant of everyday size is what it seems. One that float32 rounds by a thousandth may be none.
    if (rounding <= kWorthTelling) return;
    made.notes.push_back(fmt::format(
        "outputs are near {:.3g} and all equal to the base value: differences of up to {:.1g}, if there are any, are "
        "lost, because the model rounds to float32; a model that gives the output less a constant loses none",
        size, rounding));
    return;
  }
  if (rounding <= kWorthTelling * spread) return;
  made.notes.push_back(fmt::format(
      "outputs are near {:.3g} and differ from the base value by at most {:.3g}: the model rounds them by up "
      "to {:.1g}, and so many digits of the values are lost; a model that gives the output less a constant "
      "has the same attributions and loses none",
      size, spread, rounding));
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
  made.unit = explained_unit(task.model.info(), task.targets);
  made.target = target_in_words(task.targets);
  made.model = task.model.info().name;
  made.reference = method.uses_reference ? task.reference.description : "none";
  made.version = kVersion;
  made.vector_target = vector_target();
  made.draw = method.uses_reference && task.reference.is_draw() ? kDrawnBackground : kNothingDrawn;
  return made;
}

}  // namespace

std::optional<Refusal> refusal(const Spec& spec, const ExplainTask& task) {
  const MethodInfo& method = find_method(spec.name);
  const std::optional<Refusal> reason = method.make(spec)->refuses(task);
  if (!reason) return {};
  return Refusal(fmt::format("{} {}", method.name, reason->reason), reason->need);
}

Explanations explain(const Spec& spec, const ExplainTask& task, const Context& context) {
  return explain(spec, *find_method(spec.name).make(spec), task, context);
}

Explanations explain(const Spec& spec, const Explainer& explainer, const ExplainTask& task, const Context& context) {
  const MethodInfo& method = find_method(spec.name);
  check_shapes(task, method.uses_reference);
  if (const auto reason = explainer.refuses(task)) {
    throw Error(ErrorKind::unsupported, fmt::format("{} {}", method.name, reason->reason), reason->need);
  }
  const Context quiet = context.quiet();
  const ValueFunction value(task.model, task.rows, task.targets, quiet);
  Explanations made;
  if (!explainer.gives_output()) made.output = find_outputs(task, value, quiet);
  if (method.uses_reference) {
    find_bases(task, value, made.base, quiet);
  } else {
    made.base.assign(task.rows.rows(), NAN);
  }
  made.values = Matrix(task.rows.rows(), task.players.size());
  Attributions attributions{.values = made.values.view()};
  explainer.attribute(task, attributions, context);
  if (explainer.gives_output()) {
    made.output = std::move(attributions.output);
    check_outputs(task, made.output, 0, made.output.size());
  }
  made.standard_error = std::move(attributions.standard_error);
  made.background_error = std::move(attributions.background_error);
  made.evaluations = attributions.evaluations;
  made.notes = std::move(attributions.notes);
  const bool own_base = !attributions.base.empty();
  if (own_base) made.base = std::move(attributions.base);
  made.features = task.players.names;
  made.target = task.targets.of_row;
  made.target_names = task.targets.names;
  std::vector<double> sums = sums_of_rows(made, quiet);
  note_undefined(made, sums);
  if (method.uses_reference || own_base) {
    // The values of trees are sums of leaves, not differences of outputs.
    if (!method.for_trees) note_lost_digits(made);
    for (size_t r = 0; r < sums.size(); r++) sums[r] = made.output[r] - made.base[r] - sums[r];
    made.gap = std::move(sums);
  } else {
    made.gap = made.base;
  }
  made.provenance = provenance_of(method, spec, task, context);
  return made;
}

}  // namespace assay
