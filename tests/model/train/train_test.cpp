#include "assay/model/train/train.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "assay/core/random.h"
#include "assay/core/statistics.h"
#include "assay/data/datasets.h"
#include "assay/data/encoder.h"
#include "assay/model/engine_model.h"
#include "assay/model/train/networks.h"
#include "assay/model/train/scaling.h"
#include "assay/model/train/step.h"
#include "tests/message.h"
#include "tests/model/train/made_data.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TrainOptions options_with(int64_t epochs, double rate = 0.01) {
  TrainOptions options;
  options.epochs = epochs;
  options.rate = rate;
  return options;
}

std::vector<float> weights_of(const OnnxModel& model) {
  std::vector<float> out;
  for (const OnnxTensor& tensor : model.graph.initializers) {
    const auto values = to_floats("test", tensor);
    out.insert(out.end(), values.begin(), values.end());
  }
  return out;
}

TEST(Train, LearnsACircle) {
  const Dataset training = circle(500, 3, 1), validation = circle(200, 3, 2), test = circle(500, 3, 3);
  std::vector<EpochReport> seen;
  const TrainResult result = train(mlp_network({}, 3, 2, true, 0), training, validation, options_with(60), {},
                                   [&](const EpochReport& report) { seen.push_back(report); });
  ASSERT_EQ(seen.size(), result.history.size());
  EXPECT_EQ(seen.front().epoch, 1u);
  EXPECT_LT(seen.back().training_loss, 0.3 * seen.front().training_loss);
  EXPECT_GT(evaluate(result.model, test, {}).accuracy, 0.95);
  // A circle around 0 is invisible to a linear model, so the hidden layer was trained too.
  MlpOptions linear;
  linear.hidden = {};
  const TrainResult straight = train(mlp_network(linear, 3, 2, true, 0), training, validation, options_with(60), {});
  EXPECT_LT(evaluate(straight.model, test, {}).accuracy, 0.8);
}

TEST(Train, KeepsTheBestEpochAndStopsAfterPatience) {
  // Few rows and much noise: the validation loss soon rises.
  Dataset training = circle(40, 10, 1);
  for (size_t i = 0; i < 40; i += 4) training.labels[i] = 1 - training.labels[i];
  const Dataset validation = circle(300, 10, 2);
  TrainOptions options = options_with(200, 0.02);
  options.patience = 5;
  const TrainResult result = train(mlp_network({}, 10, 2, true, 0), training, validation, options, {});
  const auto best = std::ranges::min_element(result.history, {}, &EpochReport::validation_loss);
  EXPECT_EQ(result.best_epoch, best->epoch);
  EXPECT_EQ(result.history.size(), result.best_epoch + 5);
  EXPECT_LT(result.history.size(), 200u);
  EXPECT_GT(result.history.back().validation_loss, best->validation_loss);
  // The model that comes back is the best one, not the last one.
  EXPECT_NEAR(result.validation_loss, best->validation_loss, 1e-5);
  EXPECT_NEAR(evaluate(result.model, validation, {}).loss, best->validation_loss, 1e-5);
  options.patience = 0;
  options.epochs = 30;
  EXPECT_EQ(train(mlp_network({}, 10, 2, true, 0), training, validation, options, {}).history.size(), 30u);
}

// The share of pairs of a positive and a negative row that the margins put in the right order, ties one half.
double area_by_pairs(const OnnxModel& model, const Dataset& data) {
  const auto engine = EngineModel::from_onnx("trained", model);
  Matrix out(data.rows(), engine->info().output_names.size());
  engine->predict(data.x.view(), out.view(), {});
  const auto score = [&](size_t i) { return out.cols() == 1 ? out(i, 0) : out(i, 1) - out(i, 0); };
  double right = 0;
  double pairs = 0;
  for (size_t i = 0; i < data.rows(); i++) {
    for (size_t j = 0; j < data.rows(); j++) {
      if (data.labels[i] != 1 || data.labels[j] != 0) continue;
      pairs++;
      right += score(i) > score(j) ? 1 : score(i) == score(j) ? 0.5 : 0;
    }
  }
  return right / pairs;
}

