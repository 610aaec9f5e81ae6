// The contract: every registered method on every toy and fixture model, either refused beforehand with a reason or
// explained by the same rules. A new method is held to all of this by its line in the table.
#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <map>

#include "assay/data/table_io.h"
#include "assay/explain/methods.h"
#include "tests/explain/toys.h"
#include "tests/message.h"

namespace assay::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Budgets fit for a test; a method that is not listed runs with its defaults.
Spec quick(const MethodInfo& method) {
  static const std::map<std::string, std::string> budgets = {{"shapley_sampling", ":permutations=6"},
                                                             {"smooth_grad", ":samples=5"},
                                                             {"kernel_shap", ":samples=400"},
                                                             {"integrated_gradients", ":most_steps=256"},
                                                             {"lime", ":samples=300"}};
  const auto found = budgets.find(method.name);
  return parse_spec("method", method.name + (found == budgets.end() ? "" : found->second));
}

struct Case {
  std::string name;
  Setting setting;
  bool differentiable = true;
};

Case fixture(const std::string& name, bool differentiable = true) {
  const std::string folder = std::string(ASSAY_SOURCE_DIR) + "/tests/fixtures/models/" + name;
  std::shared_ptr<GraphModel> model = GraphModel::load(folder + "/model.onnx");
  const Dataset data = model->features_of(read_table(folder + "/rows.csv"));
  Matrix rows(5, data.x.cols());
  Matrix reference(1, data.x.cols());
  for (size_t r = 0; r < rows.rows(); r++) std::copy_n(data.x.row(r).data(), rows.cols(), rows.row(r).data());
  std::copy_n(data.x.row(9).data(), rows.cols(), reference.row(0).data());
  Case made{name, setting_of(model, std::move(rows), std::move(reference)), differentiable};
  made.setting.players = group_players(data);
  return made;
}

Case black_box() {
  ModelInfo info;
  info.name = "a function";
  info.feature_names = {"a", "b", "c", "d"};
  info.output_names = {"y"};
  std::shared_ptr<const Model> model =
      model_from_function(info, [](MatrixView<const float> rows, MatrixView<float> out) {
        for (size_t r = 0; r < rows.rows(); r++) out(r, 0) = std::sin(rows(r, 0)) * rows(r, 1) + rows(r, 3);
      });
  return {"black box", setting_of(model, matrix_of({{1, 2, 3, 4}, {0, -1, 2, 0.5F}}), matrix_of({{0, 1, 1, 0}})),
          false};
}

const std::vector<Case>& cases() {
  static const std::vector<Case> made = [] {
    std::vector<Case> all;
    for (const Toy& toy : all_toys()) all.push_back({toy.name, setting_of(toy)});
    for (const char* name : {"torch_mlp_script", "torch_cnn_script", "torch_attention_script", "torch_cnn1d_script",
                             "sklearn_mlp", "sklearn_mlp_binary", "sklearn_logistic_binary"}) {
      all.push_back(fixture(name));
    }
    for (const char* name : {"sklearn_forest", "lightgbm_three", "xgboost_binary", "sklearn_columns"}) {
      all.push_back(fixture(name, false));
    }
    all.push_back(black_box());
    return all;
  }();
  return made;
}

bool same_bits(const Matrix& a, const Matrix& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         std::memcmp(a.data(), b.data(), a.values().size() * sizeof(float)) == 0;
}

Explanations rows_alone(const Case& each, const Spec& spec, size_t begin, size_t end) {
  const ExplainTask whole = each.setting.task();
  const Targets targets = slice_targets(whole.targets, begin, end);
  const ExplainTask part{whole.model, whole.rows.rows_between(begin, end), targets, whole.reference, whole.players};
  return explain(spec, part, {});
}

class Contract : public ::testing::TestWithParam<size_t> {
 protected:
  const MethodInfo& method() const { return methods()[GetParam()]; }
  Spec spec() const { return quick(method()); }
  // The cases that the method does not refuse.
  std::vector<const Case*> supported() const {
    std::vector<const Case*> found;
    for (const Case& each : cases()) {
      if (!refusal(spec(), each.setting.task())) found.push_back(&each);
    }
    return found;
  }
};

TEST_P(Contract, RefusesBeforehandWithAReason) {
  for (const Case& each : cases()) {
    const auto reason = refusal(spec(), each.setting.task());
    if (!reason) continue;
    EXPECT_THAT(*reason, StartsWith(method().name)) << each.name;
    EXPECT_EQ(message_of([&] { explain(spec(), each.setting.task(), {}); }), *reason);
    const bool gradient = reason->find("gradient") != std::string::npos;
    const bool players = reason->find("players") != std::string::npos;
    EXPECT_TRUE((gradient && !each.differentiable) || (players && each.setting.players.size() > 24)) << *reason;
  }
}

