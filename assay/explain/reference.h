// What stands for "feature absent": a baseline row, or background rows to average over.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/data/dataset.h"
#include "assay/data/encoder.h"
#include "assay/model/model.h"

namespace assay {

struct Reference {
  Matrix rows;              // one: the baseline; several: the background
  std::string description;  // for users and provenance: "mean of train.csv", "100 rows of train.csv"
  // By column: its standard deviation over the pool, 0 for categories. Empty without a pool. It is the unit of noise
  // for methods that add noise (smooth_grad).
  std::vector<float> scales = {};
  // Whether row i was drawn from the i-th of ordered strata of a pool. Neighbours are then alike, and the error of a
  // mean over the rows is found from them (VectorMoments).
  bool strata = false;
  // How many rows of a pool the rows were drawn from, as a sample that stands for all of them. 0: nothing was drawn.
  // The reference is a fixed baseline, the user's own rows, or the whole pool.
  size_t drawn_from = 0;

  bool is_background() const { return rows.rows() > 1; }
  bool is_draw() const { return drawn_from > 0; }
};

// The description of the baseline of zeros.
inline constexpr std::string_view kZeroBaseline = "zero";

// A sentence on columns of categories or texts that the baseline zero puts at their first one, which nobody chose.
// Empty for other references, and where rows have no such columns.
std::string note_on_zero(const Reference& reference, const Dataset& rows);

// Whether a word is one of the names below; other words are files.
bool is_baseline_name(std::string_view word);

// A baseline by name: zero (0 in raw units, encoded if the model has an encoder), mean or median (of the pool; the mode
// for categories), neutral (the pool row with the least confident prediction). Only zero works without a pool (null);
// else an input error says what is missing.
Reference named_baseline(std::string_view name, const Dataset* pool, const Model& model, const Encoder* encoder,
                         const Context& context);
// A row the user gives, encoded like the rows: `given` must hold exactly one, as wide as the model's features.
Reference given_baseline_reference(const Dataset& given, const Dataset* pool, const Model& model);
// `count` rows of the pool, drawn without replacement by the context's seed.
Reference pool_background(const Dataset& pool, size_t count, const Model& model, const Context& context);
// All rows of a table that the user gives.
Reference given_background(const Dataset& given, const Dataset* pool, const Model& model);

// The user's words. baseline: zero, mean, median, neutral or a file of one row; background: "pool:100" (100 rows of the
// pool), "spread:100" (100 that are spread over its scores) or a file. Both empty: the mean of the pool.
struct ReferenceWords {
  std::string baseline = {};
  std::string background = {};
};
inline constexpr std::string_view kSpreadPrefix = "spread:";
// The number of rows in a word "spread:50" or, without the prefix, in a recorded choice. An input error if there is
// none.
size_t spread_count(std::string_view word);

// An input error when both are given, or when a pool is needed and there is none. `needed`: whether the method uses a
// reference. If not, no words and no pool give a reference without rows. `open` reads a file as rows for the model.
// "spread:N" gives a reference without rows: said_spread_background (spread_background.h) makes it once it is known
// what is explained.
Reference choose_reference(const ReferenceWords& words, bool needed, const Dataset* pool, const Model& model,
                           const Encoder* encoder, const std::function<Dataset(const std::string&)>& open,
                           const Context& context);

}  // namespace assay