TEST(Train, StopsByTheAreaUnderTheCurve) {
  Dataset training = circle(40, 10, 1);
  for (size_t i = 0; i < 40; i += 4) training.labels[i] = 1 - training.labels[i];
  const Dataset validation = circle(300, 10, 2);
  TrainOptions options = options_with(200, 0.02);
  options.patience = 5;
  options.stop = "auc";
  const TrainResult result = train(mlp_network({}, 10, 2, true, 0), training, validation, options, {});
  const auto best = std::ranges::max_element(result.history, {}, &EpochReport::validation_auc);
  EXPECT_EQ(result.best_epoch, best->epoch);
  EXPECT_EQ(result.history.size(), result.best_epoch + 5);
  EXPECT_NEAR(area_by_pairs(result.model, validation), best->validation_auc, 1e-4);
  const auto refusal = [&](const Dataset& rows, const Dataset& held) {
    return sentence([&] { train(mlp_network({}, 10, 2, true, 0), rows, held, options, {}); });
  };
  EXPECT_THAT(refusal(training, {}), HasSubstr("option stop: expected rows for validation"));
  Dataset one_class = validation;
  std::ranges::fill(one_class.labels, 1.0F);
  EXPECT_THAT(refusal(training, one_class), HasSubstr("validation rows of both classes"));
}

TEST(Train, WithoutValidationRowsKeepsTheLastEpoch) {
  TrainOptions options = options_with(7);
  options.patience = 2;
  const TrainResult result = train(mlp_network({}, 3, 2, true, 0), circle(64, 3, 1), {}, options, {});
  EXPECT_EQ(result.best_epoch, 7u);
  EXPECT_TRUE(std::isnan(result.validation_loss));
  EXPECT_TRUE(std::isnan(result.history[0].validation_accuracy));
}

TEST(Train, EveryRowCountsOnceInAnEpoch) {
  // At rate 0 the loss of an epoch is the loss of the untrained network; 100 rows are three batches and a part.
  const Dataset data = circle(100, 3, 1);
  const OnnxModel network = mlp_network({}, 3, 2, true, 0);
  TrainOptions options = options_with(1, 0);
  options.scale = "none";
  EXPECT_NEAR(train(network, data, {}, options, {}).history[0].training_loss, evaluate(network, data, {}).loss, 1e-6);
}

TEST(Train, IsStepsInAnOrderThatIsNewInEveryEpoch) {
  const Dataset data = circle(100, 3, 1);
  OnnxModel network = mlp_network({}, 3, 2, true, 0);
  TrainOptions options = options_with(2);
  options.scale = "none";
  options.schedule = "constant";
  Context context;
  context.seed = 5;
  const TrainResult result = train(network, data, {}, options, context);
  Parameters parameters(network);
  TrainingStep step(network, parameters, 32, {}, {}, {}, context);
  std::vector<uint32_t> order(100);
  for (const uint64_t epoch : {1u, 2u}) {
    RandomStream(5, "train shuffle", epoch).permutation(order);
    for (size_t first = 0; first < 100; first += 32) {
      const std::span<const uint32_t> all(order);
      step.run({data.x.view(), data.labels}, all.subspan(first, std::min<size_t>(32, 100 - first)), 0.01);
    }
  }
  parameters.store(network);
  EXPECT_EQ(result.model, network);
}

TEST(Train, CosineGoesDownToNothing) {
  // One batch an epoch, two epochs: the rates are 1 and 1/2 of the first, after which Adam's steps can be told.
  Dataset data = circle(32, 3, 1);
  OnnxModel network = mlp_network({}, 3, 2, true, 0);
  TrainOptions options = options_with(2);
  options.scale = "none";
  const TrainResult result = train(network, data, {}, options, {});
  Parameters parameters(network);
  TrainingStep step(network, parameters, 32, {}, {}, {}, {});
  std::vector<uint32_t> order(32);
  for (const uint64_t epoch : {1u, 2u}) {
    RandomStream(0, "train shuffle", epoch).permutation(order);
    step.run({data.x.view(), data.labels}, order, epoch == 1 ? 0.01 : 0.005);
  }
  parameters.store(network);
  const auto found = weights_of(result.model), expected = weights_of(network);
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-7);
}