TEST_P(Contract, SupportsSomethingAndEverythingSmooth) {
  EXPECT_GE(supported().size(), 8U);
  for (const Case& each : cases()) {
    if (!each.differentiable || each.setting.players.size() > 24) continue;
    EXPECT_EQ(refusal(spec(), each.setting.task()), std::nullopt) << each.name;
  }
}

TEST_P(Contract, ResultsAreWholeAndNamed) {
  for (const Case* each : supported()) {
    SCOPED_TRACE(each->name);
    const ExplainTask task = each->setting.task();
    const Explanations found = explain(spec(), task, {});
    ASSERT_EQ(found.rows(), task.rows.rows());
    ASSERT_EQ(found.players(), task.players.size());
    EXPECT_EQ(found.features, task.players.names);
    EXPECT_GT(found.evaluations, 0U);
    EXPECT_EQ(found.provenance.method, method().name);
    EXPECT_EQ(found.provenance.options.size(), method().options.size());
    EXPECT_EQ(found.provenance.model, task.model.info().name);
    EXPECT_FALSE(found.provenance.vector_target.empty());
    for (const float value : found.values.values()) EXPECT_TRUE(std::isfinite(value));
    Matrix outputs(task.rows.rows(), task.model.info().outputs());
    task.model.predict(task.rows, outputs.view(), {});
    for (size_t r = 0; r < found.rows(); r++) {
      const OutputTerm& term = task.targets.term(r);
      EXPECT_FLOAT_EQ(static_cast<float>(found.output[r]), term.offset + term.scale * outputs(r, term.output));
    }
    if (!method().sampled) {
      EXPECT_TRUE(found.standard_error.empty());
    }
    EXPECT_TRUE(found.background_error.empty());
    for (const float error : found.standard_error.values()) EXPECT_GE(error, 0);
  }
}

TEST_P(Contract, CompleteMethodsAreComplete) {
  if (!method().complete) return;
  size_t complete_rows = 0;
  for (const Case* each : supported()) {
    const Explanations found = explain(spec(), each->setting.task(), {});
    for (size_t r = 0; r < found.rows(); r++) {
      // Integrated gradients promise a thousandth, or a note; rounding of float32 outputs and values is all that others
      // have.
      const double share = method().name == "integrated_gradients" ? 1e-3 : 1e-4;
      const double change = std::abs(found.output[r] - found.base[r]);
      const double rounding = 4e-6 * (std::abs(found.output[r]) + std::abs(found.base[r]) + 1);
      const bool noted = !found.notes.empty() && found.notes[0].find("completeness gap above") != std::string::npos;
      if (noted) continue;
      EXPECT_LE(std::abs(found.gap[r]), share * change + rounding) << each->name << ", row " << r;
      complete_rows++;
    }
  }
  EXPECT_GE(complete_rows, 25U);
}

TEST_P(Contract, BitsDoNotDependOnThreadsOrCompany) {
  for (const Case* each : supported()) {
    SCOPED_TRACE(each->name);
    Context one;
    one.threads = 1;
    const Explanations expected = explain(spec(), each->setting.task(), one);
    for (const unsigned threads : {2U, 7U}) {
      Context more;
      more.threads = threads;
      const Explanations found = explain(spec(), each->setting.task(), more);
      EXPECT_TRUE(same_bits(found.values, expected.values)) << threads;
      EXPECT_TRUE(same_bits(found.standard_error, expected.standard_error)) << threads;
    }
    const size_t last = expected.rows() - 1;
    const Explanations alone = rows_alone(*each, spec(), last, last + 1);
    for (size_t i = 0; i < expected.players(); i++) {
      EXPECT_EQ(alone.values(0, i), expected.values(last, i)) << i;
      if (!expected.standard_error.empty()) {
        EXPECT_EQ(alone.standard_error(0, i), expected.standard_error(last, i)) << i;
      }
    }
  }
}

TEST_P(Contract, TheSeedDecidesWhatIsSampled) {
  const Case wide = fixture("torch_cnn1d_script");  // 32 features: too many coalitions to enumerate
  if (refusal(spec(), wide.setting.task())) return;
  Context other;
  other.seed = 1;
  const Explanations first = explain(spec(), wide.setting.task(), {});
  const Explanations second = explain(spec(), wide.setting.task(), other);
  EXPECT_EQ(same_bits(first.values, second.values), !method().sampled);
}

TEST_P(Contract, AFeatureThatTakesNoPartGetsNothing) {
  for (const Toy& toy : {linear_toy(), saturated_toy()}) {
    const Explanations found = explain(spec(), setting_of(toy).task(), {});
    // Occlusion, Shapley, gradients: exactly nothing. LIME's ridge may leave rounding.
    for (size_t r = 0; r < found.rows(); r++) EXPECT_NEAR(found.values(r, found.players() - 1), 0, 1e-6) << toy.name;
  }
}

