#include "assay/explain/reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "tests/message.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::HasSubstr;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Columns: a number with a missing value, a code, two one-hot columns.
Dataset pool_data() {
  Dataset pool;
  pool.source = "train.csv";
  pool.feature_names = {"age", "job", "sex=f", "sex=m"};
  pool.groups = {{"age", 0, 1},
                 {"job", 1, 1, ColumnKind::categorical, {"a", "b", "c"}},
                 {"sex", 2, 2, ColumnKind::categorical, {"f", "m"}}};
  pool.x = Matrix(4, 4);
  const float values[] = {1,    2, 1, 0,  //
                          2,    2, 0, 1,  //
                          6,    0, 0, 1,  //
                          kNan, 1, 0, 1};
  std::copy(std::begin(values), std::end(values), pool.x.data());
  return pool;
}

// Outputs are the first columns of the rows, so that a test says by its pool what is predicted.
std::unique_ptr<Model> echo(OutputUnit unit, size_t outputs, size_t classes, size_t features = 4) {
  ModelInfo info;
  info.name = "m.onnx";
  for (size_t j = 0; j < features; j++) info.feature_names.push_back("f" + std::to_string(j));
  for (size_t j = 0; j < outputs; j++) info.output_names.push_back("o" + std::to_string(j));
  for (size_t j = 0; j < classes; j++) info.class_names.push_back("c" + std::to_string(j));
  info.unit = unit;
  return model_from_function(info, [outputs](MatrixView<const float> rows, MatrixView<float> out) {
    for (size_t i = 0; i < rows.rows(); i++) std::copy_n(rows.row(i).begin(), outputs, out.row(i).begin());
  });
}

const Model& margins() {
  static const std::unique_ptr<Model> model = echo(OutputUnit::margin, 2, 2);
  return *model;
}

TEST(Reference, MeanAndMedianOfThePool) {
  const Dataset pool = pool_data();
  const Reference mean = named_baseline("mean", &pool, margins(), nullptr, {});
  EXPECT_THAT(mean.rows.values(), ElementsAre(3, 2, 0, 1));  // (1 + 2 + 6) / 3; modes
  EXPECT_EQ(mean.description, "mean of train.csv");
  EXPECT_FALSE(mean.is_background());
  // 1, 2 and 6 have variance ((-2)^2 + (-1)^2 + 3^2) / 2 = 7; categories have no scale.
  EXPECT_THAT(mean.scales, ElementsAre(FloatEq(std::sqrt(7.0F)), 0, 0, 0));
  const Reference median = named_baseline("median", &pool, margins(), nullptr, {});
  EXPECT_THAT(median.rows.values(), ElementsAre(2, 2, 0, 1));
  EXPECT_EQ(median.description, "median of train.csv");
}

TEST(Reference, ZeroIsZeroInRawUnits) {
  const Reference plain = named_baseline("zero", nullptr, margins(), nullptr, {});
  EXPECT_THAT(plain.rows.values(), ElementsAre(0, 0, 0, 0));
  EXPECT_TRUE(plain.scales.empty());
  Table table;
  table.columns = {{"a"}, {"b"}, {"c"}, {"d"}};
  table.values = Matrix(2, 4);
  for (size_t j = 0; j < 4; j++) {
    table.values(0, j) = 1;
    table.values(1, j) = 3;
  }
  EncoderOptions options;
  options.scale = "min_max";
  const Encoder encoder = Encoder::fit(table, options);
  const Reference scaled = named_baseline("zero", nullptr, margins(), &encoder, {});
  EXPECT_THAT(scaled.rows.values(), ElementsAre(-0.5F, -0.5F, -0.5F, -0.5F));  // (0 - 1) / 2
}

TEST(Reference, ZeroSaysWhichCategoriesNobodyChose) {
  Dataset rows = pool_data();
  const Reference zero = named_baseline("zero", nullptr, margins(), nullptr, {});
  EXPECT_EQ(note_on_zero(zero, rows),
            "the baseline zero puts column 'job' at 'a': categories have no zero, and this is the first of each");
  const Reference mean = named_baseline("mean", &rows, margins(), nullptr, {});
  EXPECT_EQ(note_on_zero(mean, rows), "");
  rows.groups[1].kind = ColumnKind::numeric;
  EXPECT_EQ(note_on_zero(zero, rows), "") << "one-hot columns that are all 0 are no category";
}

TEST(Reference, NeutralIsTheLeastConfidentRowInEveryUnit) {
  Dataset pool = pool_data();
  pool.x = Matrix(4, 4);
  const auto fill = [&](std::initializer_list<float> values) {
    for (size_t i = 0; i < 4; i++) {
      pool.x(i, 0) = values.begin()[2 * i];
      pool.x(i, 1) = values.begin()[2 * i + 1];
    }
  };
  const auto neutral = [&](const Model& model) {
    return named_baseline("neutral", &pool, model, nullptr, {}).description;
  };
  // Softmax looks at differences: 3, 1, 2.
  fill({0, 3, 100, 101, -2, 0, kNan, 0});
  EXPECT_EQ(neutral(margins()), "row 2 of train.csv, predicted least confidently");
  fill({0.9F, 0.1F, 0.3F, 0.7F, 0.45F, 0.55F, 0.2F, 0.8F});
  EXPECT_EQ(neutral(*echo(OutputUnit::probability, 2, 2)), "row 3 of train.csv, predicted least confidently");
  EXPECT_EQ(neutral(*echo(OutputUnit::probability, 1, 2)), "row 3 of train.csv, predicted least confidently");
  fill({-5, 0, 2, 0, -1, 0, 3, 0});
  EXPECT_EQ(neutral(*echo(OutputUnit::margin, 1, 2)), "row 3 of train.csv, predicted least confidently");
  fill({-5, 4, 2, 1, -1, 0.5F, 3, 0});
  EXPECT_EQ(neutral(*echo(OutputUnit::log_odds, 2, 2)), "row 3 of train.csv, predicted least confidently");
  EXPECT_THAT(sentence([&] { neutral(*echo(OutputUnit::value, 1, 0)); }), HasSubstr("a classifier"));
}

