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
#include "assay/evaluate/joining/explained_pool.h"
#include "assay/evaluate/joining/explanation_checks.h"
#include "assay/explain/explainer.h"
#include "cli/terminal.h"

namespace assay::cli {
namespace {

// Compares base values of targets that both have; without such, the descriptions of the references.
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

// The options that `others` does not have with the same value, in words.
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

// Notes on differences that may be intended but change the scores.
void note_differences(JoinedExplanations& explained) {
  const Provenance& own = explained.explanations.provenance;
  const Provenance& pool = explained.pool_given->provenance;
  if (own.method.empty() || pool.method.empty()) return;
  const auto note = [&](std::string_view what, std::string_view found, std::string_view expected) {
    explained.notes.push_back(
        fmt::format("{} was made {} ({}) than {} ({})", explained.pool_file, what, found, explained.file, expected));
  };
  if (own.method != pool.method) {
    note("by another method", short_name(pool.method), short_name(own.method));
  } else if (!std::ranges::is_permutation(own.options, pool.options)) {
    note("with other options", differing(pool.options, own.options), differing(own.options, pool.options));
  }
  const auto has_reference = [](const Provenance& made) { return !made.reference.empty() && made.reference != "none"; };
  if (has_reference(own) && has_reference(pool) && !same_reference(explained.explanations, *explained.pool_given)) {
    note("against another reference", pool.reference, own.reference);
  }
}

}  // namespace

std::optional<TargetChoice> pool_target_of(const JoinedExplanations& explained, const Context& context) {
  const Targets& targets = explained.subject.targets;
  if (targets.of_row.empty()) return {};
  const std::string& said = explained.explanations.provenance.target;
  if (targets.predicted) {
    if (!explained.subject.model->info().class_names.empty()) return TargetChoice{true, 0};
    fail_input(fmt::format("{}: it explains the predicted class, and {} has no classes", explained.file,
                           explained.subject.model->info().name));
  }
  // For files of older versions, which do not say how targets were chosen.
  if (said.empty()) {
    return choice_behind(targets, *explained.subject.model, explained.subject.rows->x.view(), context);
  }
  const auto at = std::ranges::find(targets.names, said);
  if (at == targets.names.end()) {
    fail_input(explained.file,
               fmt::format("a target of {}: {}", explained.subject.model->info().name, joined(targets.names, "or")),
               in_quotes(said));
  }
  return TargetChoice{false, static_cast<size_t>(at - targets.names.begin())};
}

std::optional<Targets> pool_targets_of(const JoinedExplanations& explained, const Context& context) {
  const Model& model = *explained.subject.model;
  const MatrixView<const float> rows = explained.subject.pool->x.view();
  if (explained.subject.targets.information) return information_targets(model, rows.rows());
  if (explained.pool_target) return freeze_targets(model, rows, *explained.pool_target, context);
  if (!explained.pool_given || explained.pool_given->target.empty()) return {};
  return named_targets(explained.pool_file, *explained.pool_given, model, rows);
}

void check_pool(JoinedExplanations& explained, const Context& context) {
  if (!explained.pool_given) return;
  const Context quiet = context.quiet();
  const Explanations& pool = *explained.pool_given;
  std::optional<Targets> targets;
  if (explained.subject.pool != nullptr && !pool.target.empty()) targets = pool_targets_of(explained, quiet);
  const size_t unsaid =
      check_explained_pool({pool, explained.pool_file}, {explained.explanations, in_quotes(explained.file)},
                           explained.subject, targets ? &*targets : nullptr, kWhichRows, quiet);
  note_unchecked(explained.pool_file, pool, unsaid, explained.notes);
  note_differences(explained);
}

void join_pool(JoinedExplanations& explained) {
  if (explained.pool_given) {
    explained.pool_explanations.emplace(std::move(explained.pool_given->values));
    return;
  }
  if (explained.subject.pool == nullptr || !explained.method) return;
  if (!explained.subject.targets.information && !explained.pool_target) return;
  explained.pool_explanations.emplace(explained.subject.pool->rows(), explained.subject.players.size(),
                                      [&explained](std::span<const size_t> rows, const Context& context) {
                                        // Not before: predicted classes take a run of the model on all of the pool.
                                        if (!explained.subject.pool_targets)
                                          explained.subject.pool_targets = pool_targets_of(explained, context);
                                        Context seeded = context;
                                        seeded.seed = explained.explanations.provenance.seed;
                                        return explain_pool_rows(*explained.method, explained.subject.view(), rows,
                                                                 seeded);
                                      });
}

}  // namespace assay::cli