// The value against a background is the mean of the values against its rows: all methods are linear in the game, once
// integrated gradients do not choose their points by the gap.
TEST_P(Contract, ABackgroundIsTheMeanOfItsRows) {
  if (!method().uses_reference) return;
  const Spec spec = method().name == "integrated_gradients"
                        ? parse_spec("method", "integrated_gradients:rule=gauss_legendre:tolerance=0")
                        : quick(method());
  for (const char* name : {"torch_mlp_script", "sklearn_mlp"}) {
    Case many = fixture(name);
    const Matrix rows = many.setting.rows;
    Matrix background(3, rows.cols());
    for (size_t b = 0; b < 3; b++) std::copy_n(rows.row(b + 2).data(), rows.cols(), background.row(b).data());
    many.setting.reference.rows = background;
    const Explanations all = explain(spec, many.setting.task(), {});
    Matrix64 mean(all.rows(), all.players());
    Matrix64 squares(all.rows(), all.players());
    for (size_t b = 0; b < 3; b++) {
      Case one = fixture(name);
      std::copy_n(background.row(b).data(), rows.cols(), one.setting.reference.rows.row(0).data());
      const Explanations each = explain(spec, one.setting.task(), {});
      for (size_t i = 0; i < mean.values().size(); i++) {
        mean.values()[i] += each.values.values()[i] / 3.0;
        squares.values()[i] += static_cast<double>(each.values.values()[i]) * each.values.values()[i] / 3.0;
      }
    }
    ASSERT_EQ(all.background_error.rows(), all.rows());
    for (size_t i = 0; i < mean.values().size(); i++) {
      const double expected = mean.values()[i];
      EXPECT_NEAR(all.values.values()[i], expected, 2e-5) << name;
      const double variance = std::max(0.0, squares.values()[i] - expected * expected) * 3 / 2;
      EXPECT_NEAR(all.background_error.values()[i], std::sqrt(variance / 3), 1e-4) << name;
    }
  }
}

// All players in one: it gets everything, by every complete method.
TEST_P(Contract, GroupsArePlayers) {
  Case grouped = fixture("torch_mlp_script");
  grouped.setting.players.names = {"first", "rest"};
  grouped.setting.players.of_column = {0, 1, 1, 0, 1, 1};
  const Explanations found = explain(spec(), grouped.setting.task(), {});
  ASSERT_EQ(found.players(), 2U);
  if (method().complete) {
    for (size_t r = 0; r < found.rows(); r++) EXPECT_NEAR(found.gap[r], 0, 2e-3);
  }
  grouped.setting.players.names = {"all"};
  grouped.setting.players.of_column.assign(6, 0);
  if (const auto reason = refusal(spec(), grouped.setting.task())) return;
  const Explanations one = explain(spec(), grouped.setting.task(), {});
  for (size_t r = 0; r < one.rows(); r++) {
    if (method().complete) {
      EXPECT_NEAR(one.values(r, 0), one.output[r] - one.base[r], 2e-3);
    }
  }
}

TEST_P(Contract, UnknownOptionsAndMissingNumbersAreRefused) {
  const Setting setting = setting_of(linear_toy());
  EXPECT_THAT(sentence([&] { explain(parse_spec("m", method().name + ":colour=red"), setting.task(), {}); }),
              HasSubstr("colour"));
  Setting missing = setting_of(linear_toy());
  missing.rows(1, 2) = NAN;
  EXPECT_THAT(sentence([&] { explain(spec(), missing.task(), {}); }), HasSubstr("row 2 has no value (NaN) in column"));
  if (!method().uses_reference) {
    const Explanations found = explain(spec(), setting.task(), {});
    EXPECT_TRUE(std::isnan(found.base[0]) && std::isnan(found.gap[0]));
    return;
  }
  Setting empty = setting_of(linear_toy());
  empty.reference.rows(0, 0) = NAN;
  EXPECT_THAT(sentence([&] { explain(spec(), empty.task(), {}); }), HasSubstr("reference (test) row 1"));
}

TEST_P(Contract, StopsWhenAsked) {
  const std::atomic<bool> cancelled = true;
  Context context;
  context.cancelled = &cancelled;
  const Setting setting = fixture("torch_mlp_script").setting;
  try {
    explain(spec(), setting.task(), context);
    FAIL() << "was not stopped";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::cancelled);
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, Contract, ::testing::Range<size_t>(0, methods().size()),
                         [](const auto& each) { return methods()[each.param].name; });

TEST(Methods, AreAllDescribed) {
  EXPECT_EQ(methods().size(), 11U);
  for (const MethodInfo& method : methods()) {
    EXPECT_FALSE(method.title.empty()) << method.name;
    EXPECT_FALSE(method.citation.empty()) << method.name;
    EXPECT_FALSE(method.cost.empty()) << method.name;
    EXPECT_EQ(&find_method(method.name), &method);
  }
  EXPECT_THAT(sentence([] { find_method("shap"); }), HasSubstr("kernel_shap"));
}

}  // namespace
}  // namespace assay::testing
