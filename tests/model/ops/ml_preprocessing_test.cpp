#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "assay/model/ops/zip_map.h"
#include "tests/message.h"
#include "tests/model/ops/ml_node.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::IsNan;
using namespace assay::testing;

using Floats = std::vector<float>;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

auto near(double x) { return FloatNear(static_cast<float>(x), 1e-6F); }
std::string refusal(const std::string& op, std::vector<OnnxAttribute> attributes, std::vector<NodeInput> inputs,
                    int64_t opset = 3) {
  return sentence([&] { ml_node(op, std::move(attributes), std::move(inputs), 1, opset).forward(); });
}

TEST(Scaler, ScalesEachFeatureOrAll) {
  const NodeInput x = variable<float>({2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(
      output_of<float>(ml_node("Scaler", {floats_attribute("offset", {1, 2}), floats_attribute("scale", {2, 4})}, {x})),
      ElementsAre(0, 0, 4, 8));
  EXPECT_THAT(
      output_of<float>(ml_node("Scaler", {floats_attribute("offset", {1}), floats_attribute("scale", {2, 4})}, {x})),
      ElementsAre(0, 4, 4, 12));
  EXPECT_THAT(output_of<float>(ml_node("Scaler", {}, {variable<int32_t>({2}, {5, 6})})), ElementsAre(5, 6));
  // Digits that float32 has not, until the offset is off.
  EXPECT_THAT(
      output_of<float>(ml_node("Scaler", {floats_attribute("offset", {16777216}), floats_attribute("scale", {2})},
                               {variable<int64_t>({1, 1}, {16777217})})),
      ElementsAre(2));
  EXPECT_THAT(refusal("Scaler", {floats_attribute("scale", {1, 2, 3})}, {x}), HasSubstr("1 number or 2"));
  expect_float_gradients(ml_node("Scaler", {floats_attribute("offset", {1, 2}), floats_attribute("scale", {2, -4})},
                                 {random_input<double>({3, 2}, 1)}),
                         0, 0.5, 1e-5);
}

SingleNode normalizer(const std::string& norm, const NodeInput& x) {
  return ml_node("Normalizer", {text_attribute("norm", norm)}, {x});
}

TEST(Normalizer, DividesRowsByTheirNorms) {
  const NodeInput x = variable<float>({4, 2}, {3, -4, -1, -2, 0, 0, -1, 0});
  EXPECT_THAT(output_of<float>(normalizer("MAX", x)), ElementsAre(1, near(-4.0 / 3), 1, 2, 0, 0, -1, 0));
  EXPECT_THAT(output_of<float>(normalizer("L1", x)),
              ElementsAre(near(3.0 / 7), near(-4.0 / 7), near(-1.0 / 3), near(-2.0 / 3), 0, 0, -1, 0));
  EXPECT_THAT(output_of<float>(normalizer("L2", x)),
              ElementsAre(near(0.6), near(-0.8), near(-1 / std::sqrt(5)), near(-2 / std::sqrt(5)), 0, 0, -1, 0));
  EXPECT_THAT(output_of<float>(normalizer("L2", variable<int64_t>({2}, {3, -4}))), ElementsAre(near(0.6), near(-0.8)));
  EXPECT_THAT(output_of<float>(normalizer("MAX", variable<float>({2, 0}, {}))), ElementsAre());
  EXPECT_THAT(refusal("Normalizer", {text_attribute("norm", "L3")}, {x}), HasSubstr("MAX, L1 or L2, found 'L3'"));
}

TEST(Normalizer, HasDerivatives) {
  const NodeInput x = variable<double>({3, 3}, {1, -2, 2.5, -1, -3, -2, 0.5, 0.7, -0.9});
  for (const char* norm : {"MAX", "L1", "L2"}) expect_float_gradients(normalizer(norm, x));
  // Without a norm it is the identity.
  const auto node = normalizer("L2", variable<double>({1, 2}, {0, 0}));
  SingleNode::Run run = node.forward();
  std::vector<double> gradient = {0, 0};
  const Floats slopes = {2, 3};
  const void* out = slopes.data();
  void* in = gradient.data();
  node.kernel().backward(run.buffers(), {{&out, 1}, {&in, 1}});
  EXPECT_THAT(gradient, ElementsAre(2, 3));
}

TEST(Normalizer, RescaleIsComplete) {
  const NodeInput x = variable<double>({4, 3}, {1, -2, 2.5, -1, -3, -2, 0, 0, 0, 4, 1, 1});
  const NodeInput others = variable<double>({4, 3}, {2, 1.5, -1, -3, -0.5, 2, 1, -2, 3, 4, 1, 1});
  const NodeInput zeros = variable<double>({4, 3}, std::vector<double>(12, 0.0));
  const NodeInput zero_max = variable<double>({4, 3}, {-1, 0, -2, -1, -1, 0, 0, 0, 0, -5, -5, 0});
  for (const char* norm : {"MAX", "L1", "L2"}) {
    SCOPED_TRACE(norm);
    for (const NodeInput& reference : {others, zeros, zero_max, x})
      expect_float_complete(normalizer(norm, x), reference);
  }
}

TEST(Normalizer, IsLinearFromZeros) {
  const auto node = normalizer("L1", variable<double>({1, 2}, {3, -5}));
  SingleNode::Run run = node.forward();
  const NodeInput zeros = variable<double>({1, 2}, {0, 0});
  SingleNode::Run base = node.forward({zeros});
  std::vector<double> multipliers = {1, 1};
  const Floats slopes = {2, 4};
  const void* out = slopes.data();
  void* in = multipliers.data();
  node.kernel().rescale(run.buffers(), base.buffers(), {{&out, 1}, {&in, 1}});
  EXPECT_THAT(multipliers, ElementsAre(1.25, 1.5));
}

TEST(Imputer, ReplacesNumbersAndNan) {
  EXPECT_THAT(
      output_of<float>(ml_node(
          "Imputer", {floats_attribute("imputed_value_floats", {7, 8}), float_attribute("replaced_value_float", kNan)},
          {variable<float>({2, 2}, {kNan, 1, 2, kNan})})),
      ElementsAre(7, 1, 2, 8));
  // The value replaced is 0 by default; a NaN is then none.
  EXPECT_THAT(output_of<double>(ml_node("Imputer", {floats_attribute("imputed_value_floats", {0.5F})},
                                        {variable<double>({1, 3}, {0, std::nan(""), 2})})),
              ElementsAre(0.5, IsNan(), 2));
  EXPECT_THAT(output_of<int64_t>(ml_node(
                  "Imputer", {ints_attribute("imputed_value_int64s", {9}), int_attribute("replaced_value_int64", -1)},
                  {variable<int64_t>({3}, {-1, 0, 4})})),
              ElementsAre(9, 0, 4));
  EXPECT_THAT(output_of<int32_t>(ml_node("Imputer", {ints_attribute("imputed_value_int64s", {9, 10})},
                                         {variable<int32_t>({1, 2}, {0, 0})})),
              ElementsAre(9, 10));
}

TEST(Imputer, RefusesWhatDoesNotFit) {
  const NodeInput x = variable<int32_t>({1, 2}, {0, 0});
  EXPECT_THAT(refusal("Imputer", {}, {x}), HasSubstr("expected 1 imputed value or 2, one for each feature; found 0"));
  EXPECT_THAT(refusal("Imputer", {ints_attribute("imputed_value_int64s", {1, 2, 3})}, {x}), HasSubstr("found 3"));
  EXPECT_THAT(refusal("Imputer", {ints_attribute("imputed_value_int64s", {INT64_MAX})}, {x}),
              HasSubstr("cannot hold the value 9223372036854775807"));
  EXPECT_THAT(
      refusal("Imputer",
              {ints_attribute("imputed_value_int64s", {1}), int_attribute("replaced_value_int64", INT64_MIN)}, {x}),
      HasSubstr("cannot hold"));
}

TEST(Imputer, PassesGradientsWhereNothingWasReplaced) {
  const auto node =
      ml_node("Imputer", {floats_attribute("imputed_value_floats", {5}), float_attribute("replaced_value_float", 1)},
              {variable<double>({2, 2}, {1, 2, 3, 1})});
  SingleNode::Run run = node.forward();
  std::vector<double> gradient = {1, 1, 1, 1};
  const std::vector<double> slopes = {2, 3, 4, 5};
  const void* out = slopes.data();
  void* in = gradient.data();
  node.kernel().backward(run.buffers(), {{&out, 1}, {&in, 1}});
  EXPECT_THAT(gradient, ElementsAre(1, 4, 5, 1));
  expect_gradients(
      ml_node("Imputer", {floats_attribute("imputed_value_floats", {5})}, {random_input<double>({2, 3}, 4)}));
}

TEST(Imputer, RescaleIsCompleteWhereDifferencesAreFinite) {
  const auto node =
      ml_node("Imputer", {floats_attribute("imputed_value_floats", {5}), float_attribute("replaced_value_float", 1)},
              {variable<double>({1, 4}, {1, 2, 3, 1})});
  expect_rescale_complete(node, {variable<double>({1, 4}, {4, 1, 7, 1})});
  const auto missing =
      ml_node("Imputer", {floats_attribute("imputed_value_floats", {5}), float_attribute("replaced_value_float", kNan)},
              {variable<double>({1, 1}, {std::nan("")})});
  SingleNode::Run run = missing.forward();
  const NodeInput reference = variable<double>({1, 1}, {2});
  SingleNode::Run base = missing.forward({reference});
  double multiplier = 0;
  const double slope = 3;
  const void* out = &slope;
  void* in = &multiplier;
  missing.kernel().rescale(run.buffers(), base.buffers(), {{&out, 1}, {&in, 1}});
  EXPECT_EQ(multiplier, 0);
}

TEST(OneHotEncoder, FindsNumbersAndText) {
  const auto node = ml_node("OneHotEncoder", {ints_attribute("cats_int64s", {1, -2, 4})},
                            {variable<float>({2, 2}, {4, 1.7F, -2.9F, 9})});
  EXPECT_EQ(node.output_info(0)->dims, Shape({2, 2, 3}));
  EXPECT_THAT(output_of<float>(node), ElementsAre(0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0));
  EXPECT_THAT(output_of<float>(ml_node("OneHotEncoder", {texts_attribute("cats_strings", {"a", "b"})},
                                       {variable<std::string>({3}, {"b", "c", "a"})})),
              ElementsAre(0, 1, 0, 0, 1, 0));
  EXPECT_THAT(output_of<float>(
                  ml_node("OneHotEncoder", {ints_attribute("cats_int64s", {3, 5, 3})}, {variable<int64_t>({1}, {3})})),
              ElementsAre(0, 0, 1));
}

TEST(OneHotEncoder, TakesNoNumberForACategoryThatItIsNot) {
  const auto node =
      ml_node("OneHotEncoder", {ints_attribute("cats_int64s", {INT64_MIN, INT64_MAX, 0})},
              {variable<double>({4}, {std::nan(""), 1e300, -1e300, std::numeric_limits<double>::infinity()})});
  EXPECT_THAT(output_of<float>(node), ::testing::Each(0));
}

TEST(OneHotEncoder, RefusesUnknownValuesWhenAskedTo) {
  const auto strict = [](OnnxAttribute categories, const NodeInput& x) {
    return refusal("OneHotEncoder", {std::move(categories), int_attribute("zeros", 0)}, {x});
  };
  EXPECT_THAT(strict(ints_attribute("cats_int64s", {1, 2}), variable<int32_t>({2}, {2, 7})),
              HasSubstr("(OneHotEncoder): the value 7 is none of its 2 categories"));
  EXPECT_THAT(strict(texts_attribute("cats_strings", {"a"}), variable<std::string>({1}, {"x"})),
              HasSubstr("the value 'x'"));
  EXPECT_THAT(refusal("OneHotEncoder", {ints_attribute("cats_int64s", {1})}, {variable<std::string>({1}, {"x"})}),
              HasSubstr("cats_strings is empty"));
  EXPECT_THAT(refusal("OneHotEncoder", {ints_attribute("cats_int64s", {1}), texts_attribute("cats_strings", {"a"})},
                      {variable<float>({1}, {1})}),
              HasSubstr("both"));
  EXPECT_THAT(refusal("OneHotEncoder", {ints_attribute("cats_int64s", {1})}, {variable<bool>({1}, {true})}),
              HasSubstr("found BOOL"));
}

TEST(LabelEncoder, MapsClassesBothWaysInVersionOne) {
  const std::vector<OnnxAttribute> classes = {texts_attribute("classes_strings", {"a", "b"})};
  EXPECT_THAT(output_of<int64_t>(ml_node("LabelEncoder", classes, {variable<std::string>({3}, {"b", "z", "a"})}, 1, 1)),
              ElementsAre(1, -1, 0));
  EXPECT_THAT(output_of<std::string>(ml_node("LabelEncoder", classes, {variable<int64_t>({2}, {1, 5})}, 1, 1)),
              ElementsAre("b", "_Unused"));
}

TEST(LabelEncoder, MapsKeysToValues) {
  const std::vector<OnnxAttribute> names = {texts_attribute("keys_strings", {"Amy", "Sally"}),
                                            ints_attribute("values_int64s", {5, 6}),
                                            int_attribute("default_int64", -3)};
  EXPECT_THAT(output_of<int64_t>(
                  ml_node("LabelEncoder", names, {variable<std::string>({1, 3}, {"Dori", "Amy", "Sally"})}, 1, 2)),
              ElementsAre(-3, 5, 6));
  // Of equal keys the first counts; 0 and -0 are equal.
  const auto floats =
      ml_node("LabelEncoder",
              {floats_attribute("keys_floats", {0, 2.5F, 2.5F}), texts_attribute("values_strings", {"zero", "x", "y"})},
              {variable<float>({3}, {-0.0F, 2.5F, 7})}, 1, 2);
  EXPECT_THAT(output_of<std::string>(floats), ElementsAre("zero", "x", "_Unused"));
  const auto integers =
      ml_node("LabelEncoder", {ints_attribute("keys_int64s", {INT64_MIN}), floats_attribute("values_floats", {1.5F})},
              {variable<int64_t>({2}, {INT64_MIN, 0})}, 1, 2);
  const std::vector<float> found = output_of<float>(integers);
  EXPECT_THAT(found, ElementsAre(1.5F, 0));
  EXPECT_TRUE(std::signbit(found[1]));
}

TEST(LabelEncoder, MatchesNanFromVersionFour) {
  const std::vector<OnnxAttribute> nan = {floats_attribute("keys_floats", {kNan}),
                                          ints_attribute("values_int64s", {4})};
  EXPECT_THAT(output_of<int64_t>(ml_node("LabelEncoder", nan, {variable<float>({1}, {kNan})}, 1, 4)), ElementsAre(4));
  EXPECT_THAT(output_of<int64_t>(ml_node("LabelEncoder", nan, {variable<float>({1}, {kNan})}, 1, 2)), ElementsAre(-1));
}

TEST(LabelEncoder, TakesTensorsFromVersionFour) {
  const auto node = ml_node("LabelEncoder",
                            {tensor_attribute("keys_tensor", tensor_of<int16_t>({1, -2})),
                             tensor_attribute("values_tensor", tensor_of<double>({0.1, 0.2})),
                             tensor_attribute("default_tensor", tensor_of<double>({42}))},
                            {variable<int16_t>({3}, {-2, 1, 3})}, 1, 4);
  EXPECT_THAT(output_of<double>(node), ElementsAre(0.2, 0.1, 42));
  EXPECT_THAT(output_of<int32_t>(ml_node("LabelEncoder",
                                         {tensor_attribute("keys_tensor", tensor_of<double>({0.5})),
                                          tensor_attribute("values_tensor", tensor_of<int32_t>({8}))},
                                         {variable<double>({2}, {0.5, 1})}, 1, 4)),
              ElementsAre(8, -1));
}

TEST(LabelEncoder, RefusesWhatDoesNotFit) {
  const NodeInput x = variable<int64_t>({1}, {1});
  const auto error = [&](std::vector<OnnxAttribute> attributes) {
    return refusal("LabelEncoder", std::move(attributes), {x}, 4);
  };
  EXPECT_THAT(error({}), HasSubstr("expected one of keys_strings, keys_int64s, keys_floats and keys_tensor, found 0"));
  EXPECT_THAT(error({ints_attribute("keys_int64s", {1}), texts_attribute("keys_strings", {"a"})}),
              HasSubstr("found 2"));
  EXPECT_THAT(error({ints_attribute("keys_int64s", {1, 2}), ints_attribute("values_int64s", {1})}),
              HasSubstr("as many values as keys, found 1 and 2"));
  EXPECT_THAT(error({texts_attribute("keys_strings", {"a"}), ints_attribute("values_int64s", {1})}),
              HasSubstr("its keys are STRING, the input is INT64"));
  EXPECT_THAT(error({ints_attribute("keys_int64s", {1}), tensor_attribute("values_tensor", tensor_of<uint8_t>({1}))}),
              HasSubstr("its values are UINT8"));
  EXPECT_THAT(error({ints_attribute("keys_int64s", {1}), ints_attribute("values_int64s", {1}),
                     tensor_attribute("default_tensor", tensor_of<double>({1}))}),
              HasSubstr("default_tensor must be one INT64, found 1 of DOUBLE"));
}

TEST(ArrayFeatureExtractor, ChoosesColumns) {
  const NodeInput x = variable<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto node = ml_node("ArrayFeatureExtractor", {}, {x, variable<int64_t>({1, 4}, {2, 0, 2, 1})});
  EXPECT_EQ(node.output_info(0)->dims, Shape({2, 4}));
  EXPECT_THAT(output_of<float>(node), ElementsAre(3, 1, 3, 2, 6, 4, 6, 5));
  const auto row =
      ml_node("ArrayFeatureExtractor", {}, {variable<std::string>({2}, {"a", "b"}), constant<int64_t>({1}, {1})});
  EXPECT_EQ(row.output_info(0)->dims, Shape({1, 1}));
  EXPECT_THAT(output_of<std::string>(row), ElementsAre("b"));
  const auto deep =
      ml_node("ArrayFeatureExtractor", {}, {variable<int32_t>({2, 1, 2}, {1, 2, 3, 4}), constant<int64_t>({1}, {1})});
  EXPECT_EQ(deep.output_info(0)->dims, Shape({2, 1, 1}));
  EXPECT_THAT(output_of<int32_t>(deep), ElementsAre(2, 4));
  EXPECT_FALSE(deep.kernel().differentiable(0));
  expect_gradients(
      ml_node("ArrayFeatureExtractor", {}, {random_input<double>({2, 3}, 1), constant<int64_t>({4}, {2, 0, 2, 1})}));
}

TEST(ArrayFeatureExtractor, RefusesIndicesOutside) {
  const NodeInput x = variable<float>({1, 3}, {1, 2, 3});
  for (const int64_t index : {int64_t{3}, int64_t{-1}, INT64_MAX}) {
    EXPECT_THAT(sentence([&] { ml_node("ArrayFeatureExtractor", {}, {x, constant<int64_t>({1}, {index})}); }),
                HasSubstr("is outside the 3 columns"));
    const auto late = ml_node("ArrayFeatureExtractor", {}, {x, variable<int64_t>({1}, {index})});
    EXPECT_THAT(sentence([&] { late.forward(); }), HasSubstr("(ArrayFeatureExtractor): index"));
  }
  EXPECT_THAT(refusal("ArrayFeatureExtractor", {}, {x, variable<int64_t>({0}, {})}), HasSubstr("are empty"));
  EXPECT_THAT(refusal("ArrayFeatureExtractor", {}, {x, variable<float>({1}, {0})}), HasSubstr("input 2 must be INT64"));
}

TEST(FeatureVectorizer, PutsColumnsSideBySide) {
  const NodeInput a = variable<float>({2, 2}, {1, 2, 3, 4});
  const NodeInput b = variable<int64_t>({2, 2}, {5, 6, 7, 8});
  EXPECT_THAT(output_of<float>(ml_node("FeatureVectorizer", {}, {a, b})), ElementsAre(1, 2, 5, 6, 3, 4, 7, 8));
  EXPECT_THAT(output_of<float>(ml_node("FeatureVectorizer", {ints_attribute("inputdimensions", {3, 1})}, {a, b})),
              ElementsAre(1, 2, 0, 5, 3, 4, 0, 7));
  EXPECT_THAT(output_of<float>(ml_node("FeatureVectorizer", {},
                                       {variable<double>({2}, {1, 2}), variable<double>({1, 1, 2}, {3, 4})})),
              ElementsAre(1, 2, 3, 4));
}

TEST(FeatureVectorizer, HasDerivatives) {
  expect_float_gradients(
      ml_node("FeatureVectorizer", {ints_attribute("inputdimensions", {3, 1, 2})},
              {random_input<double>({2, 2}, 1), random_input<double>({2, 2}, 2), random_input<double>({2, 2}, 3)}),
      0, 0.5, 1e-5);
  EXPECT_FALSE(ml_node("FeatureVectorizer", {}, {variable<int64_t>({1}, {1})}).kernel().differentiable(0));
}

TEST(FeatureVectorizer, RefusesWhatDoesNotFit) {
  const NodeInput a = variable<float>({2, 1}, {1, 2});
  EXPECT_THAT(refusal("FeatureVectorizer", {}, {a, variable<float>({3, 1}, {1, 2, 3})}),
              HasSubstr("input 2 has 3 rows, the first input has 2"));
  EXPECT_THAT(refusal("FeatureVectorizer", {ints_attribute("inputdimensions", {1})}, {a, a}),
              HasSubstr("must hold 2 numbers"));
  for (const int64_t columns : {int64_t{-1}, INT64_MAX, INT64_MIN}) {
    EXPECT_THAT(refusal("FeatureVectorizer", {ints_attribute("inputdimensions", {columns})}, {a}),
                HasSubstr("input 1 cannot take"));
  }
  EXPECT_THAT(refusal("FeatureVectorizer", {ints_attribute("inputdimensions", {int64_t{1} << 39})}, {a}),
              HasSubstr("bytes are allowed"));
  EXPECT_THAT(refusal("FeatureVectorizer", {}, {variable<std::string>({1}, {"a"})}), HasSubstr("found STRING"));
}

TEST(ZipMap, PassesScoresAndNamesColumns) {
  const auto node = ml_node("ZipMap", {texts_attribute("classlabels_strings", {"a", "b"})},
                            {variable<float>({1, 2}, {0.25F, 0.75F})});
  EXPECT_EQ(node.output_info(0)->dims, Shape({1, 2}));
  EXPECT_THAT(output_of<float>(node), ElementsAre(0.25F, 0.75F));
  expect_gradients(
      ml_node("ZipMap", {ints_attribute("classlabels_int64s", {1, 2})}, {random_input<double>({3, 2}, 1)}));
  EXPECT_THAT(refusal("ZipMap", {ints_attribute("classlabels_int64s", {1})}, {variable<float>({1, 2}, {1, 2})}),
              HasSubstr("expected 2 class labels"));
  OnnxNode zip;
  zip.op_type = "ZipMap";
  EXPECT_THAT(zip_map_keys(zip), ElementsAre());
  zip.attributes = {ints_attribute("classlabels_int64s", {4, -5})};
  EXPECT_THAT(zip_map_keys(zip), ElementsAre("4", "-5"));
  zip.attributes.push_back(texts_attribute("classlabels_strings", {"x"}));
  EXPECT_THAT(zip_map_keys(zip), ElementsAre("x"));
}

}  // namespace
}  // namespace assay
