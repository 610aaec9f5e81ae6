#include "assay/aggregate/common.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "assay/core/parallel.h"
#include "assay/evaluate/common.h"

namespace assay {

void each_row(const Members& members, Combined& out, const Context& context, std::string_view task,
              const std::function<std::string_view(const MemberRow&)>& body) {
  const size_t rows = members.rows();
  const size_t players = members.players();
  std::vector<std::string_view> reasons(rows);
  // Rows of few players take less time than handing them out.
  const size_t at_a_time = std::max<size_t>(1, 256 / std::max<size_t>(1, players));
  parallel_blocks(
      context, rows, at_a_time,
      [&](const Block& block) {
        Matrix64 values(members.size(), players);
        std::vector<size_t> nonzero;
        for (size_t r = block.begin; r < block.end; r++) {
          if (!members.finite(r)) {
            reasons[r] = kNotFinite;
            continue;
          }
          nonzero.clear();
          for (size_t j = 0; j < members.size(); j++) {
            std::ranges::copy(members.of(j, r), values.row(j).begin());
            if (!members.zero(j, r)) nonzero.push_back(j);
          }
          reasons[r] = body({r, values.view(), nonzero});
          if (!reasons[r].empty()) std::ranges::fill(out.values.row(r), std::numeric_limits<float>::quiet_NaN());
        }
      },
      task);
  for (const std::string_view reason : reasons) {
    if (!reason.empty()) out.undefined.add(reason);
  }
}

void mean_of(MatrixView<const double> rows, std::span<double> mean) {
  std::ranges::fill(mean, 0.0);
  for (size_t j = 0; j < rows.rows(); j++) {
    const auto row = rows.row(j);
    for (size_t p = 0; p < mean.size(); p++) mean[p] += row[p];
  }
  for (double& each : mean) each /= static_cast<double>(rows.rows());
}

double l2_norm(std::span<const double> values) {
  double squares = 0;
  for (const double each : values) squares += each * each;
  return std::sqrt(squares);
}

void store_row(std::span<const double> values, std::span<float> out) {
  for (size_t p = 0; p < out.size(); p++) out[p] = static_cast<float>(values[p]);
}

void share_weights(std::span<const double> weights, size_t rows, Combined& out) {
  out.weights = Matrix(rows, weights.size());
  for (size_t r = 0; r < rows; r++) store_row(weights, out.weights.row(r));
}

EvaluateTask evaluate_task(const AggregateTask& task, const Explanations& explanations,
                           PoolExplanations* pool_explanations) {
  return {.explanations = explanations, .subject = task.subject, .pool_explanations = pool_explanations};
}

}  // namespace assay
