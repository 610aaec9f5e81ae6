#include "assay/aggregate/antecedents/valuations.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "assay/core/parallel.h"
#include "assay/evaluate/common.h"

namespace assay {
namespace {

constexpr std::string_view kNoAntecedent = "no other row of the pool can be an antecedent";
constexpr std::string_view kUndefinedAntecedent = "an antecedent's attributions are not all numbers";
constexpr float kUndefined = std::numeric_limits<float>::quiet_NaN();

// The sum for one row; returns why there is none. `sum` is scratch.
std::string_view add_up(const Antecedents& antecedents, const Valuations& found, size_t row, std::span<double> sum,
                        Combined& out) {
  const std::span<const Antecedent> own = antecedents.of(row);
  const std::span<const size_t> places = std::span(found.places).subspan(antecedents.first[row], own.size());
  if (own.empty()) return kNoAntecedent;
  for (const size_t place : places) {
    if (!all_finite(found.values.row(place))) return kUndefinedAntecedent;
  }
  const auto weighted = [&](MatrixView<const float> values, std::span<float> into) {
    std::ranges::fill(sum, 0.0);
    for (size_t i = 0; i < own.size(); i++) {
      const auto each = values.row(places[i]);
      for (size_t p = 0; p < sum.size(); p++) sum[p] += own[i].weight * each[p];
    }
    for (size_t p = 0; p < sum.size(); p++) into[p] = static_cast<float>(sum[p]);
  };
  weighted(found.values, out.values.row(row));
  if (!out.standard_error.empty()) weighted(found.error, out.standard_error.row(row));
  if (found.base.empty()) return {};
  out.base[row] = 0;
  out.output[row] = 0;
  for (size_t i = 0; i < own.size(); i++) {
    out.base[row] += own[i].weight * found.base[places[i]];
    out.output[row] += own[i].weight * found.output[places[i]];
  }
  return {};
}

}  // namespace

void list_antecedents(const Antecedents& antecedents, size_t columns, Combined& out) {
  out.weights = Matrix(antecedents.queries(), columns);
  out.antecedents.assign(antecedents.queries() * columns, -1);
  for (size_t r = 0; r < antecedents.queries(); r++) {
    const auto own = antecedents.of(r);
    for (size_t i = 0; i < own.size(); i++) {
      out.weights(r, i) = static_cast<float>(own[i].weight);
      out.antecedents[r * columns + i] = static_cast<int64_t>(own[i].row);
    }
  }
  out.measures.push_back({"reach", antecedents.reach});
}

void add_up_antecedents(const Antecedents& antecedents, const Valuations& found, Combined& out,
                        const Context& context) {
  const size_t rows = antecedents.queries();
  const size_t players = out.values.cols();
  out.base.assign(rows, NAN);
  out.output.assign(rows, NAN);
  if (!found.error.empty()) {
    out.standard_error = Matrix(rows, players);
    std::ranges::fill(out.standard_error.values(), kUndefined);
  }
  std::vector<std::string_view> reasons(rows);
  parallel_blocks(context, rows, std::max<size_t>(1, 4096 / players), [&](const Block& block) {
    std::vector<double> sum(players);
    for (size_t r = block.begin; r < block.end; r++) reasons[r] = add_up(antecedents, found, r, sum, out);
  });
  for (size_t r = 0; r < rows; r++) {
    if (reasons[r].empty()) continue;
    out.undefined.add(reasons[r]);
    std::ranges::fill(out.weights.row(r), kUndefined);
  }
}

}  // namespace assay
