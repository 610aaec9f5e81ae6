#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "assay/aggregate/common.h"
#include "assay/data/datasets.h"
#include "assay/data/encoder.h"
#include "assay/data/neighbours.h"
#include "assay/evaluate/criterion.h"
#include "assay/explain/methods.h"
#include "assay/model/train/recipe.h"
#include "tests/aggregate/trial.h"
#include "tests/message.h"

namespace assay::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// A function of this many features; classes empty for a regression.
std::shared_ptr<const Model> function_model(size_t features, size_t outputs, std::vector<std::string> classes,
                                            const std::function<void(std::span<const float>, std::span<float>)>& f) {
  ModelInfo info;
  info.name = "function";
  for (size_t c = 0; c < features; c++) info.feature_names.push_back(fmt::format("x{}", c));
  for (size_t c = 0; c < outputs; c++) info.output_names.push_back(fmt::format("y{}", c));
  info.unit = classes.empty() ? OutputUnit::value : OutputUnit::margin;
  info.class_names = std::move(classes);
  return model_from_function(info, [f](MatrixView<const float> rows, MatrixView<float> out) {
    for (size_t i = 0; i < rows.rows(); i++) f(rows.row(i), out.row(i));
  });
}

MemberTrial trial_of(std::shared_ptr<const Model> model, Matrix rows, Matrix pool, std::string_view target = "auto") {
  MemberTrial made;
  const size_t columns = rows.cols();
  made.pool = dataset_of(std::move(pool));
  made.data = dataset_of(rows);
  made.setting = setting_of(model, std::move(rows), Matrix(1, columns), target);
  made.pool_targets = freeze_targets(*model, made.pool->x.view(), parse_target(model->info(), target).at(0), {});
  return made;
}

// y = 3 x with reference 0: g(z) = 3 z.
MemberTrial line_trial(Matrix rows, Matrix pool) {
  return trial_of(function_model(1, 1, {}, [](auto x, auto y) { y[0] = 3 * x[0]; }), std::move(rows), std::move(pool));
}

Made ava(const std::string& options, MemberTrial& trial, const Context& context = {}) {
  return combined_by("ava", options, trial, context);
}

std::optional<Refusal> refused(const std::string& options, MemberTrial& trial) {
  return make_aggregator("ava" + options)->refuses(trial.task());
}

// Pool 1, 4, 9 and query 2: distances 1, 2, 7. k = 2: weights 1 / (1 + 1/2) = 2/3 and 1/3, phi = 2/3 * 3 + 1/3 * 12.
TEST(Ava, WeighsAntecedentsByInverseDistance) {
  MemberTrial trial = line_trial(matrix_of({{2}}), matrix_of({{4}, {1}, {9}}));
  const Made made = ava(":k=2:space=raw", trial);
  EXPECT_FLOAT_EQ(made.values(0, 0), 6);
  EXPECT_EQ(made.combined.antecedents, (std::vector<int64_t>{1, 0}));
  EXPECT_FLOAT_EQ(made.combined.weights(0, 0), 2.0F / 3);
  EXPECT_FLOAT_EQ(made.combined.weights(0, 1), 1.0F / 3);
  // Outputs of the antecedents are 3 and 12, at the reference 0.
  EXPECT_NEAR(made.combined.output[0], 6, 1e-12);
  EXPECT_EQ(made.combined.base[0], 0);
  EXPECT_EQ(made.combined.measures.at(0).name, "reach");
  EXPECT_EQ(made.combined.measures.at(0).values[0], 2);
  EXPECT_THAT(made.combined.notes, Contains("antecedents are explained by exact_shapley"));
}

TEST(Ava, TakesTheMeanOverAntecedentsAtDistanceZero) {
  MemberTrial trial = line_trial(matrix_of({{4}, {5}}), matrix_of({{4}, {1}, {4}, {9}}));
  const Made made = ava(":k=3:space=raw", trial);
  EXPECT_FLOAT_EQ(made.values(0, 0), 12);
  EXPECT_EQ(std::vector(made.combined.antecedents.begin(), made.combined.antecedents.begin() + 3),
            (std::vector<int64_t>{0, 2, -1}));
  EXPECT_EQ(made.combined.weights(0, 0), 0.5F);
  EXPECT_EQ(made.combined.weights(0, 2), 0);
  EXPECT_EQ(made.combined.measures.at(0).values[0], 0);
  // 5: distances 1, 1, 4 (to 4, 4, 1; 9 is as far as 1 and comes later): weights 4/9, 4/9, 1/9 of 12, 12, 3.
  EXPECT_FLOAT_EQ(made.values(1, 0), 11);
  EXPECT_THAT(made.combined.notes,
              Contains("1 of 2 rows have antecedents at distance 0, and are explained by those alone"));
}

