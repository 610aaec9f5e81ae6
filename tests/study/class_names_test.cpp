// Which labels are the classes of a model that only counts them.
#include "assay/study/class_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "assay/model/renamed_classes.h"
#include "tests/message.h"

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Predicts the class that its only feature says, with one output for two classes.
std::unique_ptr<Model> counting_model(size_t classes) {
  ModelInfo info;
  info.name = "m.json";
  info.unit = OutputUnit::margin;
  info.feature_names = {"x"};
  for (size_t c = 0; c < classes; c++) info.class_names.push_back(std::to_string(c));
  info.output_names = classes == 2 ? std::vector<std::string>{"1"} : info.class_names;
  return model_from_function(info, [classes](MatrixView<const float> rows, MatrixView<float> out) {
    for (size_t r = 0; r < rows.rows(); r++) {
      const auto said = static_cast<size_t>(rows(r, 0));
      for (size_t c = 0; classes > 2 && c < classes; c++) out(r, c) = c == said ? 1 : 0;
      if (classes == 2) out(r, 0) = said == 1 ? 1.0F : -1.0F;
    }
  });
}

// Row i is predicted to be of class said[i] and has the label texts[i]; an empty text is missing.
struct Labelled {
  Dataset data;
  TextLabels labels;

  Labelled(const std::vector<int>& said, const std::vector<std::string>& texts) {
    data.x = Matrix(said.size(), 1);
    for (size_t r = 0; r < said.size(); r++) data.x(r, 0) = static_cast<float>(said[r]);
    Table table;
    table.columns = {{"risk", ColumnKind::categorical, {}}};
    table.label = 0;
    table.values = Matrix(texts.size(), 1);
    LevelCodes codes;
    for (size_t r = 0; r < texts.size(); r++)
      table.values(r, 0) = texts[r].empty() ? kMissing : codes.code_of(texts[r]);
    table.columns[0].levels = codes.in_order_of_code();
    labels = text_labels(table);
  }
};

// `right` of `rows` labels are as said with 0 for `zero` and 1 for `one`.
Labelled two_classes(size_t rows, size_t right, const std::string& zero, const std::string& one) {
  std::vector<int> said;
  std::vector<std::string> texts;
  for (size_t i = 0; i < rows; i++) {
    said.push_back(static_cast<int>(i % 2));
    texts.push_back((i % 2 == 1) == (i < right) ? one : zero);
  }
  return {said, texts};
}

AgreedNames agreed(const Model& model, const Labelled& rows) {
  const LabelledRows part{&rows.data, rows.labels};
  return agreed_class_names(model, {&part, 1}, {});
}

TEST(ClassNames, AClassIsTheLabelThatItsScoreFinds) {
  const auto model = counting_model(2);
  const AgreedNames found = agreed(*model, two_classes(40, 32, "good", "bad"));
  EXPECT_THAT(found.names, ElementsAre("good", "bad"));
  EXPECT_EQ(found.note, "the model's class 1 is taken for 'bad': the scores tell so, for 40 rows with a label");
  EXPECT_THAT(agreed(*model, two_classes(40, 32, "bad", "good")).names, ElementsAre("bad", "good"));
}

