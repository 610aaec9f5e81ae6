// Correlations of ranks. Undefined (NaN) when one side is constant, or has fewer than two values.
#pragma once

#include <span>

namespace assay {

// Spearman's rho: the Pearson correlation of the ranks; equal values share their mean rank. Cost: d ln d.
double spearman(std::span<const double> a, std::span<const double> b);

// Kendall's tau-b, (agreeing - disagreeing pairs) / sqrt(pairs not tied in a x pairs not tied in b). Cost: d ln d, by
// counting the exchanges of a merge sort (Knight 1966).
double kendall_tau_b(std::span<const double> a, std::span<const double> b);

}  // namespace assay