// As float32 their inverses would be infinite.
TEST(Ava, TinyDistancesDoNotOverflow) {
  MemberTrial trial = line_trial(matrix_of({{0}}), matrix_of({{1e-39F}, {3e-39F}, {1}}));
  const Made made = ava(":k=3:space=raw", trial);
  EXPECT_FLOAT_EQ(made.combined.weights(0, 0), 0.75F);
  EXPECT_FLOAT_EQ(made.combined.weights(0, 1), 0.25F);
}

TEST(Ava, ARowIsNeverItsOwnAntecedent) {
  MemberTrial trial = line_trial(matrix_of({{4}, {4}}), matrix_of({{4}, {1}, {10}}));
  trial.in_pool = {0, kNoRow};
  const Made made = ava(":k=1:space=raw", trial);
  EXPECT_FLOAT_EQ(made.values(0, 0), 3);   // of 1
  EXPECT_FLOAT_EQ(made.values(1, 0), 12);  // of 4, which is another row that happens to be equal
}

TEST(Ava, TakesWhatThereIsWhenThePoolIsSmall) {
  MemberTrial trial = line_trial(matrix_of({{2}}), matrix_of({{4}, {1}}));
  const Made made = ava(":k=7:space=raw", trial);
  EXPECT_FLOAT_EQ(made.values(0, 0), 6);
  EXPECT_EQ(made.combined.weights.cols(), 2U);
  EXPECT_THAT(made.combined.notes, Contains("1 of 1 rows have fewer than 7 antecedents to choose from"));
  MemberTrial alone = line_trial(matrix_of({{2}}), matrix_of({{2}}));
  alone.in_pool = {0};
  Made none = ava("", alone);
  EXPECT_TRUE(std::isnan(none.values(0, 0)));
  EXPECT_TRUE(std::isnan(none.combined.output[0]));
  EXPECT_TRUE(std::isnan(none.combined.weights(0, 0)));
  const auto undefined = none.combined.undefined.take();
  ASSERT_EQ(undefined.size(), 1U);
  EXPECT_EQ(undefined[0].reason, "no other row of the pool can be an antecedent");
}

// Margins x0, x1 and -x0 - x1: at z class A is explained by (z0, 0), B by (0, z1), C by (-z0, -z1).
MemberTrial three_classes(Matrix rows, Matrix pool) {
  return trial_of(function_model(2, 3, {"A", "B", "C"},
                                 [](auto x, auto y) {
                                   y[0] = x[0];
                                   y[1] = x[1];
                                   y[2] = -x[0] - x[1];
                                 }),
                  std::move(rows), std::move(pool));
}

std::vector<float> first_row(const Made& made) { return {made.values.row(0).begin(), made.values.row(0).end()}; }

// Query (2, 1), of class A. Pool: (3, 1) of A at distance 1, (1, 2) of B at distance 1, (-1, -1) of C at distance 3.
TEST(Ava, ClassSaysWhatIsExplainedAtAntecedents) {
  MemberTrial trial = three_classes(matrix_of({{2, 1}}), matrix_of({{3, 1}, {1, 2}, {-1, -1}}));
  EXPECT_EQ(first_row(ava(":k=2:space=raw:class=query", trial)), (std::vector<float>{2, 0}));
  EXPECT_EQ(first_row(ava(":k=2:space=raw", trial)), (std::vector<float>{2, 0}));
  EXPECT_EQ(first_row(ava(":k=2:space=raw:class=own", trial)), (std::vector<float>{1.5F, 1}));
  const Made same = ava(":k=2:space=raw:class=same", trial);
  EXPECT_EQ(first_row(same), (std::vector<float>{3, 0}));
  EXPECT_EQ(same.combined.antecedents, (std::vector<int64_t>{0, -1}));
  EXPECT_THAT(same.combined.notes, Contains("1 of 1 rows have fewer than 2 antecedents to choose from"));
  // Weights 3/7, 3/7, 1/7: (9 + 3 - 1) / 7.
  EXPECT_FLOAT_EQ(first_row(ava(":k=3:space=raw:class=query", trial))[0], 11.0F / 7);
  // l1: distances 1, 2, 5: weights 10/17, 5/17, 2/17 of 3, 1, -1.
  EXPECT_FLOAT_EQ(first_row(ava(":k=3:space=raw:rho=l1", trial))[0], 33.0F / 17);
  // l2: distances 1, sqrt 2: weights 1, 0.70710678 of 1.70710678.
  EXPECT_FLOAT_EQ(first_row(ava(":k=2:space=raw:rho=l2", trial))[0],
                  static_cast<float>((3 + std::sqrt(0.5)) / (1 + std::sqrt(0.5))));
}

