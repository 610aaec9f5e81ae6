#include "assay/study/member_choice.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "assay/core/error.h"
#include "assay/evaluate/criteria.h"
#include "assay/evaluate/subsets/subset_values.h"
#include "assay/explain/methods.h"
#include "assay/study/advice.h"

namespace assay {
namespace {

constexpr size_t kMostTriedRows = 60;
constexpr size_t kLeastTriedRows = 10;
constexpr size_t kLeastMembers = 2;
constexpr size_t kTriedBytes = size_t{256} << 20;

// Rows of the pool that are not studied, evenly spread over it.
std::vector<size_t> unstudied_rows(const Subject& subject) {
  std::vector<size_t> free;
  for (size_t r = 0; r < subject.pool->rows(); ++r) {
    if (std::ranges::find(subject.in_pool, r) == subject.in_pool.end()) free.push_back(r);
  }
  const size_t wanted = rows_that_choose_members(subject.rows->rows(), free.size());
  if (free.size() == wanted) return free;
  std::vector<size_t> spread;
  for (size_t i = 0; i < wanted; ++i) spread.push_back(free[(2 * i + 1) * free.size() / (2 * wanted)]);
  return spread;
}

struct TriedMethod {
  size_t method = 0;
  Explanations explanations;
  double mean = NAN;  // faithfulness
};

std::vector<TriedMethod> tried_on(const Subject& rows, std::span<const Spec> methods, const Spec& faithfulness,
                                  const Context& context) {
  std::vector<TriedMethod> tried;
  SubsetValues shared(kTriedBytes);
  for (size_t m = 0; m < methods.size(); ++m) {
    context.check_cancelled();
    try {
      TriedMethod one{m, explain(methods[m], rows, context)};
      const EvaluateTask task{.explanations = one.explanations, .subject = rows, .subset_values = &shared};
      one.mean = evaluate(faithfulness, task, {.draws = 0}, context).mean;
      if (std::isfinite(one.mean)) tried.push_back(std::move(one));
    } catch (const Error& problem) {
      // Such rows of the pool have no number from the model, or a method cannot explain them: it is not chosen.
      if (problem.kind() == ErrorKind::cancelled) throw;
    }
  }
  std::ranges::stable_sort(tried, std::greater<>(), &TriedMethod::mean);
  return tried;
}

}  // namespace

size_t rows_that_choose_members(size_t rows, size_t pool) {
  return std::min(std::clamp(rows / 4, kLeastTriedRows, kMostTriedRows), pool);
}

std::vector<size_t> faithful_members(const Subject& subject, std::span<const Spec> methods, const Spec& faithfulness,
                                     double margin, const Context& context) {
  if (subject.pool == nullptr || subject.pool_targets == nullptr) return {};
  const std::vector<size_t> chosen = unstudied_rows(subject);
  if (chosen.size() < kLeastTriedRows) return {};
  const Dataset data = select_rows(*subject.pool, chosen);
  const Targets targets = select_targets(*subject.pool_targets, chosen);
  Subject rows = subject;
  rows.rows = &data;
  rows.targets = &targets;
  rows.in_pool = {};
  const std::vector<TriedMethod> tried = tried_on(rows, methods, faithfulness, context.quiet());
  if (tried.empty()) return {};
  std::vector<const TriedMethod*> kept;
  for (const TriedMethod& one : tried) {
    const bool same = std::ranges::any_of(
        kept, [&](const TriedMethod* other) { return same_directions(other->explanations, one.explanations); });
    const bool faithful = one.mean >= tried[0].mean - margin || kept.size() < kLeastMembers;
    if (faithful && !same) kept.push_back(&one);
  }
  std::vector<size_t> members;
  for (const TriedMethod* one : kept) members.push_back(one->method);
  std::ranges::sort(members);
  return members;
}

}  // namespace assay
