#include "assay/evaluate/common.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "assay/core/error.h"
#include "assay/core/parallel.h"
#include "assay/core/rank_pairs.h"
#include "assay/core/text.h"
#include "assay/explain/target.h"

namespace assay {
namespace {

// Rows and outputs of one batch stay within this many numbers, unless one row is larger.
constexpr size_t kNumbersPerBatch = size_t{1} << 21;
// Rows that one thread fills at a time.
constexpr size_t kBatchRowsPerTask = 32;

template <class Key>
std::vector<uint32_t> decreasing(std::span<const float> values, const Key& key) {
  std::vector<uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, [&](uint32_t a, uint32_t b) { return key(values[a]) > key(values[b]); });
  return order;
}

double cosine_distance(std::span<const float> a, std::span<const float> b) {
  double product = 0;
  double norm_a = 0;
  double norm_b = 0;
  for (size_t i = 0; i < a.size(); i++) {
    product += static_cast<double>(a[i]) * b[i];
    norm_a += static_cast<double>(a[i]) * a[i];
    norm_b += static_cast<double>(b[i]) * b[i];
  }
  if (norm_a == 0 && norm_b == 0) return 0;
  if (norm_a == 0 || norm_b == 0) return NAN;
  return 1 - std::clamp(product / (std::sqrt(norm_a) * std::sqrt(norm_b)), -1.0, 1.0);
}

// Beyond this many players sorting is quicker than looking at all pairs.
constexpr size_t kFewPlayers = 48;

double kendall_distance(std::span<const float> a, std::span<const float> b) {
  if (a.size() < 2) return 0;
  const auto n = static_cast<double>(a.size());
  if (a.size() > kFewPlayers) {
    const auto sizes = [](std::span<const float> values) {
      std::vector<double> made(values.size());
      std::ranges::transform(values, made.begin(), [](float v) { return std::abs(v); });
      return made;
    };
    const RankPairs found = count_rank_pairs(sizes(a), sizes(b));
    const auto tied_in_one = static_cast<double>(found.tied_a + found.tied_b - 2 * found.tied_both);
    return (static_cast<double>(found.apart) + 0.5 * tied_in_one) / (n * (n - 1) / 2);
  }
  double apart = 0;
  for (size_t i = 1; i < a.size(); i++) {
    const float ai = std::abs(a[i]);
    const float bi = std::abs(b[i]);
    for (size_t j = 0; j < i; j++) {
      const float aj = std::abs(a[j]);
      const float bj = std::abs(b[j]);
      const int in_a = (ai > aj) - (ai < aj);
      const int in_b = (bi > bj) - (bi < bj);
      apart += 0.5 * std::abs(in_a - in_b);
    }
  }
  return apart / (n * (n - 1) / 2);
}

}  // namespace

bool all_finite(std::span<const float> values) {
  return std::ranges::all_of(values, [](float v) { return std::isfinite(v); });
}

void count_undefined(const Matrix& attributions, Scores& scores) {
  UndefinedCounts undefined;
  for (size_t r = 0; r < attributions.rows(); r++) {
    if (std::isnan(scores.values[r])) undefined.add(all_finite(attributions.row(r)) ? kAllZero : kNotFinite);
  }
  scores.undefined = undefined.take();
}

std::optional<Refusal> refuses_one_player(const EvaluateTask& task) {
  const size_t players = task.explanations.players();
  if (players < 2) return fmt::format("needs two players or more, and there is {}", players);
  return {};
}

std::optional<Refusal> refuses_regression(const EvaluateTask& task) {
  if (!task.subject.model->info().class_names.empty()) return {};
  return "needs classes, and the model gives values of a regression";
}

bool all_zero(std::span<const float> values) {
  return std::ranges::all_of(values, [](float v) { return v == 0; });
}

std::vector<uint32_t> strongest_first(std::span<const float> values) {
  return decreasing(values, [](float v) { return std::abs(v); });
}

std::vector<uint32_t> largest_first(std::span<const float> values) {
  return decreasing(values, [](float v) { return v; });
}

std::vector<double> ranks_of(std::span<const double> values) {
  std::vector<uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, [&](uint32_t a, uint32_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) end++;
    const double rank = (static_cast<double>(begin + 1) + static_cast<double>(end)) / 2;
    for (size_t i = begin; i < end; i++) ranks[order[i]] = rank;
    begin = end;
  }
  return ranks;
}