TEST(Train, BitsDoNotDependOnThreads) {
  const Dataset data = stripes(150, 1), validation = stripes(300, 2);
  MlpOptions wide;
  wide.hidden = {300};  // large enough for several blocks
  std::vector<std::string> files;
  for (const unsigned threads : {1u, 2u, 7u}) {
    Context context;
    context.threads = threads;
    context.seed = 9;
    TrainOptions options = options_with(3);
    options.batch = 64;
    files.push_back(
        serialise_onnx(train(mlp_network(wide, 144, 2, true, 9), data, validation, options, context).model));
  }
  EXPECT_EQ(files[0], files[1]);
  EXPECT_EQ(files[0], files[2]);
}

TEST(Train, TheSeedDecidesTheOrderOfRows) {
  const Dataset data = circle(100, 3, 1);
  const auto weights = [&](uint64_t seed) {
    Context context;
    context.seed = seed;
    return weights_of(train(mlp_network({}, 3, 2, true, 0), data, {}, options_with(2), context).model);
  };
  EXPECT_EQ(weights(1), weights(1));
  EXPECT_NE(weights(1), weights(2));
}

TEST(Train, RegressionInItsOwnUnits) {
  const Dataset training = curve(800, 1), test = curve(400, 2);
  const TrainResult result = train(mlp_network({}, 2, 1, false, 0), training, test, options_with(150), {});
  RunningMoments labels;
  for (const float y : test.labels) labels.add(y);
  // Of the variance, which is about 3300, less than 2 % is left.
  EXPECT_GT(labels.variance(), 2000);
  EXPECT_LT(evaluate(result.model, test, {}).loss, 0.02 * labels.variance());
  EXPECT_NEAR(result.validation_loss, result.history[result.best_epoch - 1].validation_loss,
              1e-3 * result.validation_loss);
  EXPECT_TRUE(std::isnan(result.validation_accuracy));
}

TEST(Train, BalancedClassesFindTheRareOne) {
  // One row in twenty is rare, and the two overlap: without weights the frequent class takes nearly all.
  Dataset data = unlabelled(2000, 1, 1);
  data.class_names = {"frequent", "rare"};
  for (size_t i = 0; i < 2000; ++i) {
    const bool rare = i % 20 == 0;
    data.labels.push_back(rare ? 1.0f : 0.0f);
    if (rare) data.x(i, 0) += 1.5f;
  }
  std::vector<size_t> rare_rows;
  for (size_t i = 0; i < 2000; i += 20) rare_rows.push_back(i);
  const Dataset rare = select_rows(data, rare_rows);
  TrainOptions options = options_with(20);
  const auto found = [&] {
    return evaluate(train(mlp_network({}, 1, 2, true, 0), data, {}, options, {}).model, rare, {}).accuracy;
  };
  EXPECT_LT(found(), 0.3);
  options.class_weights = "balanced";
  EXPECT_GT(found(), 0.6);
}

