#include "assay/explain/reasons/reason_texts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/explain/reasons/some_explanations.h"
#include "tests/message.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::made_of;

// Columns a (numbers), b (levels) and c (numbers), of three rows.
Table three_rows() {
  Table table;
  table.columns = {{"a"}, {"b", ColumnKind::categorical, {"own", "rent"}}, {"c"}};
  table.values = Matrix(3, 3);
  const std::vector<float> cells = {0.1F, 1, 24, 4000, 0, kMissing, 2000.05F, 1, 24};
  std::ranges::copy(cells, table.values.data());
  return table;
}

std::vector<std::string> texts(const Explanations& made, const ReasonOptions& options,
                               const std::vector<ShownFeature>& shown, const ReasonTemplates& templates) {
  Reasons reasons = find_reasons(made, {}, options, {});
  add_texts(reasons, shown, templates);
  std::vector<std::string> found;
  for (const Reason& each : reasons.list) found.push_back(each.text);
  return found;
}

TEST(ReasonTexts, SayWhatTheValueIsAndWhatItIsCompared) {
  const Explanations made = made_of({{-3, -2, -1}, {-3, -2, -1}, {-3, -2, -1}}, {-5, -5, -5});
  const Table rows = three_rows();
  const auto shown = shown_features(columns_named_alike(made.features), rows, nullptr, &rows);
  EXPECT_EQ(shown[0].reference, "2,000");  // (0.1 + 4000 + 2000.05) / 3 = 2000.05
  EXPECT_EQ(shown[1].reference, "rent");
  EXPECT_EQ(shown[2].reference, "24");
  EXPECT_THAT(texts(made, {}, shown, ReasonTemplates()),
              ElementsAre("a of 0.1 is below 2,000", "b is rent", "c of 24",                              //
                          "a of 4000 is above 2,000", "b is own, most often it is rent", "c is missing",  //
                          "a of 2000.05 is above 2,000", "b is rent", "c of 24"));
}

// The mean is 189.04, which four digits would tell as 189.
TEST(ReasonTexts, TheReferenceHasTheDigitsThatTellItFromTheValue) {
  const Explanations made = made_of({{-3, 0, 0}, {-3, 0, 0}}, {-3, -3});
  Table rows;
  rows.columns = {{"a"}};
  rows.values = Matrix(2, 1);
  rows.values(0, 0) = 189;
  rows.values(1, 0) = 189.08F;
  const std::vector<std::string> names = {"a", "b", "c"};
  const auto shown = shown_features(columns_named_alike(names), rows, nullptr, &rows);
  EXPECT_EQ(shown[0].reference, "189");
  EXPECT_THAT(texts(made, {.top = 1}, shown, ReasonTemplates()),
              ElementsAre("a of 189 is below 189.04", "a of 189.08 is above 189"));
}

TEST(ReasonTexts, WithoutValuesNameTheFeatureAlone) {
  const Explanations made = made_of({{-3, -2, -1}}, {-5});
  EXPECT_THAT(texts(made, {}, {}, ReasonTemplates()), ElementsAre("a", "b", "c"));
  Table rows = three_rows();
  rows.columns[1].name = "other";
  Reasons reasons = find_reasons(made, {}, {}, {});
  add_texts(reasons, shown_features(columns_named_alike(made.features), rows, nullptr, nullptr), ReasonTemplates());
  EXPECT_EQ(reasons.list[0].text, "a of 0.1") << "no reference";
  EXPECT_EQ(reasons.list[1].text, "b");
  EXPECT_EQ(reasons.list[1].value, "");
  EXPECT_EQ(reasons.notes.back(), "the value of 'b' is not known: the rows have no column of that name");
}

TEST(ReasonTexts, TemplatesComeFromFeatureThenDirectionThenTheBuiltInOnes) {
  const Explanations made = made_of({{-3, -2, -1}}, {-5});
  const Table rows = three_rows();
  const auto shown = shown_features(columns_named_alike(made.features), rows, nullptr, &rows);
  const ReasonTemplates templates = ReasonTemplates::from_json(
      "t.json",
      R"x({"against": {"below": "{rank}. {feature}: {value} < {reference} ({share})", "level": "never"},
           "for": "in favour: {feature}",
           "features": {"b": {"common_level": "{{you}} {value}"}}})x",
      made.features);
  EXPECT_THAT(texts(made, {}, shown, templates),
              ElementsAre("1. a: 0.1 < 2,000 (50 %)", "{you} rent", "c of 24"));  // -3 / (-5 - 1)
  EXPECT_THAT(texts(made_of({{3, 2, 1}}, {7}), {.direction = ReasonDirection::favour}, shown, templates),
              ElementsAre("in favour: a", "{you} rent", "in favour: c"));
}

