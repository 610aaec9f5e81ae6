#include "assay/model/train/recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/data/datasets.h"
#include "assay/data/io/csv.h"
#include "assay/model/engine_model.h"
#include "tests/message.h"
#include "tests/model/train/made_data.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Json = nlohmann::json;
using Metadata = std::vector<std::pair<std::string, std::string>>;

Context seeded(uint64_t seed, unsigned threads = 0) {
  Context context;
  context.seed = seed;
  context.threads = threads;
  return context;
}

Recipe short_recipe(int64_t epochs) {
  Recipe recipe = table_recipe();
  recipe.training.epochs = epochs;
  return recipe;
}

Recipe short_image_recipe() {
  Recipe recipe = image_recipe();
  recipe.cnn.channels = {4};
  recipe.cnn.dense = {8};
  recipe.training.epochs = 12;
  recipe.training.batch = 32;
  recipe.training.rate = 0.01;
  recipe.training.validation = 0.2;
  return recipe;
}

Json stored_recipe(const OnnxModel& model) { return Json::parse(model.metadata.back().second); }

Metadata with_recipe(Metadata metadata, const Json& recipe) {
  metadata.back().second = recipe.dump();
  return metadata;
}

TEST(Recipe, ReachesThePapersAccuracyOnIrisAndStoresWhatItTook) {
  DatasetRequest request;
  request.split = Split::train;
  const Table table = load_dataset("iris", request);
  request.split = Split::test;
  const Table rest = load_dataset("iris", request);
  const Encoder encoder = Encoder::fit(table, {});
  const TrainResult result = train_recipe(table_recipe(), encoder.apply(table), &encoder, seeded(0));
  EXPECT_GE(evaluate(result.model, encoder.apply(rest), {}).accuracy, 0.96);

  std::vector<std::string> keys;
  for (const auto& [key, value] : result.model.metadata) keys.push_back(key);
  EXPECT_THAT(keys, ElementsAre("assay.encoder", "assay.feature_names", "assay.class_names", "assay.training"));
  EXPECT_EQ(Encoder::from_json("test", result.model.metadata[0].second).feature_names(), encoder.feature_names());
  EXPECT_EQ(Json::parse(result.model.metadata[1].second), Json(encoder.feature_names()));
  EXPECT_EQ(Json::parse(result.model.metadata[2].second), Json(encoder.class_names()));
  const Json recipe = stored_recipe(result.model);
  EXPECT_EQ(recipe["network"], "mlp");
  EXPECT_EQ(recipe["hidden"], Json({40}));
  EXPECT_EQ(recipe["options"]["activation"], "leaky_relu");
  EXPECT_EQ(recipe["training"]["epochs"], 100);
  EXPECT_EQ(recipe["seed"], 0);
  EXPECT_EQ(recipe["rows"], 108);
  EXPECT_EQ(recipe["validation_rows"], 12);
  EXPECT_EQ(recipe["best_epoch"], result.best_epoch);
  EXPECT_EQ(recipe["validation_accuracy"], result.validation_accuracy);
  // The saved file is the model.
  EXPECT_EQ(parse_onnx("m.onnx", serialise_onnx(result.model), ""), result.model);
}

TEST(Recipe, FilesAreTheSameOnAnyNumberOfThreads) {
  const Dataset table = circle(200, 3, 1), images = stripes(100, 2);
  std::vector<std::string> tables, pictures;
  for (const unsigned threads : {1u, 2u, 7u}) {
    tables.push_back(serialise_onnx(train_recipe(short_recipe(5), table, nullptr, seeded(3, threads)).model));
    pictures.push_back(serialise_onnx(train_recipe(short_image_recipe(), images, nullptr, seeded(3, threads)).model));
  }
  for (size_t i = 1; i < 3; ++i) {
    EXPECT_EQ(tables[0], tables[i]);
    EXPECT_EQ(pictures[0], pictures[i]);
  }
  EXPECT_NE(tables[0], serialise_onnx(train_recipe(short_recipe(5), table, nullptr, seeded(4)).model));
}