TEST(Train, RefusesWhatItCannotLearnFrom) {
  const OnnxModel network = mlp_network({}, 3, 2, true, 0);
  const auto refusal = [&](const Dataset& data, const TrainOptions& options = options_with(1)) {
    return sentence([&] { train(network, data, {}, options, {}); });
  };
  Dataset data = circle(10, 3, 1);
  data.x(4, 1) = kNan;
  EXPECT_THAT(refusal(data), HasSubstr("made.csv, row 5, column 'f1': expected a value"));
  data.x(4, 1) = std::numeric_limits<float>::infinity();
  EXPECT_THAT(refusal(data), HasSubstr("made.csv, row 5, column 'f1': expected a finite number"));
  data = circle(10, 3, 1);
  data.labels[6] = kNan;
  EXPECT_THAT(refusal(data), HasSubstr("made.csv, row 7, label 'y': expected a value"));
  data.labels[6] = 2;
  EXPECT_THAT(refusal(data), HasSubstr("row 7, label 'y': expected the index of one of 2 classes, found 2"));
  data.labels.clear();
  EXPECT_THAT(refusal(data), HasSubstr("a label for every row"));
  EXPECT_THAT(refusal(circle(0, 3, 1)), HasSubstr("rows to train on"));
  EXPECT_THAT(refusal(circle(10, 4, 1)), HasSubstr("expected 3 features, as the network has, found 4"));
  data = circle(10, 3, 1);
  data.class_names.push_back("beyond");
  EXPECT_THAT(refusal(data), HasSubstr("expected 3 of them"));
  TrainOptions options = options_with(1);
  options.loss = "squared_error";
  EXPECT_THAT(refusal(circle(10, 3, 1), options), HasSubstr("option loss"));
  options.loss = "cross_entropy";
  EXPECT_THAT(refusal(curve(10, 1), options), HasSubstr("option loss"));
  options = options_with(1);
  options.scale = "standardise";
  CnnOptions one;
  one.channels = {4};
  const OnnxModel convolutions = cnn_network(one, {12, 12}, 2, true, 0);
  EXPECT_THAT(sentence([&] { train(convolutions, stripes(10, 1), {}, options, {}); }),
              HasSubstr("one scale for all pixels"));
  // Validation rows are looked at as well.
  Dataset bad = circle(10, 3, 1);
  bad.x(1, 2) = kNan;
  EXPECT_THAT(sentence([&] { train(network, circle(10, 3, 1), bad, options_with(1), {}); }), HasSubstr("row 2"));
}

TEST(Train, SaysWhenTheLossIsNoNumber) {
  // The first step makes the weights of both layers so large that their product is infinite.
  const std::string message =
      sentence([] { train(mlp_network({}, 3, 2, true, 0), circle(64, 3, 1), {}, options_with(5, 1e30), {}); });
  EXPECT_THAT(message, HasSubstr("train: the loss is not a number in epoch 1; try a smaller rate than 1e+30"));
  // In the very last step of all no loss follows.
  TrainOptions options = options_with(1, std::numeric_limits<double>::infinity());
  options.batch = 64;
  EXPECT_THAT(sentence([&] { train(mlp_network({}, 3, 2, true, 0), circle(64, 3, 1), {}, options, {}); }),
              HasSubstr("in epoch 1"));
}

TEST(Train, NamesAColumnThatFloat32CannotScale) {
  const auto with_second_column_times = [](float factor) {
    Dataset data = circle(64, 3, 1);
    for (size_t i = 0; i < data.rows(); ++i) data.x(i, 1) *= factor;
    return data;
  };
  const OnnxModel network = mlp_network({}, 3, 2, true, 0);
  // Deviations of numbers like 1e-42 are numbers like 1e-42, and one over them is no float32.
  const std::string message =
      sentence([&] { train(network, with_second_column_times(1e-42f), {}, options_with(2), {}); });
  EXPECT_THAT(message, HasSubstr("made.csv, column 'f1': expected values on a scale of at least 1e-30"));
  EXPECT_EQ(message.find("rate"), std::string::npos);
  // Small numbers that can be scaled are learnt from as others are: a power of two changes no digit.
  const Dataset plain = with_second_column_times(1), small = with_second_column_times(0x1p-80f);
  const TrainResult expected = train(network, plain, {}, options_with(5), {});
  const TrainResult found = train(network, small, {}, options_with(5), {});
  EXPECT_EQ(found.history.back().training_loss, expected.history.back().training_loss);
  EXPECT_EQ(evaluate(found.model, small, {}).loss, evaluate(expected.model, plain, {}).loss);
}

class CancelAfter : public Progress {
 public:
  explicit CancelAfter(uint64_t rows) : rows_(rows) {}
  void begin(std::string_view task, uint64_t total) noexcept override {
    task_ = task;
    total_ = total;
  }
  void advance(uint64_t amount) noexcept override {
    done_ += amount;
    if (done_ >= rows_) cancelled = true;
  }
  void end() noexcept override { ended = true; }

  std::atomic<bool> cancelled = false;
  bool ended = false;
  std::string task_;
  uint64_t rows_, done_ = 0, total_ = 0;
};

