// The models of tests/fixtures/trees with what their libraries say of them. `make test-peers` trains them afresh and
// points ASSAY_TREE_FIXTURES there.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/data/table_io.h"
#include "assay/model/engine_model.h"
#include "assay/model/model_file.h"

namespace assay::testing {

struct TreeFixture {
  std::filesystem::path folder;
  std::vector<std::string> files;  // of the same model
  nlohmann::json golden;

  std::string name() const { return folder.filename().string(); }
  bool has(const char* key) const { return golden.contains(key); }
  size_t rows() const { return golden.at("margins").size(); }
  size_t targets() const { return golden.at("margins").at(0).size(); }
};

inline std::vector<TreeFixture> tree_fixtures() {
  const char* elsewhere = std::getenv("ASSAY_TREE_FIXTURES");  // NOLINT(concurrency-mt-unsafe): nobody sets it
  const std::filesystem::path root = elsewhere != nullptr
                                         ? std::filesystem::path(elsewhere)
                                         : std::filesystem::path(ASSAY_SOURCE_DIR) / "tests" / "fixtures" / "trees";
  std::vector<TreeFixture> made;
  for (const auto& folder : std::filesystem::directory_iterator(root)) {
    std::ifstream golden(folder.path() / "golden.json");
    if (!golden) continue;
    TreeFixture fixture{folder.path(), {}, nlohmann::json::parse(golden)};
    for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
      if (file.path().stem() == "model") fixture.files.push_back(file.path().string());
    }
    std::ranges::sort(fixture.files);
    made.push_back(std::move(fixture));
  }
  std::ranges::sort(made, {}, &TreeFixture::name);
  return made;
}

inline std::unique_ptr<EngineModel> fixture_model(const std::string& file, const EngineModelOptions& options = {}) {
  return EngineModel::from_onnx(file, read_model(file), options);
}

inline double golden_number(const nlohmann::json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

// "rows" or "background": categories are codes.
inline Matrix golden_matrix(const TreeFixture& fixture, const char* key) {
  const nlohmann::json& rows = fixture.golden.at(key);
  Matrix made(rows.size(), rows.at(0).size());
  for (size_t r = 0; r < made.rows(); r++) {
    for (size_t c = 0; c < made.cols(); c++) made(r, c) = static_cast<float>(golden_number(rows[r][c]));
  }
  return made;
}

// The largest absolute number in nested lists.
inline double golden_scale(const nlohmann::json& values) {
  if (!values.is_array()) return std::abs(values.get<double>());
  double largest = 0;
  for (const nlohmann::json& each : values) largest = std::max(largest, golden_scale(each));
  return largest;
}

}  // namespace assay::testing
