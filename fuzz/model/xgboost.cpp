// Any bytes as a model file of XGBoost: a booster whose ensemble can be built and run, or an assay::Error, nothing
// else.
#include "assay/model/trees/xgboost.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <vector>

#include "assay/core/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  assay::looks_like_xgboost(bytes);
  try {
    const assay::Booster booster = assay::read_xgboost("fuzz.json", bytes);
    if (booster.features == 0 || booster.base.size() != booster.targets) std::abort();
    for (const auto& [feature, texts] : booster.categories) {
      if (feature >= booster.features) std::abort();
    }
    const assay::TreeEnsemble trees("fuzz.json", booster.source, booster.features, booster.targets, booster.aggregate,
                                    booster.base);
    std::vector<std::byte> scratch(trees.scratch_count() * assay::TreeEnsemble::kScratchSize);
    for (const float value : {0.0F, 1.5F, -3e38F, std::numeric_limits<float>::quiet_NaN()}) {
      const std::vector<float> row(booster.features, value);
      trees.for_rows(row.data(), 1, row.size(), scratch.data(), [&](size_t, std::span<double> scores, const uint8_t*) {
        if (scores.size() != booster.targets) std::abort();
      });
    }
  } catch (const assay::Error&) {
    return 0;
  }
  return 0;
}