TEST(Recipe, ConvolutionsTellStripesApart) {
  const TrainResult result = train_recipe(short_image_recipe(), stripes(300, 1), nullptr, seeded(1));
  // Pixels as bytes: the scaling is inside.
  EXPECT_GT(evaluate(result.model, stripes(200, 2), {}).accuracy, 0.95);
  const Json recipe = stored_recipe(result.model);
  EXPECT_EQ(recipe["network"], "cnn");
  EXPECT_EQ(recipe["channels"], Json({4}));
  EXPECT_EQ(recipe["image"], Json({12, 12}));
}

TEST(Recipe, PaddedConvolutionsKeepTheirScale) {
  Recipe recipe = short_image_recipe();
  recipe.cnn.padding = "same";
  const TrainResult result = train_recipe(recipe, stripes(300, 1), nullptr, seeded(1));
  // What was measured on scaled rows while training holds for the saved model on bytes.
  EXPECT_NEAR(result.validation_loss, result.history[result.best_epoch - 1].validation_loss, 1e-4);
}

// Images whose class is told by their brightness, which any network finds.
Dataset bright_and_dark(size_t rows, const std::vector<size_t>& shape) {
  size_t pixels = 1;
  for (const size_t side : shape) pixels *= side;
  Dataset data;
  data.source = "images";
  data.item_shape = shape;
  data.label_name = "y";
  data.class_names = {"dark", "bright"};
  data.x = Matrix(rows, pixels);
  for (size_t j = 0; j < pixels; ++j) {
    data.feature_names.push_back("p" + std::to_string(j));
    data.groups.push_back({data.feature_names[j], j});
  }
  for (size_t i = 0; i < rows; ++i) {
    data.labels.push_back(static_cast<float>(i % 2));
    for (size_t j = 0; j < pixels; ++j) data.x(i, j) = static_cast<float>((i % 2) * 150 + (i * 7 + j * 13) % 100);
  }
  return data;
}

TEST(RecipeFor, ThePapersNetworkWhereItFits) {
  for (const std::vector<size_t>& shape :
       std::vector<std::vector<size_t>>{{28, 28}, {16, 16}, {3, 32, 32}, {1, 16, 90}}) {
    const Dataset images = bright_and_dark(12, shape);
    EXPECT_EQ(serialise_onnx(train_recipe(recipe_for(shape), images, nullptr, seeded(3)).model),
              serialise_onnx(train_recipe(image_recipe(), images, nullptr, seeded(3)).model));
  }
  const Dataset rows = circle(40, 3, 1);
  EXPECT_EQ(serialise_onnx(train_recipe(recipe_for({}), rows, nullptr, seeded(3)).model),
            serialise_onnx(train_recipe(table_recipe(), rows, nullptr, seeded(3)).model));
}

TEST(RecipeFor, ChoosesByTheSmallerSide) {
  const auto chosen = [](const std::vector<size_t>& shape) {
    const Recipe recipe = recipe_for(shape);
    if (!recipe.convolutions) return std::string("dense");
    return std::to_string(recipe.cnn.kernel) + recipe.cnn.padding + std::to_string(recipe.cnn.pool);
  };
  EXPECT_EQ(chosen({16, 16}), "5valid2");
  EXPECT_EQ(chosen({15, 15}), "3same2");
  EXPECT_EQ(chosen({8, 8}), "3same2");
  EXPECT_EQ(chosen({4, 200}), "3same2");
  EXPECT_EQ(chosen({200, 3}), "3same1");
  EXPECT_EQ(chosen({3, 2, 2}), "3same1");
  EXPECT_EQ(chosen({1, 50}), "dense");
  EXPECT_EQ(chosen({3, 1, 1}), "dense");
  EXPECT_EQ(chosen({64}), "dense");
  EXPECT_EQ(chosen({2, 3, 8, 8}), "dense");
  // Channels that somebody chose: three convolutions of 5 x 5 leave nothing of 28 pixels, one leaves 2 of 8.
  EXPECT_EQ(cnn_options_for({28, 28}, 3).kernel, 3);
  EXPECT_EQ(cnn_options_for({28, 28}, 3).pool, 2);
  EXPECT_EQ(cnn_options_for({8, 8}, 1).kernel, 5);
  EXPECT_EQ(cnn_options_for({8, 8}, 4).pool, 1);
}

