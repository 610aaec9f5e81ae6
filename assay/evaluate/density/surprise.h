// How surprising an explanation is among those of reference rows: what conviction and conditional conviction share.
//
// With p(x) the kernel density (kernel_density.h) over the reference rows other than x itself, and m their number,
//   P(x) = share of reference rows z with p(z) <= p(x),   I(x) = -ln P(x),
//   conviction(x) = mean over reference rows z of I(z) / I(x).
// A reference row counts as x itself when it has the same inputs (same_inputs.h). So neither a row that is also in the
// pool nor its copies make it look typical. Where inputs are not known, only the same explained row counts as x itself.
// Two forms of the share:
//   smoothed: (number of the m other rows + 1/2) / (m + 1), strictly between 0 and 1, so that I is positive and finite;
//   plain: the share of all reference rows, x itself included if it is one. The most typical row has P = 1, I = 0 and
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
inline constexpr std::string_view kNoSurprise = "all reference explanations are equally typical";

struct SurpriseOptions {
  int64_t references = 2000;
  std::string share = "smoothed";

  void describe(OptionVisitor& visit) {
    visit.integer("references", references, "reference rows at most, drawn once by the seed", "rows", 2, 1'000'000);
    visit.choice("share", share, "P of a row: kept within 0 and 1, or the plain share", {"smoothed", "plain"});
  }
};

// The explanations that x is compared with: those of the pool if there are some, else the explained rows' own.
class ReferenceExplanations {
 public:
  explicit ReferenceExplanations(const EvaluateTask& task);

  bool are_rows() const { return pool_ == nullptr; }
  size_t rows() const { return values().rows(); }
  std::string_view name() const { return are_rows() ? "explained" : "pool"; }
  // Draws at most `most` of these rows by the seed, in ascending order. Explains rows of the pool that are not
  // explained yet. Rows whose attributions are not all numbers are left out.
  std::vector<size_t> draw(std::span<const size_t> from, size_t most, std::string_view purpose, uint64_t draw,
                           const Context& context) const;
  MatrixView<const float> values() const;
  // The inputs of the explained rows and of the reference rows; both null where either is unknown.
  const Dataset* row_inputs() const { return row_inputs_; }
  const Dataset* inputs() const { return inputs_; }

 private:
  const Explanations& explanations_;
  PoolExplanations* pool_;
  const Dataset* row_inputs_ = nullptr;
  const Dataset* inputs_ = nullptr;
};

// Writes the conviction of these rows, compared with these reference rows, to `values`; counts the reasons of undefined
// rows. Returns how many of the rows are themselves among the reference rows.
size_t score_conviction(const Explanations& explanations, std::span<const size_t> rows,
                        const ReferenceExplanations& reference, std::span<const size_t> reference_rows,
                        const SurpriseOptions& options, std::string_view task_name, std::vector<double>& values,
                        UndefinedCounts& undefined, const Context& context);

// Adds a note that `among` rows are also in the pool, and how they are treated.
void note_own_references(const ReferenceExplanations& reference, size_t among, Scores& scores);

// Adds the median to the tables: a few very typical rows dominate the mean.
void add_median(Scores& scores);

}  // namespace assay