TEST(Ava, SameClassWithoutAnySuchRowIsUndefined) {
  MemberTrial trial = three_classes(matrix_of({{2, 1}, {0, 1}}), matrix_of({{1, 2}, {-1, -1}}));
  Made made = ava(":class=same:space=raw", trial);
  EXPECT_TRUE(std::isnan(made.values(0, 0)));
  EXPECT_FALSE(std::isnan(made.values(1, 1)));  // B: (1, 2)
  EXPECT_EQ(made.combined.undefined.take().at(0).rows, 1U);
}

// In files: (10, 1), (20, 2), (30, 3) for the classes the pool's rows are predicted to be.
TEST(Ava, GivenExplanationsOfThePoolAreUsed) {
  MemberTrial trial = three_classes(matrix_of({{2, 1}}), matrix_of({{3, 1}, {1, 2}, {-1, -1}}));
  trial.members.push_back(explanations_of(matrix_of({{1, 1}})));
  trial.pool_members.emplace_back(matrix_of({{10, 1}, {20, 2}, {30, 3}}));
  trial.pool_given = true;
  EXPECT_EQ(first_row(ava(":k=2:space=raw", trial)), (std::vector<float>{10, 1}));  // auto is same
  const Made own = ava(":k=2:space=raw:class=own", trial);
  EXPECT_EQ(first_row(own), (std::vector<float>{15, 1.5F}));
  EXPECT_TRUE(std::isnan(own.combined.output[0]));
  EXPECT_THAT(refused(":class=query", trial).value().reason, HasSubstr("one target of all rows"));
  EXPECT_THAT(refused(":method=gradient", trial).value().reason, HasSubstr("method=gradient would make others"));
  trial.setting->reference.rows = Matrix();  // nothing is explained
  EXPECT_EQ(refused("", trial), std::nullopt);

  // All for class A: query is possible, own is not.
  trial.pool_targets->predicted = false;
  trial.pool_targets->of_row = {0, 0, 0};
  EXPECT_EQ(first_row(ava(":k=2:space=raw:class=query", trial)), (std::vector<float>{15, 1.5F}));
  EXPECT_THAT(refused(":class=own", trial).value().reason, HasSubstr("for its predicted class"));
  // For class B at the one row of the query's class: it does not explain the query's target.
  trial.pool_targets->of_row = {1, 0, 0};
  EXPECT_TRUE(std::isnan(first_row(ava(":space=raw", trial))[0]));
  trial.pool_targets->names = {"A", "B", "D"};
  EXPECT_THAT(refused("", trial).value().reason, HasSubstr("for others"));
}

TEST(Ava, AntecedentsWithoutValuesMakeARowUndefined) {
  MemberTrial trial = three_classes(matrix_of({{2, 1}, {2, 1}}), matrix_of({{3, 1}, {9, 2}, {-1, -1}}));
  trial.members.push_back(explanations_of(matrix_of({{1, 1}, {1, 1}})));
  trial.in_pool = {kNoRow, 1};
  trial.pool_members.emplace_back(matrix_of({{10, 1}, {20, NAN}, {30, 3}}));
  trial.pool_given = true;
  Made made = ava(":space=raw", trial);
  EXPECT_TRUE(std::isnan(made.values(0, 0)));
  EXPECT_EQ(made.values(1, 0), 10);
  EXPECT_EQ(made.combined.undefined.take().at(0).reason, "an antecedent's attributions are not all numbers");
}