TEST(RecipeFor, EverySmallImageHasANetworkThatLearns) {
  std::vector<std::vector<size_t>> shapes = {{28, 28}, {3, 8, 8}, {2, 5, 17}, {4, 1, 1}, {2, 3, 8, 8}};
  for (size_t height = 1; height <= 17; ++height) {
    for (const size_t width : {size_t{1}, size_t{2}, size_t{3}, size_t{4}, size_t{16}, height}) {
      shapes.push_back({height, width});
    }
  }
  for (const auto& shape : shapes) {
    const Dataset images = bright_and_dark(64, shape);
    Recipe recipe = recipe_for(shape);
    recipe.cnn.channels = {8, 8};
    recipe.training.epochs = 60;
    recipe.training.batch = 16;
    recipe.training.rate = 0.005;
    recipe.training.validation = 0;
    const TrainResult result = train_recipe(recipe, images, nullptr, seeded(1));
    EXPECT_EQ(evaluate(result.model, images, {}).accuracy, 1) << shape[0] << " x " << shape.back();
    const auto model = EngineModel::from_onnx("m.onnx", result.model, {});
    EXPECT_EQ(model->info().features(), images.x.cols());
  }
}

TEST(Recipe, RegressionSetsRandomRowsAside) {
  const TrainResult result = train_recipe(short_recipe(40), curve(500, 1), nullptr, seeded(1));
  std::vector<std::string> keys;
  for (const auto& [key, value] : result.model.metadata) keys.push_back(key);
  EXPECT_THAT(keys, ElementsAre("assay.feature_names", "assay.training"));
  EXPECT_EQ(stored_recipe(result.model)["validation_rows"], 50);
  EXPECT_TRUE(stored_recipe(result.model)["validation_accuracy"].is_null());
  // The lowest labels alone would have a validation loss that nothing like the training rows explains.
  EXPECT_LT(result.validation_loss, 10 * result.history.back().training_loss);
}

TEST(Recipe, WithoutValidationUsesAllRows) {
  Recipe recipe = short_recipe(3);
  recipe.training.validation = 0;
  const Json stored = stored_recipe(train_recipe(recipe, circle(50, 3, 1), nullptr, seeded(1)).model);
  EXPECT_EQ(stored["rows"], 50);
  EXPECT_EQ(stored["validation_rows"], 0);
  EXPECT_TRUE(stored["validation_loss"].is_null());
}

TEST(Retrain, FollowsTheStoredRecipe) {
  Recipe recipe = short_recipe(6);
  recipe.mlp.hidden = {7, 5};
  recipe.mlp.activation.activation = "tanh";
  recipe.training.rate = 0.0123;
  recipe.training.batch = 17;
  recipe.training.class_weights = "balanced";
  recipe.training.schedule = "constant";
  const Dataset data = circle(120, 3, 1);
  const Encoder encoder = Encoder::fit(to_table(data), {});
  const OnnxModel first = train_recipe(recipe, data, &encoder, seeded(8)).model;
  EXPECT_TRUE(has_recipe(first.metadata));
  // The same rows and seed: the same file, whatever the seed of the context.
  EXPECT_EQ(serialise_onnx(retrain("m.onnx", first.metadata, data, 8, seeded(99))), serialise_onnx(first));
  const OnnxModel other = retrain("m.onnx", first.metadata, data, 9, {});
  EXPECT_NE(other.graph.initializers, first.graph.initializers);
  EXPECT_EQ(stored_recipe(other)["seed"], 9);
  const OnnxModel fewer = retrain("m.onnx", first.metadata, circle(60, 3, 5), 8, {});
  EXPECT_EQ(stored_recipe(fewer)["rows"], 54);
  EXPECT_EQ(fewer.graph.nodes, first.graph.nodes);
  EXPECT_EQ(fewer.metadata[0], first.metadata[0]);
}

