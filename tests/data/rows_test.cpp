// Splits, samples, baselines, summaries and named data sets.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <span>

#include "assay/data/baseline.h"
#include "assay/data/column_order.h"
#include "assay/data/datasets.h"
#include "assay/data/describe.h"
#include "assay/data/encoder.h"
#include "assay/data/split.h"
#include "tests/data/sets/clinical_tables.h"
#include "tests/message.h"

namespace assay {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

TEST(Split, KeepsSharesExactlyAndCoversAllRows) {
  std::vector<float> labels;
  for (int i = 0; i < 100; ++i) labels.push_back(i < 70 ? 0.0f : i < 90 ? 1.0f : kNaN);
  const RowSplit split = stratified_split(labels, 0.3, 1);
  EXPECT_EQ(split.test.size(), 30u);
  std::map<int, int> counts;
  for (const size_t i : split.test) ++counts[std::isnan(labels[i]) ? -1 : static_cast<int>(labels[i])];
  EXPECT_EQ(counts, (std::map<int, int>{{-1, 3}, {0, 21}, {1, 6}}));
  std::set<size_t> all(split.train.begin(), split.train.end());
  all.insert(split.test.begin(), split.test.end());
  EXPECT_EQ(all.size(), 100u);
  EXPECT_TRUE(std::ranges::is_sorted(split.train));
  EXPECT_TRUE(std::ranges::is_sorted(split.test));
}

TEST(Split, LargestRemaindersDecideWhatDoesNotDivide) {
  // Shares of 10: 3.33, 3.33, 3.33 of three classes of ten; the one left over goes to the first.
  std::vector<float> labels;
  for (int i = 0; i < 30; ++i) labels.push_back(static_cast<float>(i % 3));
  std::map<float, int> counts;
  for (const size_t i : stratified_sample(labels, 10, 1)) ++counts[labels[i]];
  EXPECT_EQ(counts, (std::map<float, int>{{0, 4}, {1, 3}, {2, 3}}));
}

TEST(Split, SeedDecides) {
  const std::vector<float> labels(1000, 0);
  EXPECT_EQ(stratified_split(labels, 0.2, 1).test, stratified_split(labels, 0.2, 1).test);
  EXPECT_NE(stratified_split(labels, 0.2, 1).test, stratified_split(labels, 0.2, 2).test);
  EXPECT_EQ(stratified_sample(labels, 5000, 1).size(), 1000u);
  EXPECT_EQ(message_of([&] { stratified_split(labels, 1, 1); }),
            "test share: expected a number between 0 and 1, found 1");
}

TEST(GroupedSplit, WithoutGroupsItIsTheSplitByRows) {
  std::vector<float> labels;
  for (int i = 0; i < 200; ++i) labels.push_back(static_cast<float>(i % 3));
  EXPECT_EQ(grouped_split(labels, {}, 0.2, 7).test, stratified_split(labels, 0.2, 7).test);
}

TEST(GroupedSplit, ByHand) {
  // Ten rows, half of them wanted; groups of 4, 4 and 2 rows of one class. Whatever the order, the first two of them
  // that come are 4 then 4 (|5 - 8| is not below |5 - 4|: refused, and 2 too, for |5 - 6| = |5 - 4|), 4 then 2 (refused
  // likewise), or 2 then 4 (|5 - 6| = 1 is below 3: taken). So the test part has 4 or 6 rows.
  const std::vector<float> labels(10, 1);
  const std::vector<size_t> groups = {9, 9, 9, 9, 5, 5, 7, 7, 7, 7};
  std::set<size_t> sizes;
  for (uint64_t seed = 0; seed < 40; ++seed) sizes.insert(grouped_split(labels, groups, 0.5, seed).test.size());
  EXPECT_EQ(sizes, (std::set<size_t>{4, 6}));
  EXPECT_EQ(message_of([&] { grouped_split(labels, std::vector<size_t>{1, 2}, 0.5, 1); }),
            "groups: expected one for each of 10 rows, found 2");
  EXPECT_EQ(message_of([&] { grouped_split(labels, groups, 0, 1); }),
            "test share: expected a number between 0 and 1, found 0");
}

// Rows of each class, NaN as a class, in a part of the rows.
std::map<int, int> class_counts(const std::vector<float>& labels, const std::vector<size_t>& rows) {
  std::map<int, int> counts;
  for (const size_t i : rows) ++counts[std::isnan(labels[i]) ? -1 : static_cast<int>(labels[i])];
  return counts;
}

int squared_distance(const std::map<int, int>& a, const std::map<int, int>& b) {
  int sum = 0;
  for (int c = -1; c < 3; ++c) {
    const int difference = (a.contains(c) ? a.at(c) : 0) - (b.contains(c) ? b.at(c) : 0);
    sum += difference * difference;
  }
  return sum;
}

RC_GTEST_PROP(GroupedSplit, KeepsGroupsTogetherAndSharesAsNearAsTheyAllow, ()) {
  const auto rows = *rc::gen::inRange<size_t>(1, 80);
  const auto people = *rc::gen::inRange<size_t>(1, 40);
  const bool pure = *rc::gen::arbitrary<bool>();  // a person has one class
  const auto seed = *rc::gen::arbitrary<uint64_t>();
  const double share = *rc::gen::element(0.1, 0.2, 0.5, 0.8);
  std::vector<size_t> groups(rows);
  std::vector<float> labels(rows);
  for (size_t i = 0; i < rows; ++i) {
    groups[i] = 1000 - *rc::gen::inRange<size_t>(0, people);
    const int label = pure ? static_cast<int>(groups[i] % 4) - 1 : *rc::gen::inRange(-1, 3);
    labels[i] = label < 0 ? kNaN : static_cast<float>(label);
  }
  const RowSplit split = grouped_split(labels, groups, share, seed);
  RC_ASSERT(split.test == grouped_split(labels, groups, share, seed).test);
  std::set<size_t> test_people, all;
  for (const size_t i : split.test) test_people.insert(groups[i]);
  for (const size_t i : split.train) RC_ASSERT(!test_people.contains(groups[i]));
  all.insert(split.train.begin(), split.train.end());
  all.insert(split.test.begin(), split.test.end());
  RC_ASSERT(all.size() == rows && split.train.size() + split.test.size() == rows);
  RC_ASSERT(std::ranges::is_sorted(split.train) && std::ranges::is_sorted(split.test));

  const auto wanted = class_counts(labels, stratified_split(labels, share, seed).test);
  const auto found = class_counts(labels, split.test);
  std::map<size_t, std::vector<size_t>> rows_of;
  for (size_t i = 0; i < rows; ++i) rows_of[groups[i]].push_back(i);
  for (const auto& [person, own] : rows_of) {
    auto moved = found;
    const int sign = test_people.contains(person) ? -1 : 1;
    for (const auto& [c, count] : class_counts(labels, own)) moved[c] += sign * count;
    RC_ASSERT(squared_distance(moved, wanted) >= squared_distance(found, wanted));
  }
  if (!pure) return;
  std::map<int, int> largest;
  for (const size_t person : std::set<size_t>(groups.begin(), groups.end())) {
    const auto count = static_cast<int>(std::ranges::count(groups, person));
    auto& most = largest[static_cast<int>(person % 4) - 1];
    most = std::max(most, count);
  }
  for (const auto& [c, most] : largest) {
    const int off = (found.contains(c) ? found.at(c) : 0) - (wanted.contains(c) ? wanted.at(c) : 0);
    RC_ASSERT(2 * std::abs(off) <= most);
  }
}

// Loads both parts of a set from tables, and says whose the test part's rows are.
std::set<std::string> test_people(const std::string& set, const Tables& tables,
                                  const std::map<std::string, std::string>& person_of, uint64_t seed) {
  const auto root = std::filesystem::path(::testing::TempDir()) / "assay_grouped_split";
  std::filesystem::create_directories(root / set);
  for (const auto& [name, text] : tables) std::ofstream(root / set / name) << text;
  DatasetRequest request;
  request.data_dirs = {root.string()};
  request.seed = seed;
  std::set<std::string> sides[2];
  for (const Split part : {Split::train, Split::test}) {
    request.split = part;
    for (const std::string& id : load_dataset(set, request).ids) {
      sides[part == Split::test ? 1 : 0].insert(person_of.at(id));
    }
  }
  std::filesystem::remove_all(root);
  for (const std::string& person : sides[1]) EXPECT_FALSE(sides[0].contains(person)) << set << ", " << person;
  EXPECT_FALSE(sides[1].empty());
  return sides[1];
}

TEST(GroupedSplit, StaysOfOnePatientAreOnOneSide) {
  std::map<std::string, std::string> person_of;
  Tables eicu = {{"apacheapsvar.csv",
                  "patientunitstayid,eyes,motor,verbal,urine,wbc,temperature,sodium,heartrate,meanbp,pao2,bun,"
                  "bilirubin,fio2\n"},
                 {"apachepredvar.csv", "patientunitstayid,aids,lymphoma,metastaticcancer,leukemia,electivesurgery\n"},
                 {"patient.csv", "patientunitstayid,age,apacheadmissiondx,UniquePID\n"}};
  Tables mimic = {{"ADMISSIONS.csv", "HADM_ID,ADMISSION_TYPE\n"},
                  {"PATIENTS.csv", "SUBJECT_ID,DOB\n"},
                  {"ICUSTAYS.csv", "ICUSTAY_ID,SUBJECT_ID,HADM_ID,INTIME\n"},
                  {"DIAGNOSES_ICD.csv", "HADM_ID,ICD9_CODE\n"},
                  {"PROCEDURES_ICD.csv", "HADM_ID,ICD9_CODE\n"},
                  {"CHARTEVENTS.csv", "ITEMID,ICUSTAY_ID,CHARTTIME,VALUENUM,VALUE,ERROR\n"},
                  {"LABEVENTS.csv", "ITEMID,HADM_ID,CHARTTIME,VALUENUM,VALUE\n"},
                  {"OUTPUTEVENTS.csv", "ITEMID,ICUSTAY_ID,CHARTTIME,VALUE,ISERROR\n"}};
  for (int person = 0; person < 12; ++person) {
    const std::string name = std::to_string(500 + person);
    mimic["PATIENTS.csv"] += name + ",2080-01-01 00:00:00\n";
    for (int visit = 0; visit <= person % 4; ++visit) {
      const std::string stay = std::to_string(10 * (person + 1) + visit);
      person_of[stay] = name;
      eicu["apacheapsvar.csv"] += stay + ",4,6,5,1,10,36,139,88,108,80,28,1,40\n";
      eicu["patient.csv"] += stay + ",50," + (person % 3 == 0 ? "Sepsis" : "Other") + ",p" + name + "\n";
      mimic["ADMISSIONS.csv"] += stay + ",URGENT\n";
      mimic["ICUSTAYS.csv"] += stay + "," + name + "," + stay + ",2140-01-01 00:00:00\n";
    }
  }
  std::set<std::set<std::string>> seen;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    seen.insert(test_people("eicu", eicu, person_of, seed));
    seen.insert(test_people("mimic3", mimic, person_of, seed));
  }
  EXPECT_GT(seen.size(), 1u);
  // Without the column each stay is its own, as it is where the cell is empty.
  eicu["patient.csv"] = "patientunitstayid,age,apacheadmissiondx\n";
  for (const auto& [stay, name] : person_of) eicu["patient.csv"] += stay + ",50,\n";
  std::map<std::string, std::string> own;
  for (const auto& [stay, name] : person_of) own[stay] = stay;
  EXPECT_EQ(test_people("eicu", eicu, own, 1).size(), 6u);  // a fifth of 30
}

