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
  // Of each column: its standard deviation over the pool, 0 for categories. Empty when there was no pool. Methods that
  // add noise (smooth_grad) take their unit from it.
  std::vector<float> scales = {};

  bool is_background() const { return rows.rows() > 1; }
};

// A baseline by name: zero (zero in raw units, through the model's encoder where it has one), mean, median (of the
// pool; mode for categories), neutral (the pool row of least confident prediction). pool may be null for zero alone; an
// input error says what is missing.
Reference named_baseline(std::string_view name, const Dataset* pool, const Model& model, const Encoder* encoder,
                         const Context& context);
// A row the user gives, encoded like the rows: `given` must hold exactly one, as wide as the model's features.
Reference given_baseline_reference(const Dataset& given, const Dataset* pool, const Model& model);
// `count` rows of the pool, drawn without replacement by the context's seed.
Reference pool_background(const Dataset& pool, size_t count, const Model& model, const Context& context);
// All rows of a table that the user gives.
Reference given_background(const Dataset& given, const Dataset* pool, const Model& model);

// What users say. baseline: zero, mean, median, neutral or a file of one row; background: "pool:100" (so many rows of
// the pool) or a file. Nothing said: the mean of the pool.
struct ReferenceWords {
  std::string baseline = {};
  std::string background = {};
};
// An input error when both are said, or when what is said needs a pool and there is none. `needed`: whether the method
// uses a reference; for one that does not, nothing said and no pool is a reference without rows. `open` reads a file as
// rows for the model.
Reference choose_reference(const ReferenceWords& words, bool needed, const Dataset* pool, const Model& model,
                           const Encoder* encoder, const std::function<Dataset(const std::string&)>& open,
                           const Context& context);

}  // namespace assay