TEST(Ava, ExplainsEachPairOfRowAndTargetOnce) {
  // Half of the queries are of class A, half of B; all have the same five rows of the pool.
  Matrix rows(40, 2);
  for (size_t r = 0; r < rows.rows(); r++) rows(r, r % 2) = 5 + 0.01F * static_cast<float>(r);
  MemberTrial trial = three_classes(rows, matrix_of({{5, 5}, {5, 4}, {4, 5}, {4, 4.5F}, {5.5F, 4}}));
  const uint64_t coalitions = 4;
  EXPECT_EQ(ava(":k=5", trial).combined.evaluations, 5 * 2 * coalitions);
  // Own: one target each, and the predictions of the five rows.
  EXPECT_EQ(ava(":k=5:class=own", trial).combined.evaluations, 5 * coalitions + 5);
  // Same: three rows are of A, two of B (ties are the first class), and 45 are predicted.
  EXPECT_EQ(ava(":k=5:class=same", trial).combined.evaluations, 5 * coalitions + 45);
}

TEST(Ava, RefusesWhatItCannotDo) {
  MemberTrial trial = three_classes(matrix_of({{2, 1}}), matrix_of({{3, 1}}));
  EXPECT_EQ(refused("", trial), std::nullopt);
  EXPECT_THAT(refused(":method=gradient", trial).value().reason,
              HasSubstr("cannot explain antecedents: gradient needs"));
  trial.method = Spec{"region_shrinking"};
  EXPECT_THAT(refused("", trial).value().reason, HasSubstr("region_shrinking is no method"));
  trial.method = {};
  trial.setting->reference.rows = Matrix();
  EXPECT_THAT(refused("", trial).value().reason, HasSubstr("needs a reference"));
  trial.members.assign(2, explanations_of(matrix_of({{1, 1}})));
  EXPECT_EQ(refused("", trial).value().reason, "takes one member, whose neighbours it explains, and there are 2");
  const auto make = [](const std::string& text) { make_aggregator(text); };
  EXPECT_THAT(message_of([&] { make("ava:method=[kernel_shap:sample=9]"); }), HasSubstr("sample"));
  EXPECT_THAT(message_of([&] { make("ava:method=shap"); }), HasSubstr("exact_shapley"));
  EXPECT_THAT(message_of([&] { make("ava:k=0"); }), HasSubstr("option k"));
  EXPECT_THAT(message_of([&] { make("ava:neighbours=3"); }), HasSubstr("neighbours"));
}

// The information form has no class; what it is at each antecedent is that row's own v_z.
TEST(Ava, TheInformationFormHasNoClass) {
  MemberTrial trial = three_classes(matrix_of({{2, 1}}), matrix_of({{3, 1}, {1, 2}, {-1, -1}}));
  trial.setting->targets = information_targets(*trial.setting->model, 1);
  EXPECT_THAT(refused(":class=own", trial).value().reason, HasSubstr("information"));
  const Made made = ava(":k=2:space=raw", trial);
  Setting pool = *trial.setting;
  pool.rows = trial.pool->x;
  pool.targets = information_targets(*pool.model, 3);
  const Explanations of_pool = explain(Spec{"exact_shapley"}, pool.task(), {});
  for (size_t p = 0; p < 2; p++) {
    EXPECT_FLOAT_EQ(made.values(0, p), (of_pool.values(0, p) + of_pool.values(1, p)) / 2);
  }
}

// A member of unknown making is not explained by whatever comes first: that would be AVA of something else.
TEST(Ava, AMemberThatCannotBeMadeAgainNeedsAMethod) {
  MemberTrial trial = three_classes(matrix_of({{2, 1}}), matrix_of({{3, 1}}));
  trial.members.push_back(explanations_of(matrix_of({{1, 1}})));
  const auto named = [&] { return ava(":method=occlusion", trial).combined.notes; };
  const std::string by = "antecedents are explained by occlusion";
  EXPECT_THAT(refused("", trial).value().reason, HasSubstr("needs to know how rows of the pool are explained"));
  EXPECT_TRUE(refused(":method=auto", trial).has_value());
  EXPECT_THAT(named(), Contains(by + "; the member does not say how it was"));
  trial.members[0].provenance.method = "mean";
  EXPECT_THAT(named(), Contains(by + ", not by 'mean' as the member was"));
  trial.method = Spec{"exact_shapley"};
  EXPECT_THAT(named(), Contains(by + ", not by exact_shapley as the member was"));
  EXPECT_THAT(ava("", trial).combined.notes, Not(Contains(HasSubstr("antecedents are explained"))));
  trial.method = {};
  trial.pool_members.emplace_back(matrix_of({{10, 1}}));
  EXPECT_TRUE(refused("", trial).has_value());  // they would be made by a method, and there is none
  trial.pool_given = true;
  EXPECT_EQ(refused("", trial), std::nullopt);
}

