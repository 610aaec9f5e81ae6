// The contract: every registered method on every toy and fixture model, either refused beforehand with a reason or
// explained by the same rules. A new method is held to all of this by its line in the table.
#include <gmock/gmock.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "assay/data/table_io.h"
#include "assay/explain/methods.h"
#include "assay/explain/rounding.h"
#include "tests/explain/contract_cases.h"
#include "tests/explain/raw_feature.h"
#include "tests/explain/toys.h"
#include "tests/explain/tree_toys.h"
#include "tests/message.h"
#include "tests/on_targets.h"

namespace assay::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Explanations rows_alone(const Case& each, const Spec& spec, size_t begin, size_t end) {
  const ExplainTask whole = each.setting.task();
  const Targets targets = slice_targets(whole.targets, begin, end);
  const ExplainTask part{whole.model, whole.rows.rows_between(begin, end), targets, whole.reference, whole.players};
  return explain(spec, part, {});
}

// The same bits on any number of threads, and for each part of the rows alone.
void expect_bits_of_the_row_alone(const Case& each, const Spec& spec,
                                  const std::vector<std::pair<size_t, size_t>>& parts) {
  SCOPED_TRACE(each.name);
  Context one;
  one.threads = 1;
  const Explanations expected = explain(spec, each.setting.task(), one);
  for (const unsigned threads : {2U, 7U}) {
    Context more;
    more.threads = threads;
    SCOPED_TRACE(threads);
    const Explanations found = explain(spec, each.setting.task(), more);
    expect_same_rows(found, expected, 0, expected.rows());
    EXPECT_EQ(found.evaluations, expected.evaluations);
    EXPECT_EQ(found.notes, expected.notes);
  }
  for (const auto& [begin, end] : parts) {
    SCOPED_TRACE(begin);
    expect_same_rows(rows_alone(each, spec, begin, end), expected, begin, end);
  }
}

class Contract : public ::testing::TestWithParam<size_t> {
 protected:
  const MethodInfo& method() const { return methods()[GetParam()]; }
  Spec spec() const { return quick(method()); }
  bool of_trees() const { return method().name.starts_with("tree_shap"); }
  // Three of the toys that the method is for, of which the first has a last feature that takes no part.
  std::vector<Toy> own_toys() const {
    return of_trees() ? tree_toys() : std::vector<Toy>{linear_toy(), product_toy(), min_toy()};
  }
  // Two models of six columns or so.
  std::vector<std::string> own_fixtures() const {
    if (!of_trees()) return {"torch_mlp_script", "sklearn_mlp"};
    return {"trees/xgboost_binary/model.json", "trees/lightgbm_deep/model.txt"};
  }
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
    EXPECT_THAT(reason->reason, StartsWith(method().name)) << each.name;
    EXPECT_EQ(message_of([&] { explain(spec(), each.setting.task(), {}); }), reason->reason);
    const bool gradient = reason->reason.find("gradient") != std::string::npos;
    const bool players = reason->reason.find("players") != std::string::npos;
    const TreeScores* scores = each.setting.model->tree_scores();
    const bool trees = of_trees() && (scores == nullptr || !scores->are_outputs() ||
                                      (method().name == "tree_shap_path" && scores->trees().covers().empty()));
    EXPECT_TRUE((gradient && !each.differentiable) || (players && each.setting.players.size() > 24) || trees)
        << reason->reason;
  }
}