TEST(ClassNames, AnOrderThatIsNotClearIsRefused) {
  const auto model = counting_model(2);
  EXPECT_THAT(agreed(*model, two_classes(40, 28, "good", "bad")).names, ElementsAre("good", "bad"));
  try {
    agreed(*model, two_classes(40, 22, "good", "bad"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.argument(), "classes");
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_STREQ(
        error.what(),
        "classes: expected the names of the model's classes '0' and '1', in this order, found none; the labels "
        "of column 'risk' are 'bad' and 'good', and what the model gives for 40 rows does not tell which is "
        "which");
  }
}

// All that is rare is found, and most of the rest is taken for it too: 36 of 100 rows are predicted right.
TEST(ClassNames, AModelThatIsTunedForARareClassIsNotTurnedRound) {
  std::vector<int> said(100, 1);
  std::vector<std::string> texts(100, "ok");
  for (size_t r = 0; r < 6; r++) texts[r] = "fraud";
  for (size_t r = 70; r < 100; r++) said[r] = 0;
  const AgreedNames found = agreed(*counting_model(2), {said, texts});
  EXPECT_THAT(found.names, ElementsAre("ok", "fraud"));
}

// One class has 160 of 200 rows; the two others are neither in the order of the alphabet nor of their frequency.
TEST(ClassNames, AFrequentClassDoesNotDecideForTheOthers) {
  std::vector<int> said;
  std::vector<std::string> texts;
  for (size_t r = 0; r < 200; r++) {
    const size_t label = r < 160 ? 0 : r < 185 ? 1 : 2;
    said.push_back(static_cast<int>(r % 10 == 0 ? (label + 1) % 3 : label));
    texts.emplace_back(label == 0 ? "normal" : label == 1 ? "suspect" : "pathological");
  }
  const AgreedNames found = agreed(*counting_model(3), {said, texts});
  EXPECT_THAT(found.names, ElementsAre("normal", "suspect", "pathological"));
}

TEST(ClassNames, SeveralClassesAreFoundInAnyOrderOrNotAtAll) {
  const auto model = counting_model(3);
  std::vector<int> said;
  std::vector<std::string> turned;
  std::vector<std::string> mixed;
  for (int i = 0; i < 60; i++) {
    said.push_back(i % 3);
    turned.emplace_back(i % 3 == 0 ? "b" : i % 3 == 1 ? "c" : "a");
    mixed.emplace_back(i % 3 == 0 ? "a" : i % 2 == 0 ? "b" : "c");
  }
  const AgreedNames found = agreed(*model, {said, turned});
  EXPECT_THAT(found.names, ElementsAre("b", "c", "a"));
  EXPECT_THAT(found.note, AllOf(HasSubstr("the model's classes '0', '1' and '2' are taken for 'b', 'c' and 'a'"),
                                HasSubstr("for 60 rows")));
  EXPECT_THAT(message_of([&] { agreed(*model, {said, mixed}); }), HasSubstr("does not tell which is which"))
      << "the second and the third class are both b and c";
}

TEST(ClassNames, LabelsThatAreTheModelsOwnNeedNoNames) {
  const auto model = counting_model(2);
  const AgreedNames known = agreed(*model, two_classes(40, 40, "0", "1"));
  EXPECT_THAT(known.names, IsEmpty());
  EXPECT_EQ(known.note, "");
  const auto named = with_class_names(counting_model(2), {"no", "yes"});
  EXPECT_FALSE(counts_classes(named->info()));
  const AgreedNames other = agreed(*named, two_classes(40, 40, "good", "bad"));
  EXPECT_THAT(other.names, IsEmpty()) << "the model has names of its own";
  EXPECT_THAT(other.note, HasSubstr("the labels in column 'risk', 'bad' and 'good', are not among the model's classes, "
                                    "'no' and 'yes'"));
  EXPECT_THAT(agreed(*counting_model(3), two_classes(40, 40, "good", "bad")).names, IsEmpty()) << "of three classes";
}

TEST(ClassNames, RowsAndPoolAreCountedTogetherAndMissingLabelsAreNot) {
  const auto model = counting_model(2);
  const Labelled few({1, 0, 1}, {"bad", "", ""});
  const Labelled many = two_classes(40, 36, "good", "bad");
  const LabelledRows parts[] = {{&few.data, few.labels}, {&many.data, many.labels}};
  const AgreedNames found = agreed_class_names(*model, parts, {});
  EXPECT_THAT(found.note, HasSubstr("for 41 rows"));
}

TEST(ClassNames, NamesThatTheUserGaveAreChecked) {
  const ModelInfo info = counting_model(2)->info();
  const auto refusal_of = [&](const std::vector<std::string>& names) {
    return message_of([&] { check_class_names(info, names); });
  };
  EXPECT_EQ(refusal_of({"a", "b", "c"}), "classes: expected 2 names, for the classes '0' and '1' of m.json, found 3");
  EXPECT_EQ(refusal_of({"a", "a"}), "classes: expected each name once, found 'a' twice");
  EXPECT_EQ(refusal_of({"a", ""}), "classes: expected a name for each class, found an empty one");
  ModelInfo regression = info;
  regression.class_names.clear();
  EXPECT_EQ(message_of([&] { check_class_names(regression, {"a", "b"}); }),
            "classes: expected none, for m.json predicts no classes, found 2");
}

TEST(ClassNames, LabelsAreTheNewNamesOrTheOld) {
  const ModelInfo info = counting_model(2)->info();
  Labelled rows({1, 0, 1}, {"bad", "good", ""});
  set_labels_by_name(info, {"good", "bad"}, rows.labels, rows.data);
  EXPECT_EQ(rows.data.labels[0], 1);
  EXPECT_EQ(rows.data.labels[1], 0);
  EXPECT_TRUE(std::isnan(rows.data.labels[2]));
  EXPECT_THAT(rows.data.class_names, ElementsAre("good", "bad"));
  Labelled numbers({1, 0}, {"1", "0"});
  set_labels_by_name(info, {"good", "bad"}, numbers.labels, numbers.data);
  EXPECT_EQ(numbers.data.labels[0], 1);
  set_labels_by_name(info, {"1", "0"}, numbers.labels, numbers.data);
  EXPECT_EQ(numbers.data.labels[0], 0) << "the new names come first";
  EXPECT_EQ(message_of([&] { set_labels_by_name(info, {"good", "worse"}, rows.labels, rows.data); }),
            "classes: expected a name for each label of column 'risk', which holds 'bad', found 'good' and 'worse'");
}

TEST(ClassNames, ARenamedModelPredictsTheSame) {
  const std::shared_ptr<const Model> model = counting_model(2);
  const auto renamed = with_class_names(model, {"good", "bad"});
  EXPECT_THAT(renamed->info().class_names, ElementsAre("good", "bad"));
  EXPECT_THAT(renamed->info().output_names, ElementsAre("bad")) << "one output is that of the second class";
  Matrix rows(2, 1);
  rows(1, 0) = 1;
  Matrix first(2, 1);
  Matrix second(2, 1);
  model->predict(rows.view(), first.view(), {});
  renamed->predict(rows.view(), second.view(), {});
  EXPECT_EQ(first(1, 0), second(1, 0));
  EXPECT_EQ(renamed->tree_scores(), model->tree_scores());
}

}  // namespace
}  // namespace assay