Dataset small_pool() {
  Dataset pool;
  pool.x = Matrix(4, 4);
  const float rows[4][4] = {{1, 2, 1, 0}, {3, 2, 0, 1}, {kNaN, 0, 0, 1}, {8, kNaN, kNaN, kNaN}};
  for (size_t i = 0; i < 4; ++i) std::copy(rows[i], rows[i] + 4, pool.x.row(i).begin());
  pool.feature_names = {"n", "code", "h=a", "h=b"};
  pool.groups = {{"n", 0, 1, ColumnKind::numeric, {}},
                 {"code", 1, 1, ColumnKind::categorical, {"p", "q", "r"}},
                 {"h", 2, 2, ColumnKind::categorical, {"a", "b"}}};
  return pool;
}

TEST(Baseline, MeanAndMedianByHand) {
  EXPECT_EQ(mean_baseline(small_pool()), (std::vector<float>{4, 2, 0, 1}));
  EXPECT_EQ(median_baseline(small_pool()), (std::vector<float>{3, 2, 0, 1}));
}

// The numbers of x stand for 1700000001, 1700000003 and 1700000050; their mean is no float32 number.
TEST(Baseline, CellsAreAveragedWhereNumbersStandForThem) {
  Dataset pool = small_pool();
  pool.shown[0] = {1700000001, 1700000003, std::nan(""), 1700000050};
  EXPECT_EQ(mean_cells(pool), (std::vector<double>{1700000018, 2, 0, 1}));
  EXPECT_EQ(median_cells(pool), (std::vector<double>{1700000003, 2, 0, 1}));
  // Of the numbers themselves, which a wrapped model's rows need not resemble.
  EXPECT_EQ(mean_baseline(pool), (std::vector<float>{4, 2, 0, 1}));
}