TEST_P(Contract, SupportsSomethingAndEverythingSmooth) {
  EXPECT_GE(supported().size(), 7U);
  for (const Case& each : cases()) {
    const bool fits = of_trees() ? each.name.starts_with("trees/") : each.differentiable;
    if (!fits || each.setting.players.size() > 24) continue;
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
    EXPECT_EQ(found.evaluations > 0, !of_trees());
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

// More rows than threads take at a time; those of images and sequences are few, because they are slow.
TEST_P(Contract, BitsDoNotDependOnThreadsOrCompany) {
  for (const Case* each : supported()) {
    const bool slow = each->setting.players.size() > 12;
    const size_t rows = slow ? 10 : 43;
    expect_bits_of_the_row_alone(with_more_rows(*each, rows), spec(), {{0, 1}, {rows / 3, rows - 2}, {rows - 1, rows}});
  }
}

// More rows than any block or call of a model has.
TEST_P(Contract, BitsOfLongTablesDoNotEither) {
  for (const Toy& toy : own_toys()) {
    expect_bits_of_the_row_alone(with_more_rows({toy.name, setting_of(toy)}, 4'200), spec(),
                                 {{0, 1}, {4'090, 4'100}, {4'199, 4'200}});
  }
}

// Other vector instructions round differently, and that is all they do.
TEST_P(Contract, VectorTargetsAgree) {
  const std::vector<std::string>& targets = all_vector_targets();
  double most = 0;
  for (size_t c = 0; c < cases().size(); c++) {
    const Case& first = cases_on(targets[0])[c];
    if (refusal(spec(), first.setting.task())) continue;
    const Case many = with_more_rows(first, first.setting.players.size() > 12 ? 5 : 12);
    Explanations expected;
    {
      const OnTarget on(targets[0]);
      expected = explain(spec(), many.setting.task(), {});
    }
    for (size_t t = 1; t < targets.size(); t++) {
      SCOPED_TRACE(first.name + " on " + targets[t]);
      Case other = with_more_rows(cases_on(targets[t])[c], many.setting.rows.rows());
      const OnTarget on(targets[t]);
      RoundingCheck check;
      compare_explanations(expected, explain(spec(), other.setting.task(), {}), check);
      EXPECT_TRUE(check.passed()) << check.difference();
      most = std::max(most, check.most());
    }
  }
  RecordProperty("most_of_a_tolerance", std::to_string(most));
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
  for (const Toy& toy : {own_toys()[0], of_trees() ? tree_and_toy() : saturated_toy()}) {
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
  for (const std::string& name : own_fixtures()) {
    Case many = fixture(name);
    const Matrix rows = many.setting.rows;
    Matrix background(3, rows.cols());
    for (size_t b = 0; b < 3; b++) std::copy_n(rows.row(b + 2).data(), rows.cols(), background.row(b).data());
    many.setting.reference.rows = background;
    const Explanations all = explain(spec, many.setting.task(), {});
    Matrix64 mean(all.rows(), all.players());
    Matrix64 squares(all.rows(), all.players());
    Matrix64 bends(all.rows(), all.players());
    for (size_t b = 0; b < 3; b++) {
      Case one = fixture(name);
      std::copy_n(background.row(b).data(), rows.cols(), one.setting.reference.rows.row(0).data());
      const Explanations each = explain(spec, one.setting.task(), {});
      for (size_t i = 0; i < mean.values().size(); i++) {
        mean.values()[i] += each.values.values()[i] / 3.0;
        squares.values()[i] += static_cast<double>(each.values.values()[i]) * each.values.values()[i] / 3.0;
        bends.values()[i] += (b == 1 ? -2.0 : 1.0) * each.values.values()[i];
      }
    }
    ASSERT_EQ(all.background_error.rows(), all.rows());
    for (size_t i = 0; i < mean.values().size(); i++) {
      const double expected = mean.values()[i];
      EXPECT_NEAR(all.values.values()[i], expected, 2e-5) << name;
      const double variance = std::max(0.0, squares.values()[i] - expected * expected) * 3 / 2;
      EXPECT_NEAR(all.background_error.values()[i], std::sqrt(variance / 3), 1e-4) << name;
    }
    // Rows of strata: the same values, and errors from how far each row lies from the middle of its neighbours.
    many.setting.reference.strata = true;
    const Explanations strata = explain(spec, many.setting.task(), {});
    EXPECT_EQ(0, std::memcmp(strata.values.data(), all.values.data(), all.values.values().size_bytes()));
    for (size_t i = 0; i < mean.values().size(); i++) {
      EXPECT_NEAR(strata.background_error.values()[i], std::abs(bends.values()[i]) / std::sqrt(6.0 * 1 * 3), 1e-4)
          << name;
    }
  }
}

// All players in one: it gets everything, by every complete method. Integrated gradients are complete to a thousandth
// of the change, the others to the rounding of float32.
TEST_P(Contract, GroupsArePlayers) {
  Case grouped = fixture(own_fixtures()[0]);
  const auto expect_complete = [&](const Explanations& found) {
    if (!method().complete) return;
    for (size_t r = 0; r < found.rows(); r++) {
      const double share = method().name == "integrated_gradients" ? 1e-3 : 0;
      const double rounding = 2e-6 * (std::abs(found.output[r]) + std::abs(found.base[r]));
      EXPECT_NEAR(found.gap[r], 0, share * std::abs(found.output[r] - found.base[r]) + rounding) << r;
    }
  };
  grouped.setting.players.names = {"first", "rest"};
  grouped.setting.players.of_column = {0, 1, 1, 0, 1, 1};
  const Explanations found = explain(spec(), grouped.setting.task(), {});
  ASSERT_EQ(found.players(), 2U);
  expect_complete(found);
  grouped.setting.players.names = {"all"};
  grouped.setting.players.of_column.assign(6, 0);
  if (const auto reason = refusal(spec(), grouped.setting.task())) return;
  expect_complete(explain(spec(), grouped.setting.task(), {}));
}

// Players in another order are the same players, for methods that see a game and ask for every coalition or, as
// occlusion, for fixed ones. (What shapley_sampling draws goes by the players' places.)
TEST_P(Contract, PlayersInAnotherOrderGetTheSame) {
  const std::set<std::string> of_games = {"exact_shapley", "kernel_shap", "lime", "occlusion"};
  if (!of_games.contains(method().name)) return;
  const std::vector<std::vector<size_t>> orders = {
      {0, 1, 2, 3, 4, 5, 6, 7}, {7, 6, 5, 4, 3, 2, 1, 0}, {3, 6, 1, 0, 7, 4, 2, 5}};
  const Spec exact = parse_spec("method", method().name);  // 2^8 coalitions are fewer than any default budget
  const Explanations expected = explain(exact, raw_feature(orders[0]).task(), {});
  for (size_t o = 1; o < orders.size(); o++) {
    const Explanations found = explain(exact, raw_feature(orders[o]).task(), {});
    for (size_t r = 0; r < found.rows(); r++) {
      double largest = 0;
      for (const float each : expected.values.row(r)) largest = std::max<double>(largest, std::abs(each));
      for (size_t i = 0; i < found.players(); i++) {
        EXPECT_NEAR(found.values(r, i), expected.values(r, orders[o][i]), 1e-5 * largest)
            << "row " << r << ", player " << i;
      }
    }
  }
}

TEST_P(Contract, UnknownOptionsAndMissingNumbersAreRefused) {
  const Setting setting = setting_of(own_toys()[0]);
  EXPECT_THAT(sentence([&] { explain(parse_spec("m", method().name + ":colour=red"), setting.task(), {}); }),
              HasSubstr("colour"));
  if (of_trees()) return;  // a missing value is one for them
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

// Asks to stop once the work on the rows has begun, which is when a method first reports progress.
class StopAtFirst final : public Progress {
 public:
  void begin(std::string_view /*task*/, uint64_t /*total*/) noexcept override { stop = true; }
  void advance(uint64_t amount) noexcept override { advanced += amount; }
  void end() noexcept override {}
  std::atomic<bool> stop = false;
  std::atomic<uint64_t> advanced = 0;
};

// With few features games are played whole; the last has too many for that.
TEST_P(Contract, StopsWhenAsked) {
  for (const unsigned threads : {1U, 2U}) {
    for (const Case& each :
         {with_more_rows(fixture("torch_mlp_script"), 43), with_more_rows(black_box(), 43),
          with_more_rows(fixture("torch_cnn1d_script"), 10), with_more_rows(fixture(own_fixtures()[0]), 43)}) {
      if (refusal(spec(), each.setting.task())) continue;
      SCOPED_TRACE(each.name);
      StopAtFirst progress;
      Context context;
      context.threads = threads;
      context.progress = &progress;
      context.cancelled = &progress.stop;
      try {
        explain(spec(), each.setting.task(), context);
        ADD_FAILURE() << "was not stopped";
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::cancelled);
      }
      EXPECT_TRUE(progress.stop);
      EXPECT_EQ(progress.advanced, 0U);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, Contract, ::testing::Range<size_t>(0, methods().size()),
                         [](const auto& each) { return methods()[each.param].name; });

TEST(Methods, AreAllDescribed) {
  EXPECT_EQ(methods().size(), 13U);
  for (const MethodInfo& method : methods()) {
    EXPECT_FALSE(method.title.empty()) << method.name;
    EXPECT_FALSE(method.citation.empty()) << method.name;
    EXPECT_FALSE(method.cost.empty()) << method.name;
    EXPECT_EQ(&find_method(method.name), &method);
  }
  EXPECT_THAT(sentence([] { find_method("shap"); }), HasSubstr("kernel_shap"));
  EXPECT_THAT(sentence([] { find_method("kernel_shape"); }), HasSubstr("did you mean 'kernel_shap'"));
}

}  // namespace
}  // namespace assay::testing
