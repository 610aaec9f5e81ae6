#include "assay/explain/replicates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/error.h"
#include "assay/core/parallel.h"
#include "assay/core/random.h"
#include "assay/core/table_text.h"
#include "assay/explain/methods.h"
#include "assay/explain/target.h"

namespace assay {
namespace {

constexpr size_t kMostGroups = 100;
constexpr size_t kFewestGroups = 3;
constexpr size_t kOtherSeeds = 16;
// Of values that are kept while replicates are made: 64 MiB.
constexpr size_t kMostPartNumbers = size_t{1} << 24;

struct Group {
  size_t begin;
  size_t end;
  size_t size() const { return end - begin; }
};

// Consecutive rows of a background, in groups whose sizes differ by one at most.
std::vector<Group> groups_of_rows(size_t rows) {
  const size_t count = std::min(rows, kMostGroups);
  std::vector<Group> groups;
  for (size_t g = 0; g < count; g++) groups.push_back({g * rows / count, (g + 1) * rows / count});
  return groups;
}

Reference part_of(const Reference& reference, const Group& group) {
  Reference part;
  part.rows = Matrix(group.size(), reference.rows.cols());
  for (size_t i = 0; i < group.size(); i++) {
    std::ranges::copy(reference.rows.row(group.begin + i), part.rows.row(i).begin());
  }
  part.description = reference.description;
  part.scales = reference.scales;
  return part;
}

// A weighted sum of parts: of values against groups of the background, or with other seeds.
struct Term {
  size_t part;
  double weight;
};
// One independent deviation: a sum of parts whose weights add up to 0.
using Direction = std::vector<Term>;

// weights[p] (part p - mean), where the mean of all parts is that with these weights.
std::vector<Direction> around_the_mean(const std::vector<double>& shares, double scale, size_t first) {
  std::vector<Direction> made;
  for (size_t g = 0; g < shares.size(); g++) {
    Direction each;
    for (size_t p = 0; p < shares.size(); p++) {
      const double weight = scale * shares[g] * ((p == g ? 1 : 0) - shares[p]);
      each.push_back({first + p, weight});
    }
    made.push_back(std::move(each));
  }
  return made;
}

std::vector<Direction> second_differences(const std::vector<Group>& groups, double correction) {
  const auto count = static_cast<double>(groups.size());
  const auto rows = static_cast<double>(groups.back().end);
  const auto inverse = [&](size_t g) { return 1 / static_cast<double>(groups[g].size()); };
  std::vector<Direction> made;
  for (size_t i = 0; i + 2 < groups.size(); i++) {
    // The variance of the difference, over that of a row's value; 6 count / rows for groups of equal size.
    const double variance = inverse(i) + 4 * inverse(i + 1) + inverse(i + 2);
    const double scale = correction / std::sqrt(variance * rows * (count - 2));
    made.push_back({{i, scale}, {i + 1, -2 * scale}, {i + 2, scale}});
  }
  return made;
}

std::vector<Direction> background_directions(const Reference& reference, const std::vector<Group>& groups) {
  const auto rows = static_cast<double>(reference.rows.rows());
  const auto count = static_cast<double>(groups.size());
  const double correction = std::sqrt(std::max(0.0, 1 - rows / static_cast<double>(reference.drawn_from)));
  if (reference.strata) return second_differences(groups, correction);
  std::vector<double> shares;
  for (const Group& group : groups) shares.push_back(static_cast<double>(group.size()) / rows);
  return around_the_mean(shares, correction * std::sqrt(count / (count - 1)), 0);
}

uint64_t other_seed(uint64_t seed, size_t which) {
  return RandomStream(seed, "another seed of a method", which).bits64();
}

// What is explained again, and how replicates are made of it. Groups of the background come first.
struct Plan {
  std::vector<Group> groups;
  size_t seeds = 0;
  std::vector<Direction> background;
  std::vector<Direction> sampling;

  size_t parts() const { return groups.size() + seeds; }
};

Plan plan_for(const Explanations& made, const Subject& subject) {
  Plan plan;
  const Reference* reference = subject.reference;
  if (made.provenance.draw == kDrawnBackground && reference->rows.rows() >= kFewestGroups) {
    plan.groups = groups_of_rows(reference->rows.rows());
    plan.background = background_directions(*reference, plan.groups);
  }
  if (has_sampling_error(made)) {
    plan.seeds = kOtherSeeds;
    const std::vector<double> shares(kOtherSeeds, 1.0 / kOtherSeeds);
    const double scale = kOtherSeeds / std::sqrt(kOtherSeeds - 1.0);
    plan.sampling = around_the_mean(shares, scale, plan.groups.size());
  }
  return plan;
}

// draws[c][i]: the standard normal number of replicate c and direction i.
std::vector<double> normal_draws(uint64_t seed, std::string_view purpose, size_t count, size_t directions) {
  std::vector<double> draws;
  draws.reserve(count * directions);
  for (size_t c = 0; c < count; c++) {
    RandomStream stream(seed, purpose, c);
    for (size_t i = 0; i < directions; i++) draws.push_back(stream.normal());
  }
  return draws;
}

// By replicate, what each part weighs in it.
std::vector<double> part_weights(const Plan& plan, size_t count, uint64_t seed) {
  std::vector<double> weights(count * plan.parts(), 0.0);
  const auto add = [&](const std::vector<Direction>& directions, std::string_view purpose) {
    const std::vector<double> draws = normal_draws(seed, purpose, count, directions.size());
    for (size_t c = 0; c < count; c++) {
      for (size_t i = 0; i < directions.size(); i++) {
        for (const Term& term : directions[i]) {
          weights[c * plan.parts() + term.part] += draws[c * directions.size() + i] * term.weight;
        }
      }
    }
  };
  add(plan.background, "replicates of a background");
  add(plan.sampling, "replicates of a sampled method");
  return weights;
}

// Explains some of the rows against each part.
class Parts {
 public:
  Parts(const Spec& method, const Subject& subject, const Plan& plan, const Context& context)
      : method_(method), subject_(subject), plan_(plan), context_(context) {
    for (const Group& group : plan.groups) references_.push_back(part_of(*subject.reference, group));
  }