// 1, 3 and 8 have variance ((-3)^2 + (-1)^2 + 4^2) / 2 = 13. An infinite number is in no statistic.
TEST(Baseline, InfiniteNumbersAreLeftOut) {
  Dataset pool = small_pool();
  EXPECT_EQ(infinite_numbers(pool), 0u);
  EXPECT_EQ(numeric_deviations(pool), (std::vector<float>{std::sqrt(13.0F), 0, 0, 0}));
  pool.x(2, 0) = std::numeric_limits<float>::infinity();
  EXPECT_EQ(infinite_numbers(pool), 1u);
  EXPECT_EQ(numeric_deviations(pool), (std::vector<float>{std::sqrt(13.0F), 0, 0, 0}));
  EXPECT_EQ(mean_baseline(pool), (std::vector<float>{4, 2, 0, 1}));
  EXPECT_EQ(median_baseline(pool), (std::vector<float>{3, 2, 0, 1}));
}

TEST(ColumnOrder, ANameAtAnotherPlaceIsRefused) {
  const auto named = [](const char* source, std::vector<std::string> names) {
    Dataset data;
    data.source = source;
    data.feature_names = std::move(names);
    return data;
  };
  const Dataset rows = named("rows.csv", {"a", "b", "c"});
  const auto found = [&](std::vector<std::string> names) {
    return message_of([&] { require_same_order(rows, named("pool.csv", std::move(names))); });
  };
  EXPECT_EQ(found({"a", "b", "c"}), "no error");
  EXPECT_EQ(found({"x", "y", "z"}), "no error");
  EXPECT_EQ(found({"a", "y", "c"}), "no error");
  // A file without names has x1, x2 and x3.
  const Dataset counted = named("rows.csv", {"x0", "x1", "x2"});
  EXPECT_EQ(message_of([&] { require_same_order(counted, named("b.csv", {"x1", "x2", "x3"})); }), "no error");
  EXPECT_EQ(message_of([&] { require_same_order(named("b.csv", {"x1", "x2", "x3"}), counted); }), "no error");
  EXPECT_EQ(found({"a", "c", "b"}),
            "pool.csv: its column 2 is 'c' where rows.csv has 'b'; the model takes columns by position, so both need "
            "one order");
  EXPECT_EQ(found({"id", "a", "b"}),
            "pool.csv: its column 2 is 'a' where rows.csv has 'b'; the model takes columns by position, so both need "
            "one order");
}

