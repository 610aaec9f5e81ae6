#include "assay/explain/target.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/message.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::unique_ptr<Model> model_of(std::vector<std::string> outputs, std::vector<std::string> classes, OutputUnit unit) {
  ModelInfo info;
  info.name = "toy";
  info.feature_names = {"a", "b", "c"};
  info.output_names = std::move(outputs);
  info.class_names = std::move(classes);
  info.unit = unit;
  // Outputs are the features.
  return model_from_function(info, [](MatrixView<const float> rows, MatrixView<float> out) {
    for (size_t r = 0; r < rows.rows(); r++) std::copy_n(rows.row(r).data(), out.cols(), out.row(r).data());
  });
}

Matrix rows() {
  Matrix made(2, 3);
  const std::vector<float> values = {0.25F, 3, 2, 4, 1, 4};
  std::copy(values.begin(), values.end(), made.values().begin());
  return made;
}

std::vector<uint32_t> frozen(const Model& model, std::string_view text) {
  return freeze_targets(model, rows().view(), parse_target(model.info(), text).at(0), {}).of_row;
}

TEST(Target, AutoIsThePositiveClassThePredictedOneOrTheValue) {
  const auto binary = model_of({"no", "yes"}, {"no", "yes"}, OutputUnit::margin);
  EXPECT_THAT(frozen(*binary, "auto"), ElementsAre(1, 1));
  EXPECT_THAT(frozen(*binary, "predicted"), ElementsAre(1, 0));
  const auto three = model_of({"x", "y", "z"}, {"x", "y", "z"}, OutputUnit::margin);
  // Row 2 has equal outputs for x and z: the first.
  EXPECT_THAT(frozen(*three, "auto"), ElementsAre(1, 0));
  const auto value = model_of({"price"}, {}, OutputUnit::value);
  EXPECT_THAT(frozen(*value, "auto"), ElementsAre(0, 0));
  const auto two_values = model_of({"price", "size"}, {}, OutputUnit::value);
  EXPECT_THAT(sentence([&] { parse_target(two_values->info(), "auto"); }), HasSubstr("price and size"));
}

TEST(Target, OneOutputHasTwoClasses) {
  for (const OutputUnit unit : {OutputUnit::margin, OutputUnit::probability}) {
    const auto binary = model_of({"yes"}, {"no", "yes"}, unit);
    EXPECT_THAT(frozen(*binary, "predicted"), ElementsAre(unit == OutputUnit::margin ? 1 : 0, 1));
    const Targets no = freeze_targets(*binary, rows().view(), parse_target(binary->info(), "no").at(0), {});
    // -z for margins, 1 - p for probabilities
    EXPECT_EQ(no.term(0).scale, -1);
    EXPECT_EQ(no.term(0).offset, unit == OutputUnit::probability ? 1 : 0);
    EXPECT_EQ(no.term(0).output, 0U);
  }
}

TEST(Target, NamesComeBeforeIndicesAndAllIsOneForEach) {
  const auto digits = model_of({"2", "1", "0"}, {"2", "1", "0"}, OutputUnit::margin);
  EXPECT_THAT(frozen(*digits, "0"), ElementsAre(2, 2));
  const auto letters = model_of({"x", "y", "z"}, {"x", "y", "z"}, OutputUnit::margin);
  EXPECT_THAT(frozen(*letters, "0"), ElementsAre(0, 0));
  const auto all = parse_target(letters->info(), "all");
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[2].which, 2U);
  EXPECT_FALSE(all[2].predicted);
}

TEST(Target, WhatThereIsNotIsNamed) {
  const auto letters = model_of({"x", "y", "z"}, {"x", "y", "z"}, OutputUnit::margin);
  for (const char* text : {"3", "-1", "w", "", "1.0", "auto "}) {
    EXPECT_THAT(sentence([&] { parse_target(letters->info(), text); }), HasSubstr("x, y or z or an index from 0 to 2"))
        << text;
  }
  const auto value = model_of({"price"}, {}, OutputUnit::value);
  EXPECT_THAT(sentence([&] { parse_target(value->info(), "predicted"); }), HasSubstr("no classes"));
  EXPECT_THAT(sentence([&] { information_targets(*value, 2); }), HasSubstr("needs classes"));
  const auto odds = model_of({"x", "y"}, {"x", "y"}, OutputUnit::log_odds);
  EXPECT_THAT(sentence([&] { information_targets(*odds, 2); }), HasSubstr("log_odds"));
}

TEST(Target, SlicesKeepTheirRows) {
  const auto three = model_of({"x", "y", "z"}, {"x", "y", "z"}, OutputUnit::margin);
  const Targets all = freeze_targets(*three, rows().view(), {true, 0}, {});
  EXPECT_THAT(slice_targets(all, 1, 2).of_row, ElementsAre(0));
  EXPECT_EQ(slice_targets(all, 1, 2).names, all.names);
}

}  // namespace
}  // namespace assay
