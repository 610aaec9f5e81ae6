// Cells of float64 numbers for trees whose library compares doubles, as LightGBM and scikit-learn's histogram-based
// gradient boosting do.
//
// Rows are float32 here. Rounding may carry a cell across a threshold: 0.1 and the next double above it are one float32
// number, and a threshold may lie between the two. So each cell becomes a float32 number that every branch of the trees
// treats as it treats the cell: the nearest one, or its neighbour on the cell's side. Where two thresholds lie between
// the same two neighbours there is none for the cells between them, and that is said.
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

  // near: the cell as float32. Nothing where no float32 number stands for the cell.
  std::optional<float> stand_in(size_t feature, double cell, float near) const;

  // Of a cell without: "no float32 number lies with it between 3.5 and 3.5000000000000004, ...".
  std::string why_none(size_t feature, double cell) const;

 private:
  // By feature, ascending: the last number of each part of the line, but the last part, that branches tell apart.
  std::vector<std::vector<double>> ends_;
};

}  // namespace assay
