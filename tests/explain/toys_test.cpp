// Closed forms: every method on toy models whose right answer is known.
#include "tests/explain/toys.h"

#include <gmock/gmock.h>

#include "assay/explain/methods.h"
#include "tests/explain/tree_toys.h"

namespace assay::testing {
namespace {

void expect_values(const Toy& toy, const Explanations& found, const std::vector<std::vector<double>>& expected,
                   double tolerance = 1e-6) {
  ASSERT_EQ(found.rows(), expected.size());
  for (size_t r = 0; r < expected.size(); r++) {
    double scale = 1;
    for (const double each : expected[r]) scale = std::max(scale, std::abs(each));
    for (size_t i = 0; i < expected[r].size(); i++) {
      EXPECT_NEAR(found.values(r, i), expected[r][i], tolerance * scale)
          << found.provenance.method << " on " << toy.name << ", row " << r << ", player " << i;
    }
  }
}

TEST(Toys, ShapleyMethodsFindTheKnownValues) {
  for (const Toy& toy : all_toys()) {
    const Setting setting = setting_of(toy);
    for (const char* method : {"exact_shapley", "kernel_shap", "kernel_shap:sampling=leverage"}) {
      expect_values(toy, explain(parse_spec("method", method), setting.task(), {}), toy.shapley);
    }
    // Both orders of two players are a permutation and its reverse; additive toys need but one.
    expect_values(toy, explain(parse_spec("method", "shapley_sampling"), setting.task(), {}), toy.shapley);
  }
}

TEST(Toys, GradientsFindTheKnownSlopes) {
  for (const Toy& toy : all_toys()) {
    if (toy.gradient.empty()) continue;
    const Setting setting = setting_of(toy);
    const Explanations found = explain({"gradient"}, setting.task(), {});
    expect_values(toy, found, toy.gradient);
    const Explanations times = explain({"gradient_x_input"}, setting.task(), {});
    auto expected = toy.gradient;
    for (size_t r = 0; r < expected.size(); r++) {
      for (size_t i = 0; i < expected[r].size(); i++) expected[r][i] *= toy.rows[r][i];
    }
    expect_values(toy, times, expected);
  }
}

TEST(Toys, CompleteMethodsAgreeWhereFeaturesDoNotInteract) {
  for (const Toy& toy : {linear_toy(), additive_toy(), saturated_toy()}) {
    const Setting setting = setting_of(toy);
    for (const MethodInfo& method : methods()) {
      if (!method.complete || refusal({method.name}, setting.task())) continue;
      // The additive toy's |x| has a corner on the path, which Gauss-Legendre only approaches.
      const double tolerance = method.name == "integrated_gradients" && toy.name == "additive" ? 2e-3 : 1e-6;
      expect_values(toy, explain({method.name}, setting.task(), {}), toy.shapley, tolerance);
    }
  }
}

TEST(Toys, ShapleyMethodsAgreeOnTrees) {
  for (const Toy& toy : tree_toys()) {
    for (const char* method : {"tree_shap", "exact_shapley", "kernel_shap", "shapley_sampling"}) {
      expect_values(toy, explain({method}, setting_of(toy).task(), {}), toy.shapley);
    }
  }
}

// Against the training rows at the nodes: of 40 rows a quarter goes right in the first tree, half in the second.
TEST(Toys, PathDependentValuesOfStumpsAreDistancesFromTheirMeans) {
  const Toy toy = stumps_toy();
  const Explanations found = explain({"tree_shap_path"}, setting_of(toy).task(), {});
  expect_values(toy, found, {{1.5, 1.25, 0}, {-0.5, -1.25, 0}});
  EXPECT_NEAR(found.base[0], 0.5 + 1.5 - 0.75, 1e-12);
}

TEST(Toys, IntegratedGradientsOfAProductAreItsShapleyValues) {
  const Toy toy = product_toy();
  expect_values(toy, explain({"integrated_gradients"}, setting_of(toy).task(), {}), toy.shapley);
}

TEST(Toys, RevealCancelSharesAMinimumAndRescaleDoesNot) {
  const Toy toy = min_toy();
  const Setting setting = setting_of(toy);
  expect_values(toy, explain({"deeplift_reveal_cancel"}, setting.task(), {}), toy.shapley);
  // Rescale at (10, 6): relu(10 - 6) has the multiplier 4 / 4, so x1 gets 10 - 10 and x2 gets 6; at (3, 8) the ReLU
  // stays off with multiplier 0, and x1 gets all.
  expect_values(toy, explain({"deeplift"}, setting.task(), {}), {{0, 6}, {3, 0}});
}

TEST(Toys, OcclusionSeesWhatIsLost) {
  // At (1, 1) taking either input from AND loses 1; taking either from XOR gains 1.
  const Toy both = and_toy();
  expect_values(both, explain({"occlusion"}, setting_of(both).task(), {}), {{1, 1}, {0, 0}});
  const Toy either = xor_toy();
  expect_values(either, explain({"occlusion"}, setting_of(either).task(), {}), {{-1, -1}, {1, -1 + 1}, {0, 1}});
}

}  // namespace
}  // namespace assay::testing