// Sampled values: with the member's method and seed, its errors added up by weight. 12 players, 64 of 4,096 coalitions.
TEST(Ava, ErrorsOfSampledMethodsAddUp) {
  const auto model = function_model(12, 1, {}, [](auto x, auto y) {
    float sum = 0;
    for (size_t i = 0; i + 2 < x.size(); i++) sum += x[i] * x[i + 1] * x[i + 2];
    y[0] = sum;
  });
  Matrix pool(30, 12);
  RandomStream draw(4, "ava_test");
  for (float& each : pool.values()) each = static_cast<float>(draw.normal());
  MemberTrial trial = trial_of(model, matrix_of({std::vector<float>(12, 0.1F)}), pool);
  trial.method = parse_spec("method", "kernel_shap:samples=64");
  Setting whole = *trial.setting;
  whole.rows = pool;
  whole.targets = *trial.pool_targets;
  const Explanations of_pool = explain(*trial.method, whole.task(), {});
  const Made made = ava(":k=4", trial, {.seed = 99});  // the member's seed is 0
  ASSERT_EQ(made.combined.standard_error.rows(), 1U);
  for (size_t p = 0; p < 12; p++) {
    double value = 0;
    double error = 0;
    for (size_t i = 0; i < 4; i++) {
      const auto row = static_cast<size_t>(made.combined.antecedents[i]);
      value += made.combined.weights(0, i) * static_cast<double>(of_pool.values(row, p));
      error += made.combined.weights(0, i) * static_cast<double>(of_pool.standard_error(row, p));
    }
    EXPECT_NEAR(made.values(0, p), value, 1e-5);
    EXPECT_NEAR(made.combined.standard_error(0, p), error, 1e-5);
    EXPECT_GT(error, 0);
  }
  // Errors of a background come with those of the draws.
  trial.setting->reference.rows = Matrix(5, 12);
  for (float& each : trial.setting->reference.rows.values()) each = static_cast<float>(draw.normal());
  whole.reference = trial.setting->reference;
  const Explanations averaged = explain(*trial.method, whole.task(), {});
  const Made background = ava(":k=1", trial);
  const auto nearest = static_cast<size_t>(background.combined.antecedents[0]);
  EXPECT_NEAR(background.combined.standard_error(0, 3),
              std::hypot(averaged.standard_error(nearest, 3), averaged.background_error(nearest, 3)), 1e-6);
  EXPECT_GT(averaged.background_error(nearest, 3), 0);
  // A method that is named takes the member's place.
  trial.setting->reference.rows = Matrix(1, 12);
  const Made exact = ava(":k=4:method=exact_shapley", trial);
  EXPECT_TRUE(exact.combined.standard_error.empty());
  const Made other = ava(":k=4:method=[kernel_shap:samples=128]", trial);
  EXPECT_FALSE(same_bits(other.values, made.values));
}

// A network trained on these rows; every fourth is explained, the others are the pool.
MemberTrial network_trial(const Dataset& data, std::string_view target = "auto") {
  std::vector<size_t> test;
  std::vector<size_t> training;
  for (size_t i = 0; i < data.rows(); i++) (i % 4 == 0 ? test : training).push_back(i);
  MemberTrial made;
  made.pool = select_rows(data, training);
  made.data = select_rows(data, test);
  Recipe recipe = table_recipe();
  recipe.mlp.hidden = {12};
  recipe.training.epochs = 60;
  recipe.training.rate = 0.02;
  std::shared_ptr<const Model> model =
      EngineModel::from_onnx("network", train_recipe(recipe, *made.pool, nullptr, on_threads(1, 3)).model);
  Matrix mean(1, data.x.cols());
  for (size_t i = 0; i < made.pool->rows(); i++) {
    for (size_t c = 0; c < mean.cols(); c++) mean(0, c) += made.pool->x(i, c) / static_cast<float>(made.pool->rows());
  }
  made.pool_targets = freeze_targets(*model, made.pool->x.view(), parse_target(model->info(), target).at(0), {});
  made.setting = setting_of(model, made.data->x, mean, target);
  return made;
}