TEST(Baseline, NothingDefinedStaysMissing) {
  Dataset pool = small_pool();
  for (size_t i = 0; i < 4; ++i) std::ranges::fill(pool.x.row(i), kNaN);
  for (const float v : mean_baseline(pool)) EXPECT_TRUE(std::isnan(v));
}

TEST(Baseline, NeutralRowIsTheLeastConfident) {
  const double nan = std::nan("");
  EXPECT_EQ(neutral_row(std::vector<double>{0.9, nan, 0.51, 0.51}), 2u);
  EXPECT_EQ(message_of([&] { neutral_row(std::vector<double>{nan}); }),
            "neutral baseline: expected a pool row with a defined prediction, found none");
}

TEST(Baseline, AGivenRowMustBeOneOfTheSameFeatures) {
  const Dataset pool = small_pool();
  const Dataset one = select_rows(pool, {1});
  EXPECT_EQ(given_baseline(one, pool), (std::vector<float>{3, 2, 0, 1}));
  Dataset two = select_rows(pool, {0, 1});
  two.source = "b.csv";
  EXPECT_EQ(message_of([&] { given_baseline(two, pool); }), "b.csv: expected one row, to be the baseline, found 2");
  Dataset other = one;
  other.feature_names[0] = "m";
  EXPECT_NE(message_of([&] { given_baseline(other, pool); }).find("found others"), std::string::npos);
}

