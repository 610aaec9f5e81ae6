#include "cli/joined_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/evaluate/joining/explanation_checks.h"
#include "assay/explain/explainer.h"
#include "cli/terminal.h"

namespace assay::cli {
namespace {

std::string expected_unit(const JoinedExplanations& subject) {
  if (subject.rows == nullptr) return subject.explanations.provenance.unit;
  if (subject.targets.information) return "information";
  return std::string(output_unit_name(subject.rows->model->info().unit));
}

void check_pool_unit(const JoinedExplanations& subject) {
  const std::string expected = expected_unit(subject);
  const std::string& found = subject.pool_given->provenance.unit;
  if (expected.empty() || found.empty() || expected == found) return;
  fail_input(subject.pool_file,
             fmt::format("explanations in the unit {}, as {} has it", expected, in_quotes(subject.file)), found);
}

void expect_target(const JoinedExplanations& subject, size_t row, const std::string& expected, std::string_view why) {
  const Explanations& pool = *subject.pool_given;
  const std::string& found = pool.target_names[pool.target[row]];
  if (found == expected) return;
  fail_input(subject.pool_file,
             fmt::format("the target {} for {}, {}", in_quotes(expected), row_in_words(pool.ids, row), why),
             in_quotes(found));
}

// Without a model only a target that is one for all rows is known.
void check_named_target(const JoinedExplanations& subject) {
  const std::string& target = subject.explanations.provenance.target;
  if (target.empty() || target == kPredictedTarget) return;
  for (size_t r = 0; r < subject.pool_given->rows(); r++) {
    expect_target(subject, r, target, fmt::format("as in {}", in_quotes(subject.file)));
  }
}

void check_pool_targets(const JoinedExplanations& subject, const Targets& expected) {
  const std::string why = expected.predicted ? "the class it is predicted to be, as for the rows of " : "as in ";
  for (size_t r = 0; r < expected.of_row.size(); r++) {
    expect_target(subject, r, expected.names[expected.of_row[r]], fmt::format("{}{}", why, in_quotes(subject.file)));
  }
}

// By the value at the reference where both have targets in common, else by its description.
bool same_reference(const Explanations& a, const Explanations& b) {
  const bool comparable = a.provenance.unit == b.provenance.unit && a.provenance.unit != "information" &&
                          !a.target.empty() && !b.target.empty();
  std::map<std::string, double> known;
  for (size_t r = 0; comparable && r < a.rows(); r++) {
    if (std::isfinite(a.base[r])) known.emplace(a.target_names[a.target[r]], a.base[r]);
  }
  const double largest = std::max(largest_output(a), largest_output(b));
  bool compared = false;
  for (size_t r = 0; comparable && r < b.rows(); r++) {
    const auto found = known.find(b.target_names[b.target[r]]);
    if (found == known.end() || !std::isfinite(b.base[r])) continue;
    if (!same_explained_value(found->second, b.base[r], largest)) return false;
    compared = true;
  }
  return compared || a.provenance.reference == b.provenance.reference;
}

using OptionValues = std::vector<std::pair<std::string, std::string>>;

// Those of `options` that `others` has otherwise, or not at all.
std::string differing(const OptionValues& options, const OptionValues& others) {
  std::vector<std::string> words;
  for (const auto& option : options) {
    if (std::ranges::find(others, option) == others.end()) {
      words.push_back(short_name(fmt::format("{}={}", option.first, option.second)));
    }
  }
  std::ranges::sort(words);
  return words.empty() ? "none" : fmt::format("{}", fmt::join(words, ", "));
}

// What may be meant, and yet changes the scores.
void note_differences(JoinedExplanations& subject) {
  const Provenance& own = subject.explanations.provenance;
  const Provenance& pool = subject.pool_given->provenance;
  if (own.method.empty() || pool.method.empty()) return;
  const auto note = [&](std::string_view what, std::string_view found, std::string_view expected) {
    subject.notes.push_back(
        fmt::format("{} was made {} ({}) than {} ({})", subject.pool_file, what, found, subject.file, expected));
  };
  if (own.method != pool.method) {
    note("by another method", short_name(pool.method), short_name(own.method));
  } else if (!std::ranges::is_permutation(own.options, pool.options)) {
    note("with other options", differing(pool.options, own.options), differing(own.options, pool.options));
  }
  const auto has_reference = [](const Provenance& made) { return !made.reference.empty() && made.reference != "none"; };
  if (has_reference(own) && has_reference(pool) && !same_reference(subject.explanations, *subject.pool_given)) {
    note("against another reference", pool.reference, own.reference);
  }
}

Matrix made_for_pool(const JoinedExplanations& subject, std::span<const size_t> rows, const Context& context) {
  const ModelRows& from = *subject.rows;
  Matrix x(rows.size(), from.pool->x.cols());
  std::vector<std::string> names;  // for messages
  for (size_t i = 0; i < rows.size(); i++) {
    std::ranges::copy(from.pool->x.row(rows[i]), x.row(i).begin());
    names.push_back(fmt::format("{} of {}", rows[i] + 1, from.pool->source));
  }
  const Targets targets = subject.targets.information
                              ? information_targets(*from.model, rows.size())
                              : freeze_targets(*from.model, x.view(), *subject.pool_target, context);
  Context seeded = context;
  seeded.seed = subject.explanations.provenance.seed;
  const ExplainTask task{
      *from.model, x.view(), targets, from.reference, subject.players, names, from.pool->feature_names};
  return explain(*subject.method, task, seeded).values;
}

// Files of older versions do not say it.
std::optional<TargetChoice> guessed_target(const JoinedExplanations& subject, const Context& context) {
  const Targets& targets = subject.targets;
  const auto same = [&](uint32_t t) { return t == targets.of_row[0]; };
  if (std::ranges::all_of(targets.of_row, same)) return TargetChoice{false, targets.of_row[0]};
  const Model& model = *subject.rows->model;
  if (model.info().class_names.empty()) return {};
  const TargetChoice predicted{true, 0};
  const Targets own = freeze_targets(model, subject.rows->data.x.view(), predicted, context);
  return own.of_row == targets.of_row ? std::optional(predicted) : std::nullopt;
}

}  // namespace

std::optional<TargetChoice> pool_target_of(const JoinedExplanations& subject, const Context& context) {
  const Targets& targets = subject.targets;
  if (targets.of_row.empty()) return {};
  const std::string& said = subject.explanations.provenance.target;
  if (targets.predicted) {
    if (!subject.rows->model->info().class_names.empty()) return TargetChoice{true, 0};
    fail_input(fmt::format("{}: it explains the predicted class, and {} has no classes", subject.file,
                           subject.rows->model->info().name));
  }
  if (said.empty()) return guessed_target(subject, context);
  const auto at = std::ranges::find(targets.names, said);
  if (at == targets.names.end()) {
    fail_input(subject.file,
               fmt::format("a target of {}: {}", subject.rows->model->info().name, joined(targets.names, "or")),
               in_quotes(said));
  }
  return TargetChoice{false, static_cast<size_t>(at - targets.names.begin())};
}

std::optional<Targets> pool_targets_of(const JoinedExplanations& subject, const Context& context) {
  const Model& model = *subject.rows->model;
  const MatrixView<const float> rows = subject.rows->pool->x.view();
  if (subject.targets.information) return information_targets(model, rows.rows());
  if (subject.pool_target) return freeze_targets(model, rows, *subject.pool_target, context);
  if (!subject.pool_given || subject.pool_given->target.empty()) return {};
  return named_targets(subject.pool_file, *subject.pool_given, model, rows);
}

void check_pool(JoinedExplanations& subject, const Context& context) {
  if (!subject.pool_given) return;
  Context quiet = context;
  quiet.progress = nullptr;
  const Explanations& pool = *subject.pool_given;
  check_player_names(subject.pool_file, pool, subject.explanations.features, in_quotes(subject.file));
  check_pool_unit(subject);
  if (subject.rows == nullptr || !subject.rows->pool) {
    if (!pool.target.empty()) check_named_target(subject);
  } else {
    check_explained_rows(subject.pool_file, pool, *subject.rows->pool, kWhichRows);
    if (!pool.target.empty()) {
      const Targets targets = *pool_targets_of(subject, quiet);
      check_pool_targets(subject, targets);
      // The values of an aggregate of antecedents are theirs, not the row's.
      if (pool.combination.antecedents.empty()) {
        const size_t unsaid = check_explained_values(subject.pool_file, pool, *subject.rows->model, *subject.rows->pool,
                                                     targets, "", quiet);
        note_unchecked(subject.pool_file, pool, unsaid, subject.notes);
      }
    }
  }
  note_differences(subject);
}

void join_pool(JoinedExplanations& subject) {
  if (subject.pool_given) {
    subject.pool_explanations.emplace(std::move(subject.pool_given->values));
    return;
  }
  if (subject.rows == nullptr || !subject.rows->pool || !subject.method) return;
  if (!subject.targets.information && !subject.pool_target) return;
  subject.pool_explanations.emplace(
      subject.rows->pool->rows(), subject.players.size(),
      [&subject](std::span<const size_t> rows, const Context& inner) { return made_for_pool(subject, rows, inner); });
}

}  // namespace assay::cli
