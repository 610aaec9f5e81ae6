// Studies small enough to run in a test: toys of explain/ with rows, a pool and another baseline.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "assay/core/random.h"
#include "assay/study/plan.h"
#include "assay/study/study.h"
#include "tests/evaluate/trial.h"

namespace assay::testing {

inline Matrix random_rows(size_t rows, size_t columns, uint64_t stream) {
  Matrix made(rows, columns);
  for (size_t r = 0; r < rows; r++) {
    RandomStream draw(7, "rows of a study", stream, static_cast<uint32_t>(r));
    for (float& each : made.row(r)) each = static_cast<float>(draw.uniform() * 4 - 2);
  }
  return made;
}

// Everything that a subject refers to.
struct Studied {
  Setting setting;
  Dataset data;
  Dataset pool;
  Targets pool_targets;
  std::vector<Reference> others;

  explicit Studied(const Toy& toy, size_t rows = 6, size_t pool_rows = 40) {
    const size_t columns = toy.rows[0].size();
    setting = setting_of(toy.model, random_rows(rows, columns, 0), matrix_of({toy.reference}));
    data = dataset_of(random_rows(rows, columns, 0));
    pool = dataset_of(random_rows(pool_rows, columns, 1));
    pool_targets = freeze_targets(*toy.model, pool.x.view(), {}, {});
    Reference other;
    other.rows = Matrix(1, columns);
    std::ranges::fill(other.rows.values(), 0.25F);
    other.description = "a quarter";
    others.push_back(std::move(other));
  }

  Subject subject() const {
    return {.model = setting.model.get(),
            .rows = &data,
            .players = &setting.players,
            .targets = &setting.targets,
            .reference = &setting.reference,
            .pool = &pool,
            .pool_targets = &pool_targets,
            .other_references = others};
  }
};

inline StudyOptions few() {
  StudyOptions options;
  options.methods = {{"gradient_x_input"}, {"kernel_shap", {{"samples", "64"}}}, {"occlusion"}};
  options.aggregators = {{"mean"}, {"region_shrinking"}, {"ava", {{"k", "3"}}}};
  options.paper_members = true;  // all three, not only those that are faithful
  options.criteria = {{"faithfulness", {{"subset", "1"}}}, {"max_sensitivity"}, {"avg_sensitivity"}, {"complexity"}};
  return options;
}

}  // namespace assay::testing