TEST(Baseline, BackgroundRowsAreDistinctAndRepeatable) {
  const auto rows = background_rows(1000, 100, 3);
  EXPECT_EQ(std::set<size_t>(rows.begin(), rows.end()).size(), 100u);
  EXPECT_EQ(rows, background_rows(1000, 100, 3));
  EXPECT_NE(rows, background_rows(1000, 100, 4));
  EXPECT_EQ(background_rows(3, 100, 3), (std::vector<size_t>{0, 1, 2}));
}

// 12 rows in 4 strata of 3, in an order of their own.
TEST(Baseline, SpreadRowsAreOneOfEachStratum) {
  const std::vector<size_t> order = {7, 3, 11, 0, 5, 9, 2, 10, 8, 1, 4, 6};
  std::vector<size_t> times(12, 0);
  constexpr size_t kSeeds = 3000;
  for (uint64_t seed = 0; seed < kSeeds; seed++) {
    const std::vector<size_t> rows = spread_rows(order, 4, seed);
    ASSERT_EQ(rows.size(), 4U);
    for (size_t stratum = 0; stratum < 4; stratum++) {
      const auto place = std::ranges::find(order, rows[stratum]) - order.begin();
      ASSERT_EQ(static_cast<size_t>(place) / 3, stratum) << "seed " << seed;
      times[rows[stratum]]++;
    }
  }
  // Each row once in 3 draws: 1000 of 3000, with a standard deviation of sqrt(3000 / 3 * 2 / 3) = 26.
  for (const size_t each : times) EXPECT_NEAR(static_cast<double>(each), 1000, 130);
  EXPECT_EQ(spread_rows(order, 4, 1), spread_rows(order, 4, 1));
  EXPECT_EQ(spread_rows(order, 12, 1), order);
  EXPECT_EQ(spread_rows(order, 100, 1), order);
  EXPECT_EQ(spread_rows(order, 0, 1), std::vector<size_t>());
  EXPECT_EQ(spread_rows({}, 5, 1), std::vector<size_t>());
}

