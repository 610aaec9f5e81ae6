// N_r(x): the rows of the pool at most r away from x that the model puts into the class of x. Rows at distance 0, x
// itself among them, are left out.
//
// Cost: a prediction of every row and of every row of the pool, for their classes (none for a regression, where all
// rows are of one class). One search index for each class, in the space that is scaled on the whole pool.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/core/options.h"
#include "assay/data/neighbours.h"
#include "assay/evaluate/common.h"
#include "assay/evaluate/criterion.h"

namespace assay {

// The options of criteria that compare the explanation of a row with those of its neighbours.
struct NeighbourhoodOptions {
  ComparisonOptions comparison = {};
  std::string rho = "linf";
  std::string space = "scaled";
  std::optional<double> radius = {};
  std::string weighting = "uniform";

  void describe(OptionVisitor& visit) {
    comparison.describe(visit);
    visit.choice("rho", rho, "norm of the distance between rows", {"linf", "l1", "l2"});
    visit.choice("space", space,
                 "columns scaled by their deviation on the pool with categorical mismatch 1, or as they are",
                 {"scaled", "raw"});
    visit.real_or("radius", radius, "auto",
                  "of the neighbourhood, in units of the space; auto gives the median row ten neighbours and lies "
                  "between distances",
                  "", 0, 1e38);
    visit.choice("weighting", weighting, "distances of explanations as they are, or each divided by rho",
                 {"uniform", "inverse_distance"});
  }
};

class Neighbourhoods {
 public:
  // One class: its rows, and the index of its part of the pool.
  struct Part {
    std::vector<size_t> rows;
    NeighbourIndex index;
  };

  // Predicts the classes and, where no radius is given, finds one: the reach of ten neighbours. It does not depend on
  // the explanations, so that methods are compared on the same neighbourhoods.
  Neighbourhoods(const EvaluateTask& task, const NeighbourhoodOptions& options, const Context& context);

  // A radius at which the median row has so many neighbours: the median over the rows of the distance to the
  // `neighbours`-th nearest row of the class (to the farthest, where a class has fewer; rows that have none take no
  // part), moved into a gap. On a scale of whole numbers the median is the distance of very many pairs at once, and a
  // radius right there would leave it to rounding which of them count. So the radius is the middle of the gap around
  // the point 0.01 % above the median: of all distances between rows and rows of their class, none lies in that gap.
  // The point itself, where no pair is farther apart. 0 where no row has a neighbour.
  double reach(const EvaluateTask& task, size_t neighbours, const Context& context) const;
  // The same neighbourhoods out to another radius.
  void set_radius(double radius) {
    radius_ = radius;
    chosen_ = false;
  }

  const std::vector<Part>& parts() const { return parts_; }
  double radius() const { return radius_; }
  bool radius_chosen() const { return chosen_; }
  uint64_t evaluations() const { return evaluations_; }  // of the model

 private:
  std::vector<Part> parts_;
  double radius_ = 0;
  bool chosen_ = false;
  uint64_t evaluations_ = 0;
};

// Those of the rows whose attributions are finite: the ones that are scored.
std::vector<size_t> finite_rows(MatrixView<const float> attributions, std::span<const size_t> rows);

// Explains the rows of the pool that are in the neighbourhood of a row with finite attributions, and no others.
void explain_neighbours(const EvaluateTask& task, const Neighbourhoods& neighbourhoods, const Context& context);

}  // namespace assay
