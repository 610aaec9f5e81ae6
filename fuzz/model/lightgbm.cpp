// Any bytes as a LightGBM model: a booster or an assay::Error, nothing else. The trees of a booster must be valid, and
// must accept rows of any numbers.
#include "assay/model/trees/lightgbm.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <vector>

#include "assay/core/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  assay::looks_like_lightgbm(bytes);
  assay::Booster booster;
  try {
    booster = assay::read_lightgbm("fuzz.txt", bytes);
  } catch (const assay::Error&) {
    return 0;
  }
  if (!assay::looks_like_lightgbm(bytes) || booster.features == 0 || booster.targets == 0) std::abort();
  if (!booster.feature_names.empty() && booster.feature_names.size() != booster.features) std::abort();
  for (const auto& [feature, texts] : booster.categories) {
    if (feature >= booster.features) std::abort();
  }
  // Must not fail: the reader has checked the same.
  const assay::TreeEnsemble trees("fuzz.txt", booster.source, booster.features, booster.targets, booster.aggregate,
                                  booster.base);
  // Memory is in proportion to the file.
  if (trees.nodes().size() > size || trees.roots().size() % booster.targets != 0) std::abort();
  std::vector<std::byte> scratch(trees.scratch_count() * assay::TreeEnsemble::kScratchSize);
  for (const double x : {0.0, -1.0, 1e9, std::numeric_limits<double>::quiet_NaN()}) {
    const std::vector<double> row(booster.features, x);
    trees.for_rows(row.data(), 1, row.size(), scratch.data(), [&](size_t, auto scores, const uint8_t* scored) {
      for (size_t t = 0; t < scores.size(); t++) {
        if (scored[t] == 0) std::abort();
      }
    });
  }
  return 0;
}
