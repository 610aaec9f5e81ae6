// N_r(x): the rows of the pool at most r away from x that have the predicted class of x. Rows at distance 0, such as x
// itself, are left out.
//
// Cost: a prediction of every row and of every row of the pool, for their classes (none for a regression, where all
// rows are of one class). There is one search index for each class; columns are scaled on the whole pool.
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

// Which rows are neighbours, and how their distance counts.
struct RadiusOptions {
  std::string rho = "linf";
  std::string space = "scaled";
  std::optional<double> radius = {};
  std::string weighting = "uniform";

  void describe(OptionVisitor& visit) {
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

// The options of criteria that compare the explanation of a row with those of its neighbours. Explanations are compared
// at unit norm unless `normalise` is raw: otherwise whatever shrinks attributions, as averaging does, looks stable.
struct NeighbourhoodOptions : RadiusOptions {
  ComparisonOptions comparison = {.normalise = "unit"};

  void describe(OptionVisitor& visit) {
    comparison.describe(visit);
    RadiusOptions::describe(visit);
  }
};

class Neighbourhoods {
 public:
  // One class: its rows, and the index of its part of the pool.
  struct Part {
    std::vector<size_t> rows;
    NeighbourIndex index;
  };

  // Predicts the classes. If no radius is given, chooses reach() for ten neighbours. The radius does not depend on the
  // explanations, so methods are compared on the same neighbourhoods.
  Neighbourhoods(const EvaluateTask& task, const NeighbourhoodOptions& options, const Context& context);

  // A radius at which the median row has this many neighbours. It starts from the median over the rows of the distance
  // to the `neighbours`-th nearest row of the class (to the farthest if a class has fewer; rows without any are left
  // out). With whole-number data, many pairs have exactly this distance, and rounding would decide which of them count.
  // So the radius is moved into a gap between distances: the middle of the gap that holds the point 0.01 % above the
  // median, but at most twice the distance below the gap. That point itself if no pair is farther apart. 0 if no row
  // has a neighbour.
  double reach(const EvaluateTask& task, size_t neighbours, const Context& context) const;
  // Gives the same neighbourhoods another radius.
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

// Those of `rows` whose attributions are all finite: the rows that are scored.
std::vector<size_t> finite_rows(MatrixView<const float> attributions, std::span<const size_t> rows);

// Explains the rows of the pool that are in the neighbourhood of a row with finite attributions, and no others.
void explain_neighbours(const EvaluateTask& task, const Neighbourhoods& neighbourhoods, const Context& context);

}  // namespace assay