TEST(Reference, AGivenRowMustBeOneOfTheRightWidth) {
  Dataset given = pool_data();
  EXPECT_THAT(sentence([&] { given_baseline_reference(given, nullptr, margins()); }),
              HasSubstr("train.csv: expected one row, to be the baseline, found 4"));
  given = select_rows(given, {1});
  given.source = "base.csv";
  const Dataset pool = pool_data();
  const Reference reference = given_baseline_reference(given, &pool, margins());
  EXPECT_THAT(reference.rows.values(), ElementsAre(2, 2, 0, 1));
  EXPECT_EQ(reference.description, "base.csv");
  EXPECT_EQ(reference.scales.size(), 4U);
  EXPECT_EQ(sentence([&] { given_baseline_reference(given, nullptr, *echo(OutputUnit::margin, 2, 2, 7)); }),
            "base.csv: expected the 7 features of m.onnx, found 4");
}

TEST(Reference, BackgroundsAreRowsOfThePoolOrAllGivenOnes) {
  Dataset pool = pool_data();
  pool.x = Matrix(50, 4);
  for (size_t i = 0; i < 50; i++) pool.x(i, 0) = static_cast<float>(i);
  Context context;
  context.seed = 3;
  const Reference drawn = pool_background(pool, 10, margins(), context);
  EXPECT_TRUE(drawn.is_background());
  EXPECT_EQ(drawn.description, "10 rows of train.csv");
  EXPECT_EQ(drawn.drawn_from, 50U);
  std::set<float> distinct;
  for (size_t i = 0; i < 10; i++) distinct.insert(drawn.rows(i, 0));
  EXPECT_EQ(distinct.size(), 10U);
  context.seed = 4;
  EXPECT_NE(0, std::memcmp(drawn.rows.data(), pool_background(pool, 10, margins(), context).rows.data(), 160));
  EXPECT_EQ(pool_background(pool, 99, margins(), context).description, "all 50 rows of train.csv");
  EXPECT_FALSE(pool_background(pool, 99, margins(), context).is_draw()) << "the whole pool";
  EXPECT_EQ(given_background(pool, nullptr, margins()).rows.rows(), 50U);
  EXPECT_FALSE(given_background(pool, nullptr, margins()).is_draw()) << "the user's own rows";
  EXPECT_THAT(sentence([&] { pool_background(pool, 5, *echo(OutputUnit::margin, 2, 2, 3), {}); }),
              HasSubstr("the 3 features of m.onnx, found 4"));
}

TEST(Reference, WordsChooseIt) {
  const Dataset pool = pool_data();
  const auto open = [&](const std::string& path) {
    Dataset given = select_rows(pool, path == "one.csv" ? std::vector<size_t>{2} : std::vector<size_t>{0, 1});
    given.source = path;
    return given;
  };
  const auto choose = [&](const std::string& baseline, const std::string& background, bool with_pool, bool needed) {
    return choose_reference({baseline, background}, needed, with_pool ? &pool : nullptr, margins(), nullptr, open, {});
  };
  EXPECT_EQ(choose("", "", true, true).description, "mean of train.csv");
  EXPECT_EQ(choose("median", "", true, true).description, "median of train.csv");
  EXPECT_EQ(choose("zero", "", false, true).description, "zero");
  EXPECT_EQ(choose("one.csv", "", false, true).description, "one.csv");
  EXPECT_EQ(choose("", "two.csv", false, true).description, "all 2 rows of two.csv");
  EXPECT_EQ(choose("", "pool:2", true, true).rows.rows(), 2U);
  EXPECT_EQ(choose("", "", false, false).rows.rows(), 0U);
  EXPECT_EQ(choose("", "spread:2", true, true).rows.rows(), 0U) << "waits for what is explained";
  EXPECT_THAT(sentence([&] { choose("", "", false, true); }), HasSubstr("what stands for absent features is not said"));
  EXPECT_THAT(sentence([&] { choose("mean", "", false, true); }), HasSubstr("baseline mean: expected a pool"));
  EXPECT_THAT(sentence([&] { choose("", "pool:2", false, true); }), HasSubstr("background pool:2: expected a pool"));
  EXPECT_THAT(sentence([&] { choose("", "spread:2", false, true); }),
              HasSubstr("background spread:2: expected a pool"));
  for (const char* word : {"spread:", "spread:0", "spread:-3", "spread:2x"}) {
    EXPECT_THAT(sentence([&] { choose("", word, true, true); }), HasSubstr("spread:N")) << word;
  }
  EXPECT_EQ(sentence([&] { choose("neutrl", "", true, true); }),
            "baseline: expected zero, mean, median, neutral or a file, found 'neutrl' (did you mean 'neutral'?)");
  EXPECT_THAT(sentence([&] { choose("mean", "pool:2", true, true); }), HasSubstr("found both"));
  for (const char* word : {"pool:", "pool:0", "pool:-3", "pool:2x", "pool:99999999999999999999"}) {
    EXPECT_THAT(sentence([&] { choose("", word, true, true); }), HasSubstr("pool:N")) << word;
  }
  EXPECT_THAT(sentence([&] { named_baseline("maen", &pool, margins(), nullptr, {}); }), HasSubstr("'maen'"));
}

}  // namespace
}  // namespace assay