TEST(Retrain, KnowsTheImageOfRowsWithoutAShape) {
  const Dataset data = stripes(60, 1);
  Dataset rows = data;
  rows.item_shape.clear();
  for (const Recipe& recipe : {short_image_recipe(), short_recipe(3)}) {
    const OnnxModel first = train_recipe(recipe, data, nullptr, seeded(8)).model;
    EXPECT_EQ(stored_recipe(first)["training"]["scale"], "pixels");
    EXPECT_EQ(serialise_onnx(retrain("m.onnx", first.metadata, rows, 8, {})), serialise_onnx(first));
  }
}

TEST(Recipe, SaysWhatBecomesOfUnseenCategories) {
  TableOptions options;
  options.label = "y";
  const auto read = [&](const std::string& text) {
    return read_csv([&] { return memory_bytes("t.csv", text); }, options);
  };
  const Table training = read("a,b,y\n1,x,no\n2,z,yes\n3,x,no\n4,z,yes\n");
  const Table rows = read("a,b,y\n5,w,no\n");
  const Encoder encoder = Encoder::fit(training, {});
  const Dataset data = encoder.apply(training);
  Recipe recipe = short_recipe(2);
  const OnnxModel strict = train_recipe(recipe, data, &encoder, seeded(1)).model;
  EXPECT_FALSE(takes_unknown(strict.metadata));
  EXPECT_EQ(
      sentence([&] { EngineModel::from_onnx("m.onnx", strict, {})->features_of(rows); }),
      "t.csv, row 1, column 'b': expected one of the categories of the training rows, found 'w' (did you mean 'x'?)");
  recipe.unseen = "unknown";
  OnnxModel tolerant = train_recipe(recipe, data, &encoder, seeded(1)).model;
  EXPECT_TRUE(takes_unknown(tolerant.metadata));
  EXPECT_EQ(EngineModel::from_onnx("m.onnx", tolerant, {})->features_of(rows).x(0, 1), 2);
  EXPECT_TRUE(takes_unknown(retrain("m.onnx", tolerant.metadata, data, 2, {}).metadata));
  // A category can be unknown to an encoder alone.
  OnnxModel bare = tolerant;
  std::erase_if(bare.metadata, [](const auto& entry) { return entry.first == kEncoderKey; });
  const auto plain = EngineModel::from_onnx("m.onnx", bare, {});
  EXPECT_EQ(plain->encoder(), nullptr);
  EXPECT_FALSE(takes_unknown(plain->graph().metadata()));
  EXPECT_FALSE(takes_unknown(train_recipe(recipe, data, nullptr, seeded(1)).model.metadata));
  recipe.unseen = "drop";
  EXPECT_THAT(sentence([&] { train_recipe(recipe, data, &encoder, seeded(1)); }),
              HasSubstr("expected refuse or unknown, found 'drop'"));
  for (auto& [key, value] : tolerant.metadata) {
    if (key == kUnseenKey) value = "perhaps";
  }
  EXPECT_EQ(sentence([&] { EngineModel::from_onnx("m.onnx", tolerant, {}); }),
            "m.onnx, assay.unseen: expected refuse or unknown, found 'perhaps'");
}

