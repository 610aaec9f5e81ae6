#include "assay/data/encoder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "assay/data/io/csv.h"
#include "tests/message.h"

namespace assay {
namespace {

Table table(const std::string& text, const std::string& label = "") {
  TableOptions options;
  options.label = label;
  return read_csv([&] { return memory_bytes("t.csv", text); }, options);
}

EncoderOptions with(const std::string& spec) { return options_from<EncoderOptions>(parse_spec("--encode", spec)); }

// a: 1, 3, missing, 8; b: x, missing, y, x
const char* const kMixed = "a,b,y\n1,x,no\n3,,yes\n,y,no\n8,x,yes\n";

std::vector<float> column(const Dataset& data, size_t j) {
  std::vector<float> out;
  for (size_t i = 0; i < data.rows(); ++i) out.push_back(data.x(i, j));
  return out;
}

TEST(Encoder, LabelCodesWithMissingAsTheFirstLevel) {
  const Table t = table(kMixed, "y");
  const Dataset d = Encoder::fit(t, {}).apply(t);
  EXPECT_EQ(d.feature_names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(column(d, 1), (std::vector<float>{1, 0, 2, 1}));
  EXPECT_TRUE(std::isnan(d.x(2, 0)));
  ASSERT_EQ(d.groups.size(), 2u);
  EXPECT_EQ(d.groups[1].levels, (std::vector<std::string>{"missing", "x", "y"}));
  EXPECT_EQ(d.label_name, "y");
  EXPECT_EQ(d.labels, (std::vector<float>{0, 1, 0, 1}));
  EXPECT_EQ(d.class_names, (std::vector<std::string>{"no", "yes"}));
}

TEST(Encoder, MissingCategoriesStayMissingWhenAsked) {
  const Table t = table(kMixed, "y");
  const Dataset d = Encoder::fit(t, with("e:missing_level=false")).apply(t);
  EXPECT_EQ(d.x(0, 1), 0);
  EXPECT_TRUE(std::isnan(d.x(1, 1)));
}

TEST(Encoder, OneHotColumnsThatFitInNoMemoryAreRefused) {
  // 100,000^2 numbers of 4 bytes are 37.3 GiB, of a file of 1 MB.
  std::string text = "a,id\n";
  for (int i = 0; i < 100'000; ++i) text += "1,k" + std::to_string(i) + "\n";
  const Table t = table(text);
  const Encoder one_hot = Encoder::fit(t, with("e:categorical=one_hot"));
  EXPECT_EQ(message_of([&] { one_hot.apply(t); }),
            "t.csv, column 'id': a column for each of its 100000 levels makes a table of 100000 rows that takes "
            "37.3 GiB, and at most 1 GiB are allowed; encode categories as label, or leave the column out");
  EXPECT_EQ(Encoder::fit(t, {}).apply(t).x.cols(), 2u);
}

TEST(Encoder, OneHotColumnsFormOneGroup) {
  const Table t = table(kMixed, "y");
  const Dataset d = Encoder::fit(t, with("e:categorical=one_hot")).apply(t);
  EXPECT_EQ(d.feature_names, (std::vector<std::string>{"a", "b=missing", "b=x", "b=y"}));
  ASSERT_EQ(d.groups.size(), 2u);
  EXPECT_EQ(d.groups[1].first, 1u);
  EXPECT_EQ(d.groups[1].count, 3u);
  EXPECT_EQ(column(d, 1), (std::vector<float>{0, 1, 0, 0}));
  EXPECT_EQ(column(d, 2), (std::vector<float>{1, 0, 0, 1}));
  EXPECT_EQ(column(d, 3), (std::vector<float>{0, 0, 1, 0}));
  const Dataset missing = Encoder::fit(t, with("e:categorical=one_hot:missing_level=false")).apply(t);
  EXPECT_TRUE(std::isnan(missing.x(1, 1)) && std::isnan(missing.x(1, 2)));
}

TEST(Encoder, ScalesByHand) {
  const Table t = table("a\n1\n3\n8\n");
  // Mean 4, squared deviations 9 + 1 + 16 over 3 rows.
  const double deviation = std::sqrt(26.0 / 3);
  const Dataset s = Encoder::fit(t, with("e:scale=standardise")).apply(t);
  EXPECT_FLOAT_EQ(s.x(0, 0), static_cast<float>(-3 / deviation));
  EXPECT_FLOAT_EQ(s.x(2, 0), static_cast<float>(4 / deviation));
  const Dataset m = Encoder::fit(t, with("e:scale=min_max")).apply(t);
  EXPECT_EQ(column(m, 0), (std::vector<float>{0, 2.0f / 7, 1}));
}

TEST(Encoder, AConstantColumnBecomesZero) {
  const Table t = table("a,b\n5,1\n5,2\n");
  for (const char* scale : {"e:scale=standardise", "e:scale=min_max"}) {
    EXPECT_EQ(Encoder::fit(t, with(scale)).apply(t).x(1, 0), 0) << scale;
  }
}

TEST(Encoder, ImputesWhatWasAskedFor) {
  const Table t = table(kMixed, "y");
  const auto filled = [&](const std::string& spec) { return Encoder::fit(t, with(spec)).apply(t); };
  EXPECT_EQ(filled("e:impute=mean").x(2, 0), 4);
  EXPECT_EQ(filled("e:impute=median").x(2, 0), 3);
  EXPECT_EQ(filled("e:impute=mode").x(2, 0), 1);  // all once: the smallest
  EXPECT_EQ(filled("e:impute=constant:constant=-9").x(2, 0), -9);
  EXPECT_EQ(filled("e:impute=mean").x(1, 1), 0);      // the mode x, which is level 0 as nothing is missing any more
  EXPECT_EQ(filled("e:impute=constant").x(1, 1), 0);  // the level "missing"
  EXPECT_NO_THROW(require_complete(filled("e:impute=mean")));
}

TEST(Encoder, ImputationComesBeforeScaling) {
  const Table t = table("a,b\n1,0\n,0\n3,0\n");
  const Dataset d = Encoder::fit(t, with("e:impute=mean:scale=standardise")).apply(t);
  EXPECT_EQ(d.x(1, 0), 0);
  // Of 1, 2, 3 as the model sees them: deviation sqrt(2/3).
  EXPECT_FLOAT_EQ(d.x(2, 0), static_cast<float>(1 / std::sqrt(2.0 / 3)));
}

TEST(Encoder, LabelsAreClassesOrValues) {
  const auto classes = [](const std::string& text, const std::string& spec = "e") {
    const Table t = table(text, "y");
    return Encoder::fit(t, with(spec)).apply(t).class_names;
  };
  EXPECT_EQ(classes("x,y\n1,0\n2,1\n3,1\n"), (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(classes("x,y\n1,2\n2,10\n"), (std::vector<std::string>{"2", "10"}));  // by value, not by text
  EXPECT_TRUE(classes("x,y\n1,0.5\n2,1\n").empty());
  EXPECT_TRUE(classes("x,y\n1,0\n2,1\n", "e:task=regression").empty());
  EXPECT_EQ(classes("x,y\n1,0.5\n2,1\n", "e:task=classification").size(), 2u);
}

TEST(Encoder, AppliesToOtherRowsByNameAndText) {
  const Encoder encoder = Encoder::fit(table(kMixed, "y"), {});
  // Other order, another column, levels coded differently, and the label absent.
  const Dataset d = encoder.apply(table("b,extra,a\ny,1,5\ny,2,6\n"));
  EXPECT_EQ(column(d, 0), (std::vector<float>{5, 6}));
  EXPECT_EQ(column(d, 1), (std::vector<float>{2, 2}));
  EXPECT_TRUE(d.labels.empty());
}

TEST(Encoder, CategoriesThatLookLikeNumbersInAShortFileAreFound) {
  TableOptions options;
  options.categorical = {"grade"};
  const Table training = read_csv([] { return memory_bytes("t", "grade,x\n1,0\n2,0\n3,0\n"); }, options);
  const Encoder encoder = Encoder::fit(training, {});
  EXPECT_EQ(encoder.apply(table("grade,x\n3,0\n")).x(0, 0), 2);
}

TEST(Encoder, EachMismatchIsOneSentence) {
  const Encoder encoder = Encoder::fit(table(kMixed, "y"), {});
  const auto complaint = [&](const char* text) { return message_of([&] { encoder.apply(table(text)); }); };
  EXPECT_EQ(complaint("A,b\n1,x\n"), "t.csv: there is no column 'a', which the model needs (did you mean 'A'?)");
  EXPECT_EQ(
      complaint("a,b\n1,x\n2,z\n"),
      "t.csv, row 2, column 'b': expected one of the categories of the training rows, found 'z' (did you mean 'x'?)");
  EXPECT_EQ(complaint("a,b\n1,x\nlots,x\n"), "t.csv, row 2, column 'a': expected a number, found 'lots'");
  EXPECT_EQ(complaint("a,b,y\n1,x,maybe\n"),
            "t.csv, row 1, label 'y': expected one of the classes of the training rows, found 'maybe'");
  EXPECT_EQ(message_of([&] { Encoder::fit(table("a,b\n,1\n,2\n"), with("e:impute=mean")); }),
            "t.csv, column 'a': expected a value to take the mean of, found none, every cell is missing");
  EXPECT_EQ(message_of([&] { require_complete(encoder.apply(table("a,b\n1,x\n,x\n"))); }),
            "t.csv, row 2, column 'a': expected a value, found a missing one (impute it, or use a model that accepts "
            "missing values)");
}

TEST(Encoder, RefusesWhatCannotBeScaledOrNamed) {
  const auto complaint = [](const std::string& text, const std::string& spec) {
    return message_of([&] { Encoder::fit(table(text), with(spec)); });
  };
  EXPECT_EQ(complaint("a,b\n1,0\ninf,0\n", "e:scale=standardise"),
            "t.csv, row 2, column 'a': expected a finite number to scale or impute with, found inf");
  EXPECT_EQ(complaint("a,b\n1,0\ninf,0\n", "e"), "no error");
  EXPECT_EQ(complaint("a=b,a\nc,b=c\nd,d\n", "e:categorical=one_hot"),
            "t.csv: expected features with different names once encoded, found 'a=b=c' twice");
  TableOptions empty;
  empty.categorical = {"a"};
  const Table nothing = read_csv([] { return memory_bytes("t.csv", "a,b\n,1\n,2\n"); }, empty);
  EXPECT_EQ(message_of([&] { Encoder::fit(nothing, with("e:categorical=one_hot:missing_level=false")); }),
            "t.csv, column 'a': expected a category to make a column of, found none, every cell is missing");
}

TEST(Encoder, ALevelCalledMissingKeepsItsName) {
  const Table t = table("a,b\nmissing,1\n,2\nx,3\n");
  const Dataset d = Encoder::fit(t, with("e:categorical=one_hot")).apply(t);
  EXPECT_EQ(d.feature_names, (std::vector<std::string>{"a=(missing)", "a=missing", "a=x", "b"}));
  EXPECT_EQ(d.x(0, 1), 1);
  EXPECT_EQ(d.x(1, 0), 1);
}

TEST(Encoder, NumbersMatchCategoriesAsPeopleWriteThem) {
  TableOptions options;
  options.categorical = {"grade"};
  const Table training = read_csv([] { return memory_bytes("t", "grade,x\n100000,0\n200000,0\n"); }, options);
  EXPECT_EQ(Encoder::fit(training, {}).apply(table("grade,x\n200000,0\n")).x(0, 0), 1);
}

TEST(Encoder, ZeroIsZeroInRawUnits) {
  const Table t = table("a,b\n1,x\n3,y\n8,x\n");
  const auto zero = Encoder::fit(t, with("e:scale=standardise:categorical=one_hot")).zero_row();
  ASSERT_EQ(zero.size(), 3u);
  EXPECT_FLOAT_EQ(zero[0], static_cast<float>(-4 / std::sqrt(26.0 / 3)));
  EXPECT_EQ(zero[1], 0);
  EXPECT_EQ(zero[2], 0);
}

TEST(Encoder, JsonRoundTripEncodesTheSameBits) {
  const Table t = table(kMixed, "y");
  for (const char* spec : {"e", "e:categorical=one_hot:scale=standardise", "e:impute=median:scale=min_max"}) {
    const Encoder encoder = Encoder::fit(t, with(spec));
    const Encoder back = Encoder::from_json("m.onnx", encoder.to_json());
    EXPECT_EQ(back.to_json(), encoder.to_json());
    const Dataset a = encoder.apply(t);
    const Dataset b = back.apply(t);
    EXPECT_EQ(a.feature_names, b.feature_names);
    EXPECT_EQ(a.class_names, b.class_names);
    EXPECT_EQ(std::memcmp(a.x.data(), b.x.data(), a.x.values().size_bytes()), 0);
  }
}

TEST(Encoder, HostileJsonIsRefused) {
  const auto complaint = [](const std::string& text) {
    return message_of([&] { Encoder::from_json("m.onnx", text); });
  };
  const std::string good = Encoder::fit(table(kMixed, "y"), {}).to_json();
  EXPECT_EQ(complaint(good), "no error");
  for (
      const std::string& bad :
      {std::string("{"), std::string("[]"), std::string("{}"), std::string(R"({"assay_encoder":2})"),
       std::string(
           R"({"assay_encoder":1,"columns":[{"name":"a","kind":"numeric","fill":null,"shift":0,"scale":0}],"label":"","classes":[],"item_shape":[]})"),
       std::string(
           R"({"assay_encoder":1,"columns":[{"name":"a","kind":"text","fill":null}],"label":"","classes":[],"item_shape":[]})"),
       std::string(
           R"({"assay_encoder":1,"columns":[{"name":"a","kind":"categorical","fill":7,"levels":["x"],"missing_level":false,"one_hot":true}],"label":"","classes":[],"item_shape":[]})"),
       std::string(
           R"({"assay_encoder":1,"columns":[{"name":"a","kind":"categorical","fill":null,"levels":["x","x"],"missing_level":false,"one_hot":true}],"label":"","classes":[],"item_shape":[]})"),
       std::string(R"({"assay_encoder":1,"columns":[],"label":"","classes":["a","a"],"item_shape":[]})"),
       std::string(R"({"assay_encoder":1,"columns":[],"label":"","classes":[],"item_shape":[-1]})"),
       std::string(10000, '['),
       // Nested so deep that printing it would overflow the stack.
       R"({"assay_encoder":1,"columns":[],"label":"","classes":[],"item_shape":)" + std::string(500'000, '[') +
           std::string(500'000, ']') + "}"}) {
    EXPECT_EQ(complaint(bad).substr(0, 6), "m.onnx") << bad.substr(0, 200);
  }
}

TEST(Dataset, ToTableKeepsNamesLabelsAndValues) {
  const Table t = table(kMixed, "y");
  const Table encoded = to_table(Encoder::fit(t, with("e:categorical=one_hot")).apply(t));
  EXPECT_EQ(column_names(encoded), (std::vector<std::string>{"a", "b=missing", "b=x", "b=y", "y"}));
  EXPECT_EQ(encoded.label, 4u);
  EXPECT_EQ(encoded.columns[4].levels, (std::vector<std::string>{"no", "yes"}));
  EXPECT_EQ(encoded.values(3, 4), 1);
}

}  // namespace
}  // namespace assay