Dataset iris() {
  const Table table = load_dataset("iris");
  return Encoder::fit(table, {}).apply(table);
}

// Nine features, two classes that depend on products of them.
Dataset nine_features() {
  Matrix x(240, 9);
  std::vector<float> labels;
  for (size_t r = 0; r < x.rows(); r++) {
    RandomStream draw(7, "ava_test", r);
    for (float& each : x.row(r)) each = static_cast<float>(draw.normal());
    labels.push_back(x(r, 0) * x(r, 1) + x(r, 2) - x(r, 3) * x(r, 4) + 0.5F * x(r, 5) > 0 ? 1.0F : 0.0F);
  }
  return dataset_of(std::move(x), std::move(labels), {"no", "yes"});
}

// The right side of Theorem 5 for one row, from scratch: distances, weights, the weighted game over all coalitions by
// plain predictions of masked rows, and Shapley's formula. Nothing where a copy of the row is in the pool (1 / 0), or
// the k nearest rows are not determined because the next is as far.
std::vector<double> shapley_of_weighted_game(const MemberTrial& trial, size_t row, size_t k) {
  const Matrix& pool = trial.pool->x;
  const size_t d = pool.cols();
  std::vector<double> deviation(d);
  for (size_t c = 0; c < d; c++) {
    double mean = 0;
    for (size_t z = 0; z < pool.rows(); z++) mean += pool(z, c) / static_cast<double>(pool.rows());
    for (size_t z = 0; z < pool.rows(); z++) deviation[c] += (pool(z, c) - mean) * (pool(z, c) - mean);
    deviation[c] = std::sqrt(deviation[c] / static_cast<double>(pool.rows()));
  }
  std::vector<std::pair<double, size_t>> near;
  for (size_t z = 0; z < pool.rows(); z++) {
    double rho = 0;
    for (size_t c = 0; c < d; c++) {
      rho = std::max(rho, std::abs(static_cast<double>(trial.data->x(row, c)) - pool(z, c)) / deviation[c]);
    }
    near.emplace_back(rho, z);
  }
  std::ranges::sort(near);
  if (near[0].first == 0 || near[k].first < near[k - 1].first * (1 + 1e-5)) return {};
  near.resize(k);
  double total = 0;
  for (const auto& each : near) total += 1 / each.first;

  const Model& model = *trial.setting->model;
  const OutputTerm term = trial.setting->targets.term(row);
  const size_t coalitions = size_t{1} << d;
  std::vector<double> game(coalitions, 0.0);
  for (const auto& [rho, z] : near) {
    Matrix masked(coalitions, d);
    for (size_t s = 0; s < coalitions; s++) {
      for (size_t c = 0; c < d; c++)
        masked(s, c) = (s >> c & 1) != 0 ? pool(z, c) : trial.setting->reference.rows(0, c);
    }
    Matrix outputs(coalitions, model.info().outputs());
    model.predict(masked.view(), outputs.view(), {});
    for (size_t s = 0; s < coalitions; s++) {
      game[s] += 1 / rho / total * (term.offset + static_cast<double>(term.scale) * outputs(s, term.output));
    }
  }
  std::vector<double> factorial(d + 1, 1.0);
  for (size_t i = 1; i <= d; i++) factorial[i] = factorial[i - 1] * static_cast<double>(i);
  std::vector<double> phi(d, 0.0);
  for (size_t s = 0; s < coalitions; s++) {
    const auto size = static_cast<size_t>(std::popcount(s));
    for (size_t i = 0; i < d; i++) {
      if ((s >> i & 1) != 0) continue;
      phi[i] += factorial[size] * factorial[d - size - 1] / factorial[d] * (game[s | size_t{1} << i] - game[s]);
    }
  }
  return phi;
}