  // The values of rows begin .. end - 1 by each part. done(): called after each part.
  std::vector<Matrix> explain_rows(size_t begin, size_t end, uint64_t& evaluations, ProgressScope& progress) const {
    const ExplainTask whole = explain_task_of(subject_);
    const Targets targets = slice_targets(whole.targets, begin, end);
    const auto names = whole.row_names.empty() ? whole.row_names : whole.row_names.subspan(begin, end - begin);
    std::vector<Matrix> made;
    for (size_t p = 0; p < plan_.parts(); p++) {
      const bool of_background = p < plan_.groups.size();
      Context context = context_.quiet();
      if (!of_background) context.seed = other_seed(context.seed, p - plan_.groups.size());
      Explanations found =
          explain(method_,
                  {whole.model, whole.rows.rows_between(begin, end), targets,
                   of_background ? references_[p] : whole.reference, whole.players, names, whole.column_names},
                  context);
      evaluations += found.evaluations;
      made.push_back(std::move(found.values));
      progress.advance(end - begin);
    }
    return made;
  }

 private:
  const Spec& method_;
  const Subject& subject_;
  const Plan& plan_;
  const Context& context_;
  std::vector<Reference> references_;
};

// Deviations are summed over parts less the first one: their weights add up to 0, and values that no part changes have
// replicates without rounding.
void fill_row(std::span<const float> centre, const std::vector<Matrix>& parts, size_t row,
              std::span<const double> weights, std::vector<double>& differences, std::span<float> replicates) {
  const size_t players = centre.size();
  const size_t count = replicates.size() / players;
  differences.resize(parts.size() * players);
  for (size_t p = 0; p < parts.size(); p++) {
    for (size_t j = 0; j < players; j++) {
      differences[p * players + j] = static_cast<double>(parts[p](row, j)) - static_cast<double>(parts[0](row, j));
    }
  }
  std::vector<double> sums(players);
  for (size_t c = 0; c < count; c++) {
    std::ranges::copy(centre, sums.begin());
    for (size_t p = 0; p < parts.size(); p++) {
      const double weight = weights[c * parts.size() + p];
      for (size_t j = 0; j < players; j++) sums[j] += weight * differences[p * players + j];
    }
    std::ranges::transform(sums, replicates.begin() + static_cast<ptrdiff_t>(c * players),
                           [](double sum) { return static_cast<float>(sum); });
  }
}

void add_replicates(const Spec& method, const Subject& subject, size_t count, Explanations& made,
                    const Context& context) {
  const Plan plan = plan_for(made, subject);
  if (made.provenance.draw == kDrawnBackground && plan.groups.empty()) {
    made.notes.push_back(fmt::format(
        "no replicates: a background of {} that {} drawn does not show how far another draw would differ; {} rows do",
        plural(subject.reference->rows.rows(), "row"), subject.reference->rows.rows() == 1 ? "was" : "were",
        kFewestGroups));
    return;
  }
  if (plan.parts() == 0) return;
  const size_t rows = made.rows();
  const size_t players = made.players();
  const std::vector<double> weights = part_weights(plan, count, context.seed);
  const Parts parts(method, subject, plan, context);
  const size_t block = std::clamp<size_t>(kMostPartNumbers / (plan.parts() * players), 1, rows);
  made.replicates = Matrix(rows, count * players);
  ProgressScope progress(context, "replicates", rows * plan.parts());
  for (size_t begin = 0; begin < rows; begin += block) {
    const size_t end = std::min(begin + block, rows);
    const std::vector<Matrix> found = parts.explain_rows(begin, end, made.evaluations, progress);
    parallel_blocks(context.quiet(), end - begin, 1, [&](const Block& each) {
      std::vector<double> differences;
      fill_row(made.values.row(begin + each.begin), found, each.begin, weights, differences,
               made.replicates.row(begin + each.begin));
    });
  }
}

}  // namespace

void check_replicates(size_t count, size_t rows, size_t players) {
  if (count == 0 || rows == 0 || players == 0) return;
  const size_t most = kMostReplicateNumbers / players / rows;
  if (count <= most) return;
  fail_argument("replicates",
                fmt::format(": expected at most {} for {} and {}, so that they take at most 256 MB of "
                            "memory, found {}",
                            with_commas(most), plural(rows, "row"), plural(players, "feature"), with_commas(count)));
}

bool has_sampling_error(const Explanations& explanations) {
  return std::ranges::any_of(explanations.standard_error.values(), [](float error) { return error != 0; });
}

size_t usual_replicates(size_t rows, size_t players) {
  return std::min(kUsualReplicates, kMostReplicateNumbers / std::max<size_t>(rows * players, 1));
}

Explanations explain_with_replicates(const Spec& method, const Subject& subject, size_t count, const Context& context) {
  // Before any work, where there will be replicates.
  const MethodInfo& info = find_method(method.name);
  const bool drawn = subject.reference != nullptr && subject.reference->is_draw() && info.uses_reference;
  if (drawn || info.sampled) check_replicates(count, subject.rows->rows(), subject.players->size());
  Explanations made = explain(method, subject, context);
  if (count > 0) add_replicates(method, subject, count, made, context);
  return made;
}

}  // namespace assay
