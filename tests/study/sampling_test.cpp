#include "assay/study/sampling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "assay/data/neighbours.h"
#include "tests/message.h"

namespace assay::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr SampleWord kAll = {"--sample", "all"};

// Row i holds the number i; 60 rows of class 0, 30 of class 1, 10 of class 2.
Dataset three_classes() {
  Dataset data;
  data.x = Matrix(100, 1);
  for (size_t i = 0; i < 100; i++) {
    data.x(i, 0) = static_cast<float>(i);
    data.labels.push_back(i < 60 ? 0.0F : i < 90 ? 1.0F : 2.0F);
  }
  data.class_names = {"a", "b", "c"};
  return data;
}

std::vector<size_t> numbers_to(size_t count) {
  std::vector<size_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), size_t{0});
  return numbers;
}

std::array<size_t, 3> by_class(const Dataset& data, const std::vector<size_t>& rows) {
  std::array<size_t, 3> counts = {};
  for (const size_t row : rows) counts.at(static_cast<size_t>(data.labels[row]))++;
  return counts;
}

TEST(Sampling, WordsMeanNumbersOfRows) {
  EXPECT_EQ(sample_count({"--sample", "all"}, 5, 40), 40U);
  EXPECT_EQ(sample_count({"--sample", "auto"}, 5, 40), 5U);
  EXPECT_EQ(sample_count({"--sample", "auto"}, 500, 40), 40U);
  EXPECT_EQ(sample_count({"--sample", "12"}, 5, 40), 12U);
  EXPECT_EQ(sample_count({"--sample", "18446744073709551615"}, 5, 40), 40U);
}

TEST(Sampling, OtherWordsAreRefused) {
  for (const std::string word : {"", "0", "-1", "1.5", "12x", " 3", "some", "18446744073709551616"}) {
    EXPECT_EQ(sentence([&] { sample_count({"sample", word}, 5, 40); }),
              "sample: expected a number of rows, all or auto, found '" + word + "'");
  }
}

TEST(Sampling, AutomaticSizesFallWithThePlayers) {
  EXPECT_EQ(default_rows(1), 500U);
  EXPECT_EQ(default_rows(32), 500U);
  EXPECT_EQ(default_rows(33), 100U);
  EXPECT_EQ(default_rows(128), 100U);
  EXPECT_EQ(default_rows(129), 20U);
  // 2^24 floats by 14 methods are 1,198,372 for each.
  EXPECT_EQ(default_pool_rows(0), 1198372U);
  EXPECT_EQ(default_pool_rows(1), 1198372U);
  EXPECT_EQ(default_pool_rows(100), 11983U);
  EXPECT_EQ(default_pool_rows(1198), 1000U);
  EXPECT_EQ(default_pool_rows(5000), 1000U);
}

TEST(Sampling, RowsKeepTheSharesOfClasses) {
  const Dataset data = three_classes();
  for (const uint64_t seed : {0, 1, 2}) {
    const std::vector<size_t> rows = sample_rows({"--sample", "20"}, 4, data, seed);
    EXPECT_EQ(by_class(data, rows), (std::array<size_t, 3>{12, 6, 2}));
    EXPECT_TRUE(std::ranges::is_sorted(rows));
    EXPECT_EQ(rows, sample_rows({"--sample", "20"}, 4, data, seed));
    EXPECT_EQ(rows, sample_pool_rows({"--pool-sample", "20"}, 4, data, seed));
  }
  EXPECT_NE(sample_rows({"--sample", "20"}, 4, data, 0), sample_rows({"--sample", "20"}, 4, data, 1));
}

TEST(Sampling, AutoIsByPlayers) {
  const Dataset data = three_classes();
  EXPECT_EQ(sample_rows({"--sample"}, 32, data, 0).size(), 100U);
  EXPECT_EQ(by_class(data, sample_rows({"--sample"}, 129, data, 0)), (std::array<size_t, 3>{12, 6, 2}));
  EXPECT_EQ(sample_pool_rows({"--pool-sample"}, 5000, data, 0), numbers_to(100));
}

TEST(Sampling, AllRowsAreAllRowsWhateverTheirLabels) {
  Dataset data = three_classes();
  data.labels[3] = NAN;
  EXPECT_EQ(sample_rows(kAll, 4, data, 0), numbers_to(100));
  EXPECT_EQ(sample_rows({"--sample", "100"}, 4, data, 0), numbers_to(100));
}

TEST(Sampling, ValuesOfARegressionAreNoClasses) {
  Dataset data = three_classes();
  data.class_names.clear();
  const std::vector<size_t> by_value = sample_rows({"--sample", "20"}, 4, data, 5);
  data.labels.clear();
  EXPECT_EQ(by_value, sample_rows({"--sample", "20"}, 4, data, 5));
  EXPECT_EQ(by_value.size(), 20U);
}

TEST(Sampling, RowsWithoutNamesAreKnownByTheirNumbers) {
  Dataset data = three_classes();
  std::vector<size_t> numbers = numbers_to(100);
  for (size_t& number : numbers) number += 1000;  // rows 1001 to 1100 of their table, counted from 1
  const Dataset chosen = numbered_rows(data, {0, 7, 99}, numbers);
  EXPECT_EQ(chosen.id_name, "row");
  EXPECT_THAT(chosen.ids, ElementsAre("1001", "1008", "1100"));
  EXPECT_THAT(chosen.x.values(), ElementsAre(0, 7, 99));
  EXPECT_THAT(chosen.labels, ElementsAre(0, 0, 2));
}

TEST(Sampling, NamesOfRowsStay) {
  Dataset data = three_classes();
  data.id_name = "patient";
  for (size_t i = 0; i < 100; i++) data.ids.push_back("p" + std::to_string(i));
  const Dataset chosen = numbered_rows(data, {2, 5}, numbers_to(100));
  EXPECT_EQ(chosen.id_name, "patient");
  EXPECT_THAT(chosen.ids, ElementsAre("p2", "p5"));
}

TEST(Sampling, OwnRowsAreFoundInTheSampleOfThePool) {
  // Rows 0 to 4 are rows 9, none, 4, 0 and 7 of a pool of ten, of which 0, 4 and 9 are left: those are its first,
  // second and third now.
  const std::vector<size_t> own = {9, kNoRow, 4, 0, 7};
  EXPECT_THAT(sampled_in_pool(own, {0, 1, 2, 3, 4}, {0, 4, 9}, 10), ElementsAre(2, kNoRow, 1, 0, kNoRow));
  EXPECT_THAT(sampled_in_pool(own, {1, 3}, {0, 4, 9}, 10), ElementsAre(kNoRow, 0));
  EXPECT_THAT(sampled_in_pool(own, {0, 4}, numbers_to(10), 10), ElementsAre(9, 7));
  EXPECT_THAT(sampled_in_pool({}, {1, 3}, {0, 4, 9}, 10), IsEmpty());
}

TEST(Sampling, WordsSayOfHowMany) {
  Dataset sample;
  sample.x = Matrix(30, 2);
  sample.labels.assign(30, 0);
  EXPECT_EQ(sampled_in_words(sample, 16281, "houses"), "30 of the 16,281 rows of houses") << "numbers are no classes";
  sample.class_names = {"no", "yes"};
  EXPECT_EQ(sampled_in_words(sample, 16281, "adult (test part)"),
            "30 of the 16,281 rows of adult (test part), in the classes' shares");
  EXPECT_EQ(sampled_in_words(sample, 30, "iris (test part)"), "iris (test part)");
}

}  // namespace
}  // namespace assay::testing
