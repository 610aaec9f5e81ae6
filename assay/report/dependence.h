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
// fewer than 10 rows do not.
//
// Chance alone gives some q a strength of 0.2. So the partner of p is the q of largest strength among those that pass a
// test. If the attribution of p depends on its own value alone, two rows of nearly the same value may change places:
// rows that are neighbours by the value of p, in pairs i, have differences a_i of attributions and z_i of values of q
// (less a straight line in the difference of p's values) whose product has either sign with the same probability. With
// u_i = sign(a_i z_i) sqrt|a_i z_i|, each bin's T_b = sum u_i / sqrt(sum u_i^2) is then sub-Gaussian, and
//
//   P(sum over B bins of T_b^2 >= t) <= exp(-(t - B - B ln(t / B)) / 2),   t > B,
//
// whatever the distribution of the values. All features and levels that are tried for all features shown count as one
// family: the chance that one of them is named without reason is at most 5 %. A q that is nearly a function of p (less
// than 5 % of its variance is left within pairs) is no partner: the two cannot be told apart.
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
  std::optional<size_t> partner = {};  // nothing if no other feature is above chance
  double strength = 0;                 // of the partner, 0 to 1; 0 without one
};

// values: attributions, rows x players. columns: the values of each player, where it has such. family: how many players
// are asked about in all.
Dependence dependence_of(size_t player, const Matrix& values, std::span<const std::optional<RowColumn>> columns,
                         size_t family);

// For the page: of the up to 20 main drivers, a list of
//   {"feature": index, "kind": "number" | "category" | "group", "partner": index or null, "strength": number}
// by the explanation that is recommended overall. Indices are those of the page's features. A group of several columns
// that stand for no category has no partner. An empty list if nothing is recommended, or if rows are images.
std::string dependence_json(const Study& study, const Advice& advice, const Subject& subject);

}  // namespace assay
