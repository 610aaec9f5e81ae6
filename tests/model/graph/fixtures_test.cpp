// Models that other libraries exported, kept with what their source computes: tests/fixtures/models. `make test-peers`
// exports them afresh and points ASSAY_MODEL_FIXTURES there.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "assay/data/table_io.h"
#include "assay/model/graph/plan.h"

namespace assay {
namespace {

std::filesystem::path fixtures() {
  const char* elsewhere = std::getenv("ASSAY_MODEL_FIXTURES");  // NOLINT(concurrency-mt-unsafe): nobody sets it
  if (elsewhere != nullptr) return elsewhere;
  return std::filesystem::path(ASSAY_SOURCE_DIR) / "tests" / "fixtures" / "models";
}

// Derivatives of the weighted sum of outputs that make_models.py describes.
TEST(ModelFixtures, DerivativesAreThoseOfPyTorch) {
  size_t checked = 0;
  for (const auto& folder : std::filesystem::directory_iterator(fixtures())) {
    if (!std::filesystem::exists(folder.path() / "gradients.csv")) continue;
    SCOPED_TRACE(folder.path().filename().string());
    const Table rows = read_table((folder.path() / "rows.csv").string());
    const Table expected = read_table((folder.path() / "gradients.csv").string());
    const std::string file = (folder.path() / "model.onnx").string();
    const Graph graph(file, read_onnx(file));
    Shape dims;
    for (const OnnxDimension& dim : *graph.inputs().at(0).type.dims) dims.push_back(dim.size.value_or(0));
    dims[0] = static_cast<int64_t>(rows.rows());
    PlanRequest request;
    request.feeds = {{graph.inputs()[0].name, {OnnxElement::float32, dims, nullptr}, true}};
    request.fetches = {graph.outputs().at(0).name};
    const Plan plan(graph, request);
    ASSERT_TRUE(plan.has_gradient(0));
    Workspace workspace(plan);
    workspace.feed(0, rows.values.data());
    workspace.forward();
    auto* seeds = static_cast<float*>(workspace.fetch_gradient(0));
    const size_t width = plan.fetched(0).count() / rows.rows();
    for (size_t r = 0; r < rows.rows(); r++) {
      for (size_t c = 0; c < width; c++) {
        seeds[r * width + c] = (static_cast<float>((31 * r + 17 * c) % 13) - 6) / 6;
      }
    }
    workspace.backward();
    const auto* found = static_cast<const float*>(workspace.feed_gradient(0));
    ASSERT_EQ(rows.values.cols(), expected.values.cols());
    for (size_t i = 0; i < rows.values.values().size(); i++) {
      const float wanted = expected.values.values()[i];
      EXPECT_NEAR(found[i], wanted, 1e-5F * std::max(1.0F, std::abs(wanted))) << "element " << i;
    }
    checked++;
  }
  EXPECT_GE(checked, 12U);
}

}  // namespace
}  // namespace assay