TEST(Retrain, RefusesWhatDoesNotFit) {
  const Dataset data = circle(60, 3, 1);
  const Metadata good = train_recipe(short_recipe(1), data, nullptr, seeded(1)).model.metadata;
  const auto refusal = [&](const Metadata& metadata, const Dataset& rows) {
    return sentence([&] { retrain("m.onnx", metadata, rows, 1, {}); });
  };
  EXPECT_EQ(refusal(good, data), "no error");
  EXPECT_FALSE(has_recipe({}));
  EXPECT_THAT(refusal({}, data), HasSubstr("m.onnx: expected a recipe to train by"));
  EXPECT_THAT(refusal(good, circle(60, 4, 1)), HasSubstr("features that the model has"));
  Dataset others = data;
  others.class_names = {"inside", "elsewhere"};
  EXPECT_THAT(refusal(good, others), HasSubstr("elsewhere"));
  others.class_names.clear();
  EXPECT_THAT(refusal(good, others), HasSubstr("found values"));
}

TEST(Retrain, ChecksEverythingInTheRecipe) {
  const Dataset data = circle(60, 3, 1);
  const OnnxModel model = train_recipe(short_recipe(1), data, nullptr, seeded(1)).model;
  const Json good = stored_recipe(model);
  const auto refusal = [&](const Json& recipe) {
    return sentence([&] { retrain("m.onnx", with_recipe(model.metadata, recipe), data, 1, {}); });
  };
  EXPECT_EQ(refusal(good), "no error");
  const auto changed = [&](const char* at, const Json& value) {
    Json recipe = good;
    recipe[Json::json_pointer(at)] = value;
    return refusal(recipe);
  };
  EXPECT_THAT(changed("/assay_training", 2), HasSubstr("m.onnx, assay.training: expected a recipe of format 1"));
  EXPECT_THAT(changed("/network", "transformer"), HasSubstr("mlp or cnn"));
  EXPECT_THAT(changed("/network", 3), HasSubstr("cannot be read"));
  EXPECT_THAT(changed("/hidden", "40"), HasSubstr("hidden: a list"));
  EXPECT_THAT(changed("/hidden", Json::parse("[1.5]")), HasSubstr("whole numbers"));
  EXPECT_THAT(changed("/hidden", Json::parse("[-3]")), HasSubstr("hidden layer 1"));
  EXPECT_THAT(changed("/hidden", Json::parse("[18446744073709551615]")), HasSubstr("hidden layer 1"));
  EXPECT_THAT(changed("/hidden", std::vector<int>(65, 1)), HasSubstr("at most 64"));
  EXPECT_THAT(changed("/options/activation", "step"), HasSubstr("option activation"));
  EXPECT_THAT(changed("/options/more", 1), HasSubstr("no option 'more'"));
  EXPECT_THAT(changed("/options", 7), HasSubstr("object of options"));
  EXPECT_THAT(changed("/training/epochs", -1), HasSubstr("option epochs"));
  EXPECT_THAT(changed("/training/rate", "fast"), HasSubstr("option rate"));
  EXPECT_THAT(changed("/training/batch", 0), HasSubstr("option batch"));
  Json missing = good;
  missing.erase("training");
  EXPECT_THAT(refusal(missing), HasSubstr("cannot be read"));
  Metadata broken = model.metadata;
  broken.back().second = "{\"assay_training\": 1";
  EXPECT_THAT(sentence([&] { retrain("m.onnx", broken, data, 1, {}); }), HasSubstr("cannot be read"));
  broken.back().second = "[]";
  EXPECT_THAT(sentence([&] { retrain("m.onnx", broken, data, 1, {}); }), HasSubstr("format 1"));
  // Nested so deep that printing it would overflow the stack.
  broken.back().second = R"({"assay_training": 1, "network": "mlp", "hidden": [4], "options": {"slope": )" +
                         std::string(500'000, '[') + std::string(500'000, ']') + "}}";
  EXPECT_THAT(sentence([&] { retrain("m.onnx", broken, data, 1, {}); }), HasSubstr("deep"));
}

}  // namespace
}  // namespace assay