TEST(Train, CanBeCancelledInTheMiddle) {
  CancelAfter progress(32 * 5);
  Context context;
  context.progress = &progress;
  context.cancelled = &progress.cancelled;
  try {
    train(mlp_network({}, 3, 2, true, 0), circle(1000, 3, 1), {}, options_with(1000), context);
    FAIL() << "not cancelled";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::cancelled);
  }
  // Within the batch that follows.
  EXPECT_EQ(progress.done_, 32u * 5);
  EXPECT_EQ(progress.total_, 1000u * 1000);
  EXPECT_EQ(progress.task_, "train");
  EXPECT_TRUE(progress.ended);
}

TEST(Train, ReachesThePapersAccuracyOnIris) {
  DatasetRequest request;
  request.split = Split::train;
  const Table table = load_dataset("iris", request);
  request.split = Split::test;
  const Encoder encoder = Encoder::fit(table, {});
  const TrainResult result = train(mlp_network({}, 4, 3, true, 0), encoder.apply(table), {}, TrainOptions(), {});
  EXPECT_GE(evaluate(result.model, encoder.apply(load_dataset("iris", request)), {}).accuracy, 0.96);
}

TEST(Scaling, FoldedWeightsTakeRowsAsTheyAre) {
  Dataset data = unlabelled(50, 3, 1);
  for (size_t i = 0; i < 50; ++i) {
    data.x(i, 0) = 1000 + 3 * data.x(i, 0);
    data.x(i, 2) = 7;  // constant
    data.labels.push_back(0);
  }
  data.class_names = {"a", "b"};
  const InputScaling scaling = standardising(data);
  EXPECT_NEAR(scaling.shift[0], 1000, 2);
  EXPECT_NEAR(scaling.factor[0], 1 / 3.0, 0.1);
  EXPECT_EQ(scaling.factor[2], 0);
  const OnnxModel network = mlp_network({}, 3, 2, true, 0);
  OnnxModel folded = network;
  fold_inputs(folded, scaling);
  Dataset scaled = data;
  for (size_t i = 0; i < 50; ++i) {
    for (size_t j = 0; j < 3; ++j) scaled.x(i, j) = (data.x(i, j) - scaling.shift[j]) * scaling.factor[j];
  }
  EXPECT_NEAR(evaluate(folded, data, {}).loss, evaluate(network, scaled, {}).loss, 1e-5);
  // What never changed in training has no say afterwards.
  for (size_t i = 0; i < 50; ++i) data.x(i, 2) = -100;
  EXPECT_NEAR(evaluate(folded, data, {}).loss, evaluate(network, scaled, {}).loss, 1e-5);
}

TEST(Scaling, PixelsByTheirLargestValue) {
  Dataset data = stripes(5, 1);
  EXPECT_EQ(pixel_scaling(data).factor[17], 1 / 255.0f);
  for (float& value : data.x.values()) value = value > 100 ? 1.0f : 0.0f;
  EXPECT_EQ(pixel_scaling(data).factor[17], 1);
  data.x(0, 0) = -4;
  EXPECT_EQ(pixel_scaling(data).factor[17], 0.25f);
  EXPECT_EQ(pixel_scaling(data).shift[17], 0);
  for (float& value : data.x.values()) value = 0;
  EXPECT_EQ(pixel_scaling(data).factor[17], 1);
}

TEST(Scaling, ConvolutionsTakeOneFactorOnly) {
  OnnxModel network = cnn_network({}, {28, 28}, 10, true, 0);
  InputScaling scaling;
  scaling.shift.assign(784, 0);
  scaling.factor.assign(784, 0.5f);
  const auto before = to_floats("test", network.graph.initializers[0]);
  fold_inputs(network, scaling);
  const auto after = to_floats("test", network.graph.initializers[0]);
  for (size_t i = 0; i < before.size(); ++i) EXPECT_EQ(after[i], 0.5f * before[i]);
  scaling.shift[3] = 1;
  EXPECT_THAT(sentence([&] { fold_inputs(network, scaling); }), HasSubstr("one scale for all pixels"));
}

}  // namespace
}  // namespace assay