// 10 rows in 4 strata: two of 2 and two of 3. The first row is drawn with chance 1/2 or 1/3, each with probability 1/2:
// 5/12. Over all rows the chances add up to 4. In the middle they are near 4/10.
TEST(Baseline, SpreadRowsOfStrataThatCannotBeEqualHaveNearlyTheSameChance) {
  std::vector<size_t> order(10);
  std::iota(order.begin(), order.end(), size_t{0});
  std::vector<double> share(10, 0);
  constexpr size_t kSeeds = 20000;
  for (uint64_t seed = 0; seed < kSeeds; seed++) {
    const std::vector<size_t> rows = spread_rows(order, 4, seed);
    ASSERT_EQ(rows.size(), 4U);
    ASSERT_TRUE(std::ranges::is_sorted(rows));
    for (size_t i = 0; i < 4; i++) {
      // Stratum i begins after i strata of 2 or 3 rows, at most two of each.
      ASSERT_GE(rows[i], 2 * i + (i > 2 ? i - 2 : 0));
      ASSERT_LT(rows[i], 2 * (i + 1) + std::min<size_t>(i + 1, 2));
    }
    for (const size_t row : rows) share[row] += 1.0 / kSeeds;
  }
  EXPECT_NEAR(share[0], 5.0 / 12, 0.015);  // standard deviations are 0.0035
  EXPECT_NEAR(share[9], 5.0 / 12, 0.015);
  for (const double each : share) EXPECT_NEAR(each, 0.4, 0.05);
}

// Rounding may swap rows with nearly equal scores. That must not change what is drawn, except at borders.
TEST(Baseline, SpreadRowsStayWhereRowsOfAStratumChangePlaces) {
  std::vector<size_t> order(60);
  std::iota(order.begin(), order.end(), size_t{0});
  const std::vector<size_t> rows = spread_rows(order, 6, 5);
  for (size_t first = 0; first < 60; first += 10) std::ranges::reverse(std::span(order).subspan(first, 10));
  EXPECT_EQ(spread_rows(order, 6, 5), rows);
}