const std::vector<std::string>& explanation_distance_names() {
  static const std::vector<std::string> names = {"l1", "l2", "l0", "cosine", "kendall"};
  return names;
}

ExplanationDistance explanation_distance(std::string_view name) {
  const auto& names = explanation_distance_names();
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) fail_input("distance", joined(names, "or"), in_quotes(name));
  return static_cast<ExplanationDistance>(found - names.begin());
}

double distance_between(ExplanationDistance distance, std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  switch (distance) {
    case ExplanationDistance::l1:
      for (size_t i = 0; i < a.size(); i++) sum += std::abs(static_cast<double>(a[i]) - b[i]);
      return sum;
    case ExplanationDistance::l2:
      for (size_t i = 0; i < a.size(); i++) {
        const double apart = static_cast<double>(a[i]) - b[i];
        sum += apart * apart;
      }
      return std::sqrt(sum);
    case ExplanationDistance::l0:
      for (size_t i = 0; i < a.size(); i++) sum += a[i] != b[i] ? 1 : 0;
      return sum;
    case ExplanationDistance::cosine: return cosine_distance(a, b);
    case ExplanationDistance::kendall: return kendall_distance(a, b);
  }
  return NAN;
}

size_t scale_to_unit_norm(MatrixView<float> rows) {
  size_t zeros = 0;
  for (size_t r = 0; r < rows.rows(); r++) {
    const std::span<float> row = rows.row(r);
    double squares = 0;
    for (const float v : row) squares += static_cast<double>(v) * v;
    if (squares == 0) {
      zeros++;
      continue;
    }
    const double norm = std::sqrt(squares);
    for (float& v : row) v = static_cast<float>(v / norm);
  }
  return zeros;
}

Matrix prepared(MatrixView<const float> values, const ComparisonOptions& options) {
  Matrix copy(values.rows(), values.cols());
  for (size_t r = 0; r < values.rows(); r++) std::ranges::copy(values.row(r), copy.row(r).begin());
  if (options.normalise == "unit") scale_to_unit_norm(copy.view());
  return copy;
}

std::vector<uint32_t> predicted_classes(const Model& model, MatrixView<const float> rows, const Context& context) {
  std::vector<uint32_t> classes(rows.rows(), 0);
  if (model.info().class_names.empty()) return classes;
  predict_made_rows(
      model, rows.rows(), [&](size_t i, std::span<float> row) { std::ranges::copy(rows.row(i), row.begin()); },
      [&](size_t i, std::span<const float> outputs) {
        classes[i] = static_cast<uint32_t>(predicted_class(model.info(), outputs));
      },
      context);
  return classes;
}

void predict_made_rows(const Model& model, size_t count,
                       const std::function<void(size_t i, std::span<float> row)>& fill,
                       const std::function<void(size_t i, std::span<const float> outputs)>& take,
                       const Context& context, std::string_view task) {
  const ModelInfo& info = model.info();
  const size_t width = info.features() + info.outputs();
  const size_t batch = std::clamp<size_t>(kNumbersPerBatch / std::max<size_t>(width, 1), 1, std::max<size_t>(count, 1));
  Matrix rows(std::min(batch, count), info.features());
  Matrix outputs(rows.rows(), info.outputs());
  const Context inner = context.quiet();
  ProgressScope progress(task.empty() ? inner : context, task, count);
  for (size_t first = 0; first < count; first += batch) {
    const size_t here = std::min(batch, count - first);
    parallel_blocks(inner, here, kBatchRowsPerTask, [&](const Block& block) {
      for (size_t i = block.begin; i < block.end; i++) fill(first + i, rows.row(i));
    });
    model.predict(rows.view().rows_between(0, here), outputs.view().rows_between(0, here), inner);
    parallel_blocks(inner, here, kBatchRowsPerTask, [&](const Block& block) {
      for (size_t i = block.begin; i < block.end; i++) take(first + i, outputs.row(i));
    });
    progress.advance(here);
  }
}

void mask_row(const Players& players, std::span<const float> x, std::span<const float> reference,
              std::span<const uint8_t> kept, std::span<float> row) {
  for (size_t c = 0; c < x.size(); c++) row[c] = kept[players.of_column[c]] != 0 ? x[c] : reference[c];
}

}  // namespace assay