TEST(Ava, EqualsTheShapleyValuesOfTheWeightedGame) {
  for (MemberTrial& trial : std::vector<MemberTrial>{network_trial(iris()), network_trial(nine_features())}) {
    const Made made = ava(":k=6:method=exact_shapley", trial);
    size_t compared = 0;
    for (size_t r = 0; r < made.values.rows(); r++) {
      const std::vector<double> expected = shapley_of_weighted_game(trial, r, 6);
      if (expected.empty()) continue;
      double size = 0;
      double sum = 0;
      for (const double each : expected) size = std::max(size, std::abs(each));
      for (size_t p = 0; p < expected.size(); p++) {
        EXPECT_NEAR(made.values(r, p), expected[p], 1e-5 * size) << "row " << r << ", player " << p;
        sum += expected[p];
      }
      EXPECT_NEAR(made.combined.output[r] - made.combined.base[r], sum, 1e-5 * size);
      compared++;
    }
    EXPECT_GE(compared, 15U);
  }
}

TEST(Ava, HasTheSameBitsOnAllThreads) {
  MemberTrial trial = network_trial(iris());
  for (const std::string options : {"", ":class=own:k=3", ":class=same:method=[shapley_sampling:permutations=8]"}) {
    expect_same_aggregate_on_threads("ava", options, trial);
  }
}

// Sensitivity of each row, of AVA (this class) or, without one, of the Shapley values it is made of.
std::vector<double> sensitivities(MemberTrial& trial, const std::string& of_class, const std::string& criterion) {
  const Spec shapley{"exact_shapley"};
  Setting pool = *trial.setting;
  pool.rows = trial.pool->x;
  pool.targets = *trial.pool_targets;
  trial.members.assign(1, explain(shapley, trial.setting->task(), {}));
  trial.method = shapley;
  const AggregateTask task = trial.task();
  const auto scores = [&](const Explanations& explanations, PoolExplanations of_pool) {
    return evaluate(parse_spec("criterion", criterion), evaluate_task(task, explanations, &of_pool), {}, {}).values;
  };
  if (of_class.empty()) return scores(trial.members[0], PoolExplanations(explain(shapley, pool.task(), {}).values));
  const Spec spec{"ava", {{"class", of_class}}};
  const Aggregate made = aggregate(spec, task, {});
  return scores(made.explanations, aggregate_of_pool(spec, task, made));
}

// The 95 % interval of the mean of first - second.
Interval difference(std::vector<double> first, const std::vector<double>& second) {
  for (size_t r = 0; r < first.size(); r++) first[r] -= second[r];
  return bootstrap_mean(first, 0.95, 1000, 1);
}

// Explaining the query's target at its neighbours, and more so at those of its class alone, makes explanations of
// similar rows more similar. Explaining each neighbour's own class has no such effect: next to a border some neighbours
// explain one class and some another.
TEST(Ava, LowersSensitivityOnIrisUnlessNeighboursExplainTheirOwnClass) {
  MemberTrial trial = network_trial(iris());
  for (const std::string criterion : {"avg_sensitivity:normalise=unit", "max_sensitivity:normalise=unit",
                                      "avg_sensitivity:normalise=raw", "max_sensitivity:normalise=raw"}) {
    const std::vector<double> shapley = sensitivities(trial, "", criterion);
    const std::vector<double> query = sensitivities(trial, "query", criterion);
    const std::vector<double> same = sensitivities(trial, "same", criterion);
    const std::vector<double> own = sensitivities(trial, "own", criterion);
    EXPECT_LT(difference(query, shapley).high, 0) << criterion;
    EXPECT_LT(difference(same, shapley).high, 0) << criterion;
    EXPECT_GT(difference(own, query).low, 0) << criterion;
  }
}

// One player takes the whole difference.
TEST(Ava, OnePlayerTakesAll) {
  MemberTrial trial = network_trial(iris());
  trial.setting->players = players_of({0, 0, 0, 0}, 1);
  const Made made = ava("", trial);
  for (size_t r = 0; r < made.values.rows(); r++) {
    EXPECT_NEAR(made.values(r, 0), made.combined.output[r] - made.combined.base[r], 1e-5);
  }
}

}  // namespace
}  // namespace assay::testing