// Levels are looked up, not searched for: 100,000 in each table would be 5e9 comparisons of text.
TEST(Tables, OfManyCategoriesAreStacked) {
  const auto made = [](int first) {
    Table table;
    table.source = "t";
    table.columns = {{.name = "c", .kind = ColumnKind::categorical}};
    table.values = Matrix(100'000, 1);
    for (int i = 0; i < 100'000; ++i) {
      table.columns[0].levels.push_back(std::to_string(1'000'000 + first + i));
      table.values(static_cast<size_t>(i), 0) = static_cast<float>(i);
    }
    return table;
  };
  const Table both = stacked(made(0), made(50'000));
  ASSERT_EQ(both.columns[0].levels.size(), 150'000u);
  for (size_t i = 0; i < both.rows(); ++i) {
    const size_t number = i < 100'000 ? i : i - 50'000;
    ASSERT_EQ(both.columns[0].levels[static_cast<size_t>(both.values(i, 0))], std::to_string(1'000'000 + number));
  }
}

TEST(Table, StackedTablesMatchCategoriesByText) {
  const auto read = [](const char* name, const std::string& text) {
    return read_csv([&] { return memory_bytes(name, text); });
  };
  const Table both = stacked(read("a", "n,c\n1,x\n2,z\n"), read("b", "n,c\n3,y\n4,x\n,\n"));
  ASSERT_EQ(both.rows(), 5u);
  EXPECT_EQ(both.columns[1].levels, (std::vector<std::string>{"x", "y", "z"}));
  EXPECT_EQ(both.values(1, 1), 2);
  EXPECT_EQ(both.values(2, 1), 1);
  EXPECT_EQ(both.values(3, 1), 0);
  EXPECT_TRUE(std::isnan(both.values(4, 1)));
  EXPECT_EQ(message_of([&] { stacked(read("a", "n,c\n1,x\n"), read("b", "n,d\n1,x\n")); }),
            "b: expected the columns of a, found others");
  EXPECT_EQ(message_of([&] { stacked(read("a", "n,c\n1,x\n"), read("b", "n,c\n1,2\n")); }),
            "b, column 'c': expected numbers or categories, as in a, found the other");
}

TEST(Describe, ByHand) {
  const std::string text = "n,c\n1,b\n2,a\n,b\n6,\n";
  const auto columns = describe(read_csv([&] { return memory_bytes("t", text); }));
  EXPECT_EQ(columns[0].missing, 1u);
  EXPECT_EQ(columns[0].least, 1);
  EXPECT_EQ(columns[0].median, 2);
  EXPECT_EQ(columns[0].mean, 3);
  EXPECT_DOUBLE_EQ(columns[0].deviation, std::sqrt(14.0 / 2));
  EXPECT_EQ(columns[0].most, 6);
  EXPECT_EQ(columns[1].missing, 1u);
  ASSERT_EQ(columns[1].levels.size(), 2u);
  EXPECT_EQ(columns[1].levels[0].level, "b");
  EXPECT_EQ(columns[1].levels[0].count, 2u);
}

// Column sums and sums of squares in Fisher's table, in millimetres, taken from its published means and deviations.
TEST(Iris, IsFishersTable) {
  const Table iris = load_dataset("iris");
  ASSERT_EQ(iris.rows(), 150u);
  const double sums[4] = {876.5, 458.6, 563.7, 179.9};
  const double squares[4] = {5223.85, 1430.40, 2582.71, 302.33};
  for (size_t j = 0; j < 4; ++j) {
    double sum = 0;
    double square = 0;
    for (size_t i = 0; i < 150; ++i) {
      const double v = std::round(10.0 * iris.values(i, j)) / 10;
      sum += v;
      square += v * v;
    }
    EXPECT_NEAR(sum, sums[j], 1e-9) << j;
    EXPECT_NEAR(square, squares[j], 1e-9) << j;
  }
  // Where the copy at UCI is wrong: rows 35 and 38 of setosa.
  EXPECT_EQ(iris.values(34, 3), 0.2f);
  EXPECT_EQ(iris.values(37, 1), 3.6f);
  EXPECT_EQ(iris.values(37, 2), 1.4f);
  EXPECT_EQ(iris.columns[4].levels, (std::vector<std::string>{"setosa", "versicolor", "virginica"}));
  EXPECT_EQ(iris.label, 4u);
}

TEST(Datasets, SplitsAreStratifiedAndDisjoint) {
  DatasetRequest train, test;
  train.split = Split::train;
  test.split = Split::test;
  const Table a = load_dataset("iris", train);
  const Table b = load_dataset("iris", test);
  EXPECT_EQ(a.rows(), 120u);
  EXPECT_EQ(b.rows(), 30u);
  EXPECT_EQ(describe(b)[4].levels[0].count, 10u);
}

TEST(Datasets, UnknownNamesAndOptionsAreRefused) {
  EXPECT_NE(message_of([] { load_dataset("irs"); }).find("there is no data set 'irs' (did you mean 'iris'?)"),
            std::string::npos);
  EXPECT_EQ(message_of([] { load_dataset("iris:size=3"); }), "data set iris has no option 'size'; it has none");
}

TEST(Datasets, MissingFilesSayWhereTheyWereSoughtAndWhereTheyComeFrom) {
  // Nothing but the given folder may be searched here.
  const char* old = std::getenv("ASSAY_DATA");
  const std::string kept = old == nullptr ? "" : old;
  ::setenv("ASSAY_DATA", "", 1);
  ::setenv("XDG_CACHE_HOME", "/nonexistent/cache", 1);
  DatasetRequest request;
  request.data_dirs = {"/nonexistent/data"};
  EXPECT_FALSE(dataset_available("adult", request));
  EXPECT_EQ(
      message_of([&] { load_dataset("adult", request); }),
      "data set adult: adult.data was not found in /nonexistent/data/adult or /nonexistent/cache/assay/adult; get it "
      "from https://archive.ics.uci.edu/dataset/2/adult (sha256 of adult.data: "
      "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d)");
  if (old != nullptr) ::setenv("ASSAY_DATA", kept.c_str(), 1);
  ::unsetenv("XDG_CACHE_HOME");
}

}  // namespace
}  // namespace assay
