#include "assay/model/text_columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "assay/model/engine_model.h"
#include "assay/model/trees/booster.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

OnnxValue input_of(const std::string& name, OnnxElement element) {
  OnnxValue value;
  value.name = name;
  value.type.element = element;
  return value;
}

TableOptions declared(const OnnxModel& model) {
  TableOptions options;
  declare_text_columns("m.onnx", model, options);
  return options;
}

TEST(TextColumns, InputsOfTextsAreReadAsTexts) {
  OnnxModel model;
  model.graph.inputs = {input_of("age", OnnxElement::float32), input_of("code", OnnxElement::string)};
  EXPECT_THAT(declared(model).texts, ElementsAre("code"));
  EXPECT_FALSE(declared(model).all_texts);
  EXPECT_THAT(declared(OnnxModel()).texts, IsEmpty());
}

TEST(TextColumns, AllColumnsAreTextsWhereTheOnlyInputIs) {
  OnnxModel model;
  model.graph.inputs = {input_of("cells", OnnxElement::string)};
  EXPECT_TRUE(declared(model).all_texts);
  // A weight may be listed as an input too; no column feeds it.
  model.graph.inputs.push_back(input_of("w", OnnxElement::float32));
  EXPECT_FALSE(declared(model).all_texts);
  model.graph.initializers.emplace_back().name = "w";
  EXPECT_TRUE(declared(model).all_texts);
}

TEST(TextColumns, CategoriesOfBoostersAreTexts) {
  OnnxModel model;
  model.metadata = {{std::string(kFeatureNamesKey), R"(["age", "zip", "code"])"},
                    {std::string(kCategoriesKey), R"({"1": ["007", "12"], "2": []})"}};
  EXPECT_THAT(declared(model).texts, ElementsAre("zip"));
  // What is wrong in it is told where the model is built.
  model.metadata[1].second = "{";
  EXPECT_THAT(declared(model).texts, IsEmpty());
}

}  // namespace
}  // namespace assay
