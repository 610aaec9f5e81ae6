// Float32 numbers that stand for float64 cells in trees whose library compares doubles, as LightGBM and scikit-learn's
// histogram-based gradient boosting do.
//
// Rows are float32 here. Rounding may carry a cell across a threshold: 0.1 and the next double above it are one float32
// number, and a threshold may lie between the two. So each cell becomes a float32 number that every branch of the trees
// treats as it treats the cell: the nearest one, or its neighbour on the cell's side. If two thresholds lie between the
// same two float32 neighbours, there is none for the cells between the thresholds.
//
// Cost: one search among the thresholds of the feature for each cell that float32 rounds.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "assay/model/trees/ensemble.h"

namespace assay {

class DoubleCells {
 public:
  explicit DoubleCells(const TreeEnsemble& trees);

  // The number that stands for the cell; nothing if there is none. near: the cell rounded to float32.
  std::optional<float> stand_in(size_t feature, double cell, float near) const;

  // Why no number stands for the cell: it names the two thresholds around the cell.
  std::string why_none(size_t feature, double cell) const;

 private:
  // For each feature: branches cut the line of numbers into parts. The last numbers of all parts but the last.
  std::vector<std::vector<double>> ends_;
};

}  // namespace assay
