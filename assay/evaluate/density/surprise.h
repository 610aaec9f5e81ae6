// How surprising explanations are among those of reference rows: what conviction and its conditional form share.
//
// With p the kernel density (kernel_density.h) over the reference rows that are not x itself, for x outside of them and
// among them alike, and m their number,
//   P(x) = share of reference rows z with p(z) <= p(x),   I(x) = -ln P(x),
//   conviction(x) = mean over reference rows z of I(z) / I(x).
// A reference row is x itself when it has the same inputs (same_inputs.h): a row that is in the pool as well does not
// vouch for itself, nor do its copies. Where inputs are not known, it is x itself when it is the same explained row.
// Two forms of the share:
//   smoothed: (number of the m other rows + 1/2) / (m + 1), strictly between 0 and 1, so that I is positive and finite;
//   plain: of all reference rows, x itself included where it is one of them. The most typical row has P = 1, I = 0 and
//          conviction infinity; a row outside the reference that is rarer than all of it has conviction 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/core/options.h"
#include "assay/evaluate/criterion.h"

namespace assay {

inline constexpr std::string_view kTooFewReferences = "fewer than 2 reference explanations";
inline constexpr std::string_view kSameReferences = "all reference explanations are the same";
inline constexpr std::string_view kSameInputs = "all reference rows have the same inputs";
inline constexpr std::string_view kNoSurprise = "all reference explanations are equally typical";  // 0 / 0

struct SurpriseOptions {
  int64_t references = 2000;
  std::string share = "smoothed";

  void describe(OptionVisitor& visit) {
    visit.integer("references", references, "reference rows at most, drawn once by the seed", "rows", 2, 1'000'000);
    visit.choice("share", share, "P of a row: kept within 0 and 1, or the plain share", {"smoothed", "plain"});
  }
};

// The explanations that x is held against: the pool's where there is a pool, else the rows' own.
class ReferenceExplanations {
 public:
  explicit ReferenceExplanations(const EvaluateTask& task);

  bool are_rows() const { return pool_ == nullptr; }
  size_t rows() const { return values().rows(); }
  std::string_view name() const { return are_rows() ? "explained" : "pool"; }
  // `most` of these rows at most, in ascending order, drawn by the seed; the pool's are explained where they are not
  // yet. Rows whose attributions are not all numbers are left out.
  std::vector<size_t> draw(std::span<const size_t> from, size_t most, std::string_view purpose, uint64_t draw,
                           const Context& context) const;
  MatrixView<const float> values() const;
  // The explained rows' and the reference rows' own; null where either is not known.
  const Dataset* row_inputs() const { return row_inputs_; }
  const Dataset* inputs() const { return inputs_; }

 private:
  const Explanations& explanations_;
  PoolExplanations* pool_;
  const Dataset* row_inputs_ = nullptr;
  const Dataset* inputs_ = nullptr;
};

// Writes the conviction of these rows, held against these reference rows; counts the reasons where there is none.
// Returns how many of the rows are themselves among the reference rows.
size_t score_conviction(const Explanations& explanations, std::span<const size_t> rows,
                        const ReferenceExplanations& reference, std::span<const size_t> reference_rows,
                        const SurpriseOptions& options, std::string_view task_name, std::vector<double>& values,
                        UndefinedCounts& undefined, const Context& context);

// Says that `among` rows are in the pool as well, and what becomes of them.
void note_own_references(const ReferenceExplanations& reference, size_t among, Scores& scores);

// Adds the median to the tables: means of convictions are those of the few most typical rows.
void add_median(Scores& scores);

}  // namespace assay
