#include "assay/aggregate/members.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/evaluate/common.h"
#include "assay/evaluate/joining/explained_values.h"
#include "assay/evaluate/joining/explanation_checks.h"

namespace assay {
namespace {

// What float32 leaves of a difference of 0, beside the values it is of: two units in the last place, as
// Game::rounding() has it.
constexpr double kRounding32 = 2.5e-7;

// NaN stays away: such rows are undefined anyway.
double largest_size(std::span<const float> values) {
  double largest = 0;
  for (const float value : values) {
    if (!std::isfinite(value)) return NAN;
    largest = std::max(largest, std::abs(static_cast<double>(value)));
  }
  return largest;
}

// Each row's output, or base, as this member says it, else as the first one does that says it.
std::vector<double> said_of_rows(const AggregateTask& task, const Explanations& member,
                                 std::vector<double> Explanations::* field) {
  std::vector<double> made = member.*field;
  for (const Explanations* other : task.members) {
    for (size_t r = 0; r < made.size(); r++) {
      if (!std::isfinite(made[r])) made[r] = (other->*field)[r];
    }
  }
  return made;
}

// The same rows, players, targets, unit and explained values, where both members say them.
void check_pair(const std::string& first, const Explanations& a, const std::string& second, const Explanations& b) {
  check_explained_alike(second, b, first, a);
  const std::string& unit = a.provenance.unit;
  const std::string& other = b.provenance.unit;
  if (!unit.empty() && !other.empty() && unit != other) {
    fail_input(second, fmt::format("explanations in the unit {}, as in {}", unit, in_quotes(first)), other);
  }
  check_same_outputs(second, b, first, a);
}

void expect(std::string_view what, size_t found, size_t expected) {
  if (found == expected) return;
  fail_input(fmt::format("the members: expected {} {}, found {}", expected, what, found));
}

void check_task(const AggregateTask& task, size_t rows, size_t players) {
  if (rows == 0) fail_input("there are no rows to aggregate");
  if (task.subject.rows != nullptr) expect("rows, as many as there are explained", rows, task.subject.rows->rows());
  if (task.subject.players != nullptr) expect("columns, one for each player", players, task.subject.players->size());
  if (task.subject.targets != nullptr) expect("targets, one for each row", task.subject.targets->of_row.size(), rows);
  if (!task.subject.in_pool.empty()) expect("own rows, one for each row", task.subject.in_pool.size(), rows);
  if (task.subject.pool == nullptr) return;
  if (task.subject.rows != nullptr)
    expect("columns in the pool's rows", task.subject.pool->x.cols(), task.subject.rows->x.cols());
  if (task.subject.pool_targets != nullptr) {
    expect("targets, one for each row of the pool", task.subject.pool_targets->of_row.size(),
           task.subject.pool->rows());
  }
  if (!task.pool_members.empty()) {
    expect("explanations of the pool, one for each member", task.pool_members.size(), task.members.size());
  }
  for (const PoolExplanations* member : task.pool_members) {
    expect("rows in the pool's explanations, one for each of its rows", member->rows(), task.subject.pool->rows());
    expect("columns in the pool's explanations", member->players(), players);
  }
}

// A note where two members say different things of where they are from.
void note_difference(const AggregateTask& task, const std::vector<std::string>& names, std::string_view what,
                     std::string Provenance::* field, std::vector<std::string>& notes) {
  const std::string* known = nullptr;
  size_t first = 0;
  for (size_t j = 0; j < task.members.size(); j++) {
    const std::string& said = task.members[j]->provenance.*field;
    if (said.empty()) continue;
    if (known == nullptr) {
      known = &said;
      first = j;
    } else if (*known != said) {
      notes.push_back(fmt::format("{} is of another {} ({}) than {} ({})", names[j], what, in_quotes(said),
                                  names[first], in_quotes(*known)));
    }
  }
}

std::string shared_or_nothing(const std::string& own, const std::string& other) {
  return own == other ? own : std::string();
}

}  // namespace

Members::Members(const AggregateTask& task, bool unit) : finite_(task.rows(), true) {
  for (const Explanations* member : task.members) {
    Matrix& values = values_.emplace_back(member->values);
    if (unit) {
      clear_rounding(values.view(), said_of_rows(task, *member, &Explanations::output),
                     said_of_rows(task, *member, &Explanations::base));
    }
    std::vector<bool>& zero = zero_.emplace_back(values.rows());
    for (size_t r = 0; r < values.rows(); r++) {
      zero[r] = all_zero(values.row(r));
      if (!all_finite(values.row(r))) finite_[r] = false;
    }
    if (unit) scale_to_unit_norm(values.view());
  }
}

void clear_rounding(MatrixView<float> values, std::span<const double> output, std::span<const double> base) {
  if (output.empty() || base.empty()) return;
  for (size_t r = 0; r < values.rows(); r++) {
    const double rounding = kRounding32 * std::max(std::abs(output[r]), std::abs(base[r]));
    // Also false where one is not known (NaN).
    const bool nothing_to_explain = std::abs(output[r] - base[r]) <= rounding;
    if (nothing_to_explain && largest_size(values.row(r)) <= rounding) std::ranges::fill(values.row(r), 0.0F);
  }
}

PoolOutputs::PoolOutputs(const AggregateTask& task)
    : model_(task.subject.model),
      pool_(task.subject.pool),
      targets_(task.subject.pool_targets),
      reference_(task.subject.reference) {}

bool PoolOutputs::known() const {
  return model_ != nullptr && pool_ != nullptr && targets_ != nullptr && reference_ != nullptr &&
         reference_->rows.rows() > 0;
}

PoolOutputs::Values PoolOutputs::of(std::span<const size_t> rows, const Context& context) const {
  if (!known()) return {};
  std::call_once(once_, [&] { of_reference_ = reference_outputs(*model_, *reference_, context); });
  const Dataset data = select_rows(*pool_, {rows.begin(), rows.end()});
  const Targets targets = select_targets(*targets_, rows);
  const ValueFunction value(*model_, data.x.view(), targets, context);
  Values made{explained_values(*model_, data, targets, context), {}};
  std::vector<float> scratch(of_reference_.rows());
  for (size_t r = 0; r < rows.size(); r++) made.base.push_back(base_value(value, r, of_reference_, scratch));
  return made;
}

bool says_base(const Explanations& member) {
  return std::ranges::any_of(member.base, [](double base) { return std::isfinite(base); });
}

void check_members(const AggregateTask& task) {
  if (task.members.empty()) {
    if (task.subject.rows == nullptr || task.subject.players == nullptr || task.subject.targets == nullptr ||
        task.subject.model == nullptr) {
      fail_input("there is no explanation to aggregate");
    }
    check_task(task, task.subject.rows->rows(), task.subject.players->size());
    return;
  }
  const std::vector<std::string> names = member_names(task);
  for (size_t j = 0; j < task.members.size(); j++) {
    // Each against all before it: what one does not say, another may.
    for (size_t i = 0; i < j; i++) check_pair(names[i], *task.members[i], names[j], *task.members[j]);
  }
  check_task(task, task.members[0]->rows(), task.members[0]->players());
}

std::vector<std::string> member_names(const AggregateTask& task) {
  if (task.names.size() == task.members.size()) return {task.names.begin(), task.names.end()};
  std::vector<std::string> names;
  for (size_t j = 0; j < task.members.size(); j++) {
    const std::string& method = task.members[j]->provenance.method;
    names.push_back(method.empty() ? fmt::format("member {}", j + 1) : method);
  }
  return names;
}

void fill_frame(std::span<const Explanations* const> members, Explanations& made) {
  made.features = members[0]->features;
  bool named = are_names(members[0]->features);
  for (const Explanations* member : members) {
    if (!named && are_names(member->features)) {
      made.features = member->features;
      named = true;
    }
    if (made.columns.empty()) made.columns = member->columns;
    if (made.target.empty() && !member->target.empty()) {
      made.target = member->target;
      made.target_names = member->target_names;
    }
    if (made.ids.empty() && !member->ids.empty()) {
      made.ids = member->ids;
      made.id_name = member->id_name;
      made.row_numbers = member->row_numbers;
    }
  }
}

void keep_shared(const Provenance& other, Provenance& shared) {
  shared.unit = shared_or_nothing(shared.unit, other.unit);
  shared.target = shared_or_nothing(shared.target, other.target);
  shared.model = shared_or_nothing(shared.model, other.model);
  shared.data = shared_or_nothing(shared.data, other.data);
  shared.part = shared_or_nothing(shared.part, other.part);
  shared.players = shared_or_nothing(shared.players, other.players);
  shared.reference = shared_or_nothing(shared.reference, other.reference);
}

void note_members(const AggregateTask& task, const Members& members, Explanations& made) {
  if (made.combination.relative) made.notes.emplace_back("relative, does not add up to the score");
  const std::vector<std::string> names = member_names(task);
  note_difference(task, names, "model", &Provenance::model, made.notes);
  note_difference(task, names, "table", &Provenance::data, made.notes);
  for (size_t j = 0; j < members.size(); j++) {
    size_t zero = 0;
    size_t rounded = 0;
    for (size_t r = 0; r < members.rows(); r++) {
      if (!members.zero(j, r)) continue;
      (all_zero(task.members[j]->values.row(r)) ? zero : rounded)++;
    }
    if (zero > 0) made.notes.push_back(fmt::format("{} of {} rows of {} are all zero", zero, members.rows(), names[j]));
    if (rounded > 0) {
      made.notes.push_back(fmt::format("{} of {} rows of {} are zero up to rounding, and taken for all zero", rounded,
                                       members.rows(), names[j]));
    }
  }
}

}  // namespace assay
