// Prepared explainers give the bits of explain(), whatever was explained before and from whatever thread.
#include "assay/explain/prepared.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "tests/explain/contract_cases.h"
#include "tests/message.h"

namespace assay::testing {
namespace {

using ::testing::HasSubstr;

OwnedSubject ground_of(const Case& each) {
  OwnedSubject made;
  made.model = each.setting.model;
  made.players = each.setting.players;
  made.reference = each.setting.reference;
  return made;
}

Dataset rows_between(const Case& each, size_t begin, size_t end) {
  Dataset made;
  made.source = "rows";
  made.feature_names = each.setting.model->info().feature_names;
  made.x = Matrix(end - begin, each.setting.rows.cols());
  for (size_t r = begin; r < end; r++) std::ranges::copy(each.setting.rows.row(r), made.x.row(r - begin).begin());
  return made;
}

TargetChoice default_choice(const Case& each) { return parse_target(each.setting.model->info(), "auto").at(0); }

TEST(PreparedExplainer, GivesTheBitsOfExplain) {
  size_t compared = 0;
  for (const MethodInfo& method : methods()) {
    const Spec spec = quick(method);
    for (const Case& few : cases()) {
      if (refusal(spec, few.setting.task()) || few.setting.players.size() > 40) continue;
      SCOPED_TRACE(method.name + " of " + few.name);
      const Case each = with_more_rows(few, 7);
      Context context;
      context.seed = 3;
      const PreparedExplainer prepared(spec, ground_of(each), default_choice(each), 3, {});
      const Explanations expected = explain(spec, each.setting.task(), context);
      // The seed of a call's context does not matter.
      for (const auto& [begin, end] : std::vector<std::pair<size_t, size_t>>{{4, 5}, {0, 7}, {0, 1}, {4, 5}}) {
        const Explanations found = prepared.explain(rows_between(each, begin, end), {});
        expect_same_rows(found, expected, begin, end);
        EXPECT_TRUE(same_bits<double>(found.base, std::span(expected.base).subspan(begin, end - begin)));
        EXPECT_TRUE(same_bits<double>(found.output, std::span(expected.output).subspan(begin, end - begin)));
        EXPECT_EQ(found.provenance.seed, 3U);
        EXPECT_EQ(found.provenance.options, expected.provenance.options);
        if (begin == 0 && end == 7) {
          EXPECT_EQ(found.notes, expected.notes);
          EXPECT_EQ(found.evaluations, expected.evaluations);
        }
      }
      compared++;
    }
  }
  EXPECT_GE(compared, 100U);
}

// A function that counts the rows it is asked for: the reference's outputs are found once.
TEST(PreparedExplainer, AsksForTheReferenceOnce) {
  std::atomic<size_t> rows = 0;
  ModelInfo info;
  info.name = "a function";
  info.feature_names = {"a", "b"};
  info.output_names = {"y"};
  Case each;
  each.setting = setting_of(model_from_function(info,
                                                [&](MatrixView<const float> x, MatrixView<float> out) {
                                                  rows += x.rows();
                                                  for (size_t r = 0; r < x.rows(); r++) out(r, 0) = x(r, 0) * x(r, 1);
                                                }),
                            matrix_of({{1, 2}, {3, 4}}), matrix_of({{0, 1}, {1, 1}, {2, 0}, {5, 5}}));
  const PreparedExplainer prepared({"occlusion"}, ground_of(each), default_choice(each), 0, {});
  rows = 0;
  prepared.explain(rows_between(each, 0, 1), {});
  const size_t first = rows.exchange(0);
  prepared.explain(rows_between(each, 1, 2), {});
  EXPECT_EQ(first, rows + 4);
}

TEST(PreparedExplainer, ManyThreadsMayCallIt) {
  for (const char* method :
       {"tree_shap", "tree_shap_path", "kernel_shap:samples=100", "gradient", "shapley_sampling"}) {
    SCOPED_TRACE(method);
    const Spec spec = parse_spec("method", method);
    const bool trees = spec.name.starts_with("tree");
    const Case each = with_more_rows(fixture(trees ? "trees/xgboost_three/model.json" : "torch_mlp_script"), 8);
    const PreparedExplainer prepared(spec, ground_of(each), default_choice(each), 0, {});
    const Explanations expected = explain(spec, each.setting.task(), {});
    std::vector<Explanations> found(8);
    std::vector<std::thread> threads;
    for (size_t r = 0; r < found.size(); r++) {
      threads.emplace_back([&, r] { found[r] = prepared.explain(rows_between(each, r, r + 1), {}); });
    }
    for (std::thread& thread : threads) thread.join();
    for (size_t r = 0; r < found.size(); r++) expect_same_rows(found[r], expected, r, r + 1);
  }
}

TEST(PreparedExplainer, RefusesBeforehand) {
  const Case trees = fixture("trees/xgboost_binary/model.json", false);
  EXPECT_THAT(message_of([&] { PreparedExplainer({"gradient"}, ground_of(trees), TargetChoice{}, 0, {}); }),
              HasSubstr("gradient needs a gradient"));
  const PreparedExplainer prepared({"tree_shap"}, ground_of(trees), TargetChoice{}, 0, {});
  Dataset narrow = rows_between(trees, 0, 1);
  narrow.x = Matrix(1, 2);
  EXPECT_THAT(message_of([&] { prepared.explain(narrow, {}); }), HasSubstr("columns in the rows, found 2"));
}

TEST(Kept, KeepsWhatWasUsedLast) {
  Kept kept;
  const auto number = [&](int name, int value) {
    return *kept.get<int>(std::to_string(name), [&] { return std::make_shared<int>(value); });
  };
  EXPECT_EQ(number(0, 7), 7);
  EXPECT_EQ(number(0, 8), 7);
  for (int name = 1; name < 200; name++) {
    EXPECT_EQ(number(name, name), name);
    EXPECT_EQ(number(0, 9), 7);  // asked for again and again, so it stays
  }
  EXPECT_EQ(number(199, 5), 199);
  EXPECT_EQ(number(1, 5), 5);  // gone, and made again
  EXPECT_THROW(kept.get<int>("none", []() -> std::shared_ptr<int> { throw std::bad_alloc(); }), std::bad_alloc);
  EXPECT_EQ(*kept.get<int>("none", [] { return std::make_shared<int>(1); }), 1);
}

struct Sized {
  int number = 0;
  size_t size = 0;
  size_t bytes() const { return size; }
};

TEST(Kept, KeepsSoManyBytes) {
  Kept kept(100);
  const auto number = [&](const char* name, int value, size_t bytes) {
    return kept.get<Sized>(name, [&] { return std::make_shared<Sized>(Sized{value, bytes}); })->number;
  };
  EXPECT_EQ(*kept.get<int>("plain", [] { return std::make_shared<int>(5); }), 5);
  EXPECT_EQ(number("a", 1, 40), 1);
  EXPECT_EQ(number("b", 2, 40), 2);
  EXPECT_EQ(kept.bytes(), 80U);
  EXPECT_EQ(number("a", 9, 40), 1);
  EXPECT_EQ(number("c", 3, 60), 3);  // b goes, which was used before a
  EXPECT_EQ(kept.bytes(), 100U);
  EXPECT_EQ(number("a", 9, 40), 1);
  EXPECT_EQ(number("b", 9, 40), 9);  // c goes
  EXPECT_EQ(kept.bytes(), 80U);
  EXPECT_EQ(number("large", 4, 1000), 4);  // all others go, and it stays alone
  EXPECT_EQ(kept.bytes(), 1000U);
  EXPECT_EQ(number("large", 9, 1000), 4);
  EXPECT_EQ(number("a", 7, 40), 7);
  EXPECT_EQ(kept.bytes(), 40U);
  // What does not tell its size is not dropped for the others.
  EXPECT_EQ(*kept.get<int>("plain", [] { return std::make_shared<int>(6); }), 5);
}

// Rows that are predicted to be different classes need different tables, and only one of them fits.
TEST(PreparedExplainer, TablesThatDoNotFitAreMadeAgain) {
  for (const char* method : {"tree_shap", "tree_shap_path"}) {
    SCOPED_TRACE(method);
    const Case each = with_more_rows(fixture("trees/xgboost_three/model.json"), 12);
    const PreparedExplainer all({method}, ground_of(each), TargetChoice{.predicted = true}, 0, {});
    const size_t one = all.kept_bytes() / 2;  // more than one of three tables, less than two
    const PreparedExplainer few({method}, ground_of(each), TargetChoice{.predicted = true}, 0, {}, one);
    EXPECT_GT(few.kept_bytes(), 0U);
    std::vector<uint32_t> targets;
    for (size_t r = 0; r < 12; r++) {
      const Explanations found = few.explain(rows_between(each, r, r + 1), {});
      const Explanations expected = all.explain(rows_between(each, r, r + 1), {});
      expect_same_rows(found, expected, 0, 1);
      EXPECT_LE(few.kept_bytes(), one);
      targets.push_back(found.target.at(0));
    }
    std::ranges::sort(targets);
    EXPECT_NE(targets.front(), targets.back());
  }
}

}  // namespace
}  // namespace assay::testing
