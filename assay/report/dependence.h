// Which other feature the attributions of a feature go along with: what a plot of its values against its attributions
// is best coloured by.
//
// The heuristic of SHAP's dependence plots (Lundberg, Erion and Lee 2018), with partial correlations:
//
//   strength(p, q) = sum over bins b of n_b |r_b| / sum over bins of n_b
//
// Rows are put into bins by the value of p: one bin for each level, for each of up to 10 different numbers, or else up
// to 10 bins of about as many rows each, at least 25. r_b is the partial correlation, over the n_b rows of the bin, of
// the attribution of p with the value of q, given the value of p: of what a straight line in the value of p leaves of
// both. If q is a category, its value is whether a row has a level, and the level of largest strength counts; levels of
// fewer than 10 rows do not. The partner of p is the q of largest strength.
//
// It is a hint where to look, and no test: with many features and few rows, some q has a strength of 0.2 by chance.
//
// Cost: features shown x features x rows; of more than 5,000 rows, every n-th is taken.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/core/matrix.h"
#include "assay/data/row_column.h"
#include "assay/explain/subject.h"
#include "assay/study/advice.h"
#include "assay/study/study.h"

namespace assay {

struct Dependence {
  size_t player = 0;
  std::optional<size_t> partner = {};  // nothing if no other feature goes along with its attributions
  double strength = 0;                 // 0 to 1
};

// values: attributions, rows x players. columns: the values of each player, where it has such.
Dependence dependence_of(size_t player, const Matrix& values, std::span<const std::optional<RowColumn>> columns);

// For the page: of the up to 20 main drivers, a list of
//   {"feature": index, "kind": "number" | "category" | "group", "partner": index or null, "strength": number}
// by the explanation that is recommended overall. Indices are those of the page's features. A group of several columns
// that stand for no category has no partner. An empty list if nothing is recommended, or if rows are images.
std::string dependence_json(const Study& study, const Advice& advice, const Subject& subject);

}  // namespace assay
