#include "assay/evaluate/pool_explanations.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

namespace assay {

PoolExplanations::PoolExplanations(Matrix given) : values_(std::move(given)), known_(values_.rows(), true) {}

PoolExplanations::PoolExplanations(size_t rows, size_t players, Make make)
    : values_(rows, players), known_(rows, false), make_(std::move(make)) {}

void PoolExplanations::need(std::span<const size_t> rows, const Context& context) {
  std::vector<size_t> missing;
  for (const size_t row : rows) {
    if (!known_[row]) missing.push_back(row);
  }
  if (missing.empty()) return;
  std::ranges::sort(missing);
  missing.erase(std::ranges::unique(missing).begin(), missing.end());
  const Matrix made = make_(missing, context);
  assert(made.rows() == missing.size() && made.cols() == values_.cols());
  for (size_t i = 0; i < missing.size(); i++) {
    std::ranges::copy(made.row(i), values_.row(missing[i]).begin());
    known_[missing[i]] = true;
  }
  explained_ += missing.size();
}

void PoolExplanations::need_all(const Context& context) {
  std::vector<size_t> rows(values_.rows());
  std::iota(rows.begin(), rows.end(), size_t{0});
  need(rows, context);
}

void PoolExplanations::know(std::span<const size_t> rows, MatrixView<const float> values) {
  for (size_t i = 0; i < rows.size(); i++) {
    assert(!known_[rows[i]]);
    known_[rows[i]] = true;
    std::ranges::copy(values.row(i), values_.row(rows[i]).begin());
  }
  explained_ += rows.size();
}

std::vector<size_t> PoolExplanations::known_rows() const {
  std::vector<size_t> rows;
  for (size_t r = 0; r < known_.size(); r++) {
    if (known_[r]) rows.push_back(r);
  }
  return rows;
}

PoolExplanations pool_explanations_by(const Subject& subject, const Spec& method, uint64_t seed) {
  return {subject.pool->rows(), subject.players->size(),
          [subject, method, seed](std::span<const size_t> rows, const Context& context) {
            Context seeded = context;
            seeded.seed = seed;
            return explain_pool_rows(method, subject, rows, seeded);
          }};
}

}  // namespace assay