TEST(ReasonTexts, ValuesAreCalledByOtherNamesInSentencesAlone) {
  const Explanations made = made_of({{-3, -2, -1}, {-3, -2, -1}}, {-5, -5});
  const Table rows = three_rows();
  const auto shown = shown_features(columns_named_alike(made.features), rows, nullptr, &rows);
  const ReasonTemplates templates = ReasonTemplates::from_json(
      "t.json", R"({"values": {"b": {"rent": "{feature} rented", "own": "owned"}}})", made.features);
  Reasons reasons = find_reasons(made, {}, {}, {});
  add_texts(reasons, shown, templates);
  EXPECT_EQ(reasons.list[1].text, "b is {feature} rented");
  EXPECT_EQ(reasons.list[1].value, "rent");
  EXPECT_EQ(reasons.list[4].text, "b is owned, most often it is {feature} rented");
}

TEST(ReasonTexts, ValuesAreNeverTakenForTemplates) {
  Explanations made = made_of({{-3, -2, -1}}, {-5});
  made.features[1] = "{rank}<script>alert(1)</script>";
  Table rows = three_rows();
  rows.columns[1] = {made.features[1], ColumnKind::categorical, {"own", "{feature}\n=cmd()"}};
  const auto shown = shown_features(columns_named_alike(made.features), rows, nullptr, nullptr);
  EXPECT_EQ(texts(made, {}, shown, ReasonTemplates())[1], "{rank}<script>alert(1)</script> is {feature}\n=cmd()");
}

TEST(ReasonTexts, GroupsTellAllTheirColumns) {
  const Explanations made = made_of({{-3, -2, -1}}, {-5});
  ReasonOptions options;
  options.groups = players_from_json("g", R"({"money": ["a", "c"]})", made.features);
  const FeatureColumns columns = grouped_columns(columns_named_alike(made.features), *options.groups);
  EXPECT_THAT(columns, ElementsAre(ElementsAre("a", "c"), ElementsAre("b")));
  const Table rows = three_rows();
  EXPECT_THAT(texts(made, options, shown_features(columns, rows, nullptr, &rows), ReasonTemplates()),
              ElementsAre("money: a 0.1, c 24", "b is rent"));
}

TEST(ReasonTexts, RefusesTemplatesThatItCannotFill) {
  const auto refused = [](const std::string& text) {
    return sentence([&] { ReasonTemplates::from_json("t.json", text, {"age"}); });
  };
  EXPECT_EQ(refused(R"({"against": "{feature} {valeu}"})"),
            "t.json, 'against': expected {feature}, {value}, {reference}, {share} or {rank}, found '{valeu}'");
  EXPECT_EQ(refused(R"({"against": {"above": "{0}"}})"),
            "t.json, 'against', 'above': expected {feature}, {value}, {reference}, {share} or {rank}, found '{0}'");
  for (const char* braces : {"{", "}", "{feature", "feature}", "{{}", "a } b"}) {
    EXPECT_THAT(refused(std::string(R"({"for": ")") + braces + R"("})"), HasSubstr("braces around the name"));
  }
  EXPECT_EQ(refused(R"({"against": {"abvoe": "x"}})"),
            "t.json, 'against': expected above, below, number, level, common_level, missing, group or unknown, found "
            "'abvoe' (did you mean 'above'?)");
  EXPECT_EQ(refused(R"({"agianst": "x"})"),
            "t.json: expected against, for, features or values, found 'agianst' (did you mean 'against'?)");
  EXPECT_EQ(refused(R"({"features": {"agee": "x"}})"),
            "t.json, 'features': expected features or groups of the explanations, found 'agee' (did you mean 'age'?)");
  EXPECT_EQ(refused(R"({"features": "x"})"), R"(t.json, 'features': expected an object, {"age": ...}, found '"x"')");
  EXPECT_EQ(refused(R"({"values": {"agee": {}}})"),
            "t.json, 'values': expected features or groups of the explanations, found 'agee' (did you mean 'age'?)");
  EXPECT_EQ(refused(R"({"values": {"age": "old"}})"),
            R"(t.json, 'values', 'age': expected an object, {"A151": "rented", ...}, found '"old"')");
  EXPECT_EQ(refused(R"({"values": {"age": {"7": 7}}})"), "t.json, 'values', 'age', '7': expected a text, found '7'");
  EXPECT_EQ(refused(R"({"against": 3})"), "t.json, 'against': expected a text, found '3'");
  EXPECT_EQ(refused(R"([1])"),
            R"(t.json: expected an object, {"against": ..., "for": ..., "features": ..., "values": ...}, found '[1]')");
  EXPECT_EQ(refused("{"), "t.json: expected templates as JSON, found an error at byte 2");
  EXPECT_THAT(refused(std::string(5, '[') + std::string(5, ']')), HasSubstr("t.json"));
  EXPECT_THAT(refused(R"({"for": ")" + std::string(10001, 'x') + R"("})"), HasSubstr("at most 10000 bytes"));
}

}  // namespace
}  // namespace assay
