// A trainer whose models can be worked out by hand: they remember the rows they saw. A row gets the class that most of
// the training rows equal to it have (of equally many the first), the mean of their values in a regression; a row never
// seen is of the first class, or 0.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "assay/evaluate/criterion.h"
#include "tests/evaluate/trial.h"

namespace assay::testing {

inline std::vector<float> as_key(std::span<const float> row) { return {row.begin(), row.end()}; }

inline ModelInfo lookup_info(size_t features, const std::vector<std::string>& classes) {
  ModelInfo info;
  info.name = "lookup";
  for (size_t c = 0; c < features; c++) info.feature_names.push_back(fmt::format("x{}", c));
  info.class_names = classes;
  info.output_names = classes.empty() ? std::vector<std::string>{"y"} : classes;
  info.unit = classes.empty() ? OutputUnit::value : OutputUnit::probability;
  return info;
}

inline std::unique_ptr<Model> lookup_model(const Dataset& rows) {
  const size_t classes = rows.class_names.size();
  std::map<std::vector<float>, std::vector<float>> memory;
  std::map<std::vector<float>, float> seen;
  for (size_t i = 0; i < rows.rows(); i++) {
    std::vector<float>& counts = memory[as_key(rows.x.row(i))];
    counts.resize(classes == 0 ? 1 : classes);
    seen[as_key(rows.x.row(i))] += 1;
    if (classes == 0) {
      counts[0] += rows.labels[i];
    } else {
      counts[static_cast<size_t>(rows.labels[i])] += 1;
    }
  }
  for (auto& [row, values] : memory) {
    for (float& value : values) value /= seen[row];
  }
  return model_from_function(
      lookup_info(rows.x.cols(), rows.class_names), [memory](MatrixView<const float> asked, MatrixView<float> outputs) {
        for (size_t i = 0; i < asked.rows(); i++) {
          const auto found = memory.find(as_key(asked.row(i)));
          for (size_t c = 0; c < outputs.cols(); c++) {
            outputs(i, c) = found == memory.end() ? (c == 0 && outputs.cols() > 1 ? 1.0F : 0.0F) : found->second[c];
          }
        }
      });
}

// What a trainer was asked for.
struct Training {
  Dataset rows;
  uint64_t seed = 0;
};

// Trains lookup models and keeps what they were trained on, in order of the calls.
inline Trainer lookup_trainer(std::vector<Training>* kept = nullptr) {
  const auto mutex = std::make_shared<std::mutex>();
  return [kept, mutex](const Dataset& rows, uint64_t seed, const Context& /*context*/) {
    if (kept != nullptr) {
      const std::lock_guard lock(*mutex);
      kept->push_back({rows, seed});
    }
    return lookup_model(rows);
  };
}

// The rows are explained by `phi`, the pool by `pool_phi`; 9 stands for absent. The original model is what lookup
// makes of the pool.
inline Trial lookup_trial(Dataset data, Dataset pool, const std::vector<std::vector<float>>& phi,
                          const std::vector<std::vector<float>>& pool_phi) {
  Trial trial{explanations_of(matrix_of(phi))};
  std::shared_ptr<const Model> model = lookup_model(pool);
  Matrix reference(1, pool.x.cols());
  std::ranges::fill(reference.values(), 9.0F);
  trial.setting = setting_of(std::move(model), data.x, std::move(reference));
  trial.data = std::move(data);
  trial.pool = std::move(pool);
  trial.pool_explanations.emplace(matrix_of(pool_phi));
  trial.trainer = lookup_trainer();
  return trial;
}

inline std::vector<std::vector<float>> repeated(const std::vector<float>& phi, size_t rows) {
  return std::vector<std::vector<float>>(rows, phi);
}

// The corners of a square, both as rows and as pool; "b" where the first feature is 1. Every row has the same
// attributions.
inline Trial corner_trial(const std::vector<float>& phi) {
  const auto corners = [] { return dataset_of(matrix_of({{0, 0}, {0, 1}, {1, 0}, {1, 1}}), {0, 0, 1, 1}, {"a", "b"}); };
  return lookup_trial(corners(), corners(), repeated(phi, 4), repeated(phi, 4));
}

}  // namespace assay::testing
