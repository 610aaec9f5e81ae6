#include "assay/model/train/step.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <numeric>

#include "assay/core/parallel.h"
#include "assay/model/train/losses.h"

namespace assay {
namespace {

// Below so many multiply-adds forward a batch takes about 0.1 ms in all, too little to share.
constexpr double kSmallWork = 1e6;
// Enough blocks for many threads, yet each must be worth handing over, and long enough that the products of its rows
// outweigh going through the weights and their gradients.
constexpr size_t kMostBlocks = 16;
constexpr double kLeastBlockWork = 5e5;
constexpr double kLeastWorkPerWeight = 16;
constexpr size_t kMostEvaluationRows = 256;

size_t rows_for(double work, double per_row) {
  const double rows = std::ceil(work / std::max(per_row, 1.0));
  return static_cast<size_t>(std::clamp(rows, 1.0, 1e9));
}

size_t training_block_rows(const OnnxModel& network, const Parameters& parameters, size_t batch) {
  const double per_row = work_per_row(network);
  if (per_row * static_cast<double>(batch) < kSmallWork) return batch;
  const size_t rows = std::max({(batch + kMostBlocks - 1) / kMostBlocks, rows_for(kLeastBlockWork, per_row),
                                rows_for(kLeastWorkPerWeight * static_cast<double>(parameters.size()), per_row)});
  return std::min(rows, batch);
}

size_t evaluation_block_rows(const OnnxModel& network) {
  return std::min(kMostEvaluationRows, 8 * rows_for(kLeastBlockWork, work_per_row(network)));
}

double weight_of(const LossOptions& loss, float label) {
  return loss.class_weights.empty() ? 1 : loss.class_weights[static_cast<size_t>(label)];
}

double loss_of(const LossOptions& options, MatrixView<const float> outputs, std::span<const float> labels, double scale,
               MatrixView<float> gradient) {
  return options.loss == Loss::cross_entropy ? cross_entropy(outputs, labels, options.class_weights, scale, gradient)
                                             : squared_error(outputs, labels, scale, gradient);
}

}  // namespace

TrainingStep::TrainingStep(const OnnxModel& network, Parameters& parameters, size_t batch, LossOptions loss,
                           const AdamOptions& adam, const InputScaling& scaling, const Context& context)
    : TrainingStep(network, parameters, batch, training_block_rows(network, parameters, batch), std::move(loss), adam,
                   scaling, context) {}

TrainingStep::TrainingStep(const OnnxModel& network, Parameters& parameters, size_t batch, size_t block_rows,
                           LossOptions loss, const AdamOptions& adam, const InputScaling& scaling,
                           const Context& context)
    : parameters_(parameters),
      loss_(std::move(loss)),
      context_(context),
      blocks_(network, parameters, block_rows, true, scaling,
              std::min<size_t>(context.thread_count(), block_count(batch, block_rows))),
      adam_(parameters.size(), adam),
      parts_(block_count(batch, block_rows) * parameters.size()),
      losses_(block_count(batch, block_rows)) {}

LossSum TrainingStep::run_block(const LabelledRows& data, std::span<const uint32_t> chosen, double scale,
                                std::span<float> gradient) {
  const NetworkBlocks::Lease slot(blocks_);
  const auto outputs = blocks_.forward(*slot, data, chosen);
  const std::span<const float> labels(slot->labels.data(), chosen.size());
  LossSum sum;
  sum.rows = chosen.size();
  sum.total = loss_of(loss_, outputs, labels, scale, blocks_.output_gradient(*slot, chosen.size()));
  blocks_.backward(*slot, gradient);
  return sum;
}

LossSum TrainingStep::run(const LabelledRows& data, std::span<const uint32_t> chosen, double rate) {
  double weight = 0;
  for (const uint32_t i : chosen) weight += weight_of(loss_, data.labels[i]);
  const size_t size = parameters_.size();
  const std::span<float> total(parts_.data(), size);
  LossSum sum;
  if (chosen.size() <= blocks_.block_rows()) {
    sum = run_block(data, chosen, 1 / weight, total);
  } else {
    parallel_blocks(context_, chosen.size(), blocks_.block_rows(), [&](const Block& block) {
      losses_[block.index] = run_block(data, chosen.subspan(block.begin, block.end - block.begin), 1 / weight,
                                       {parts_.data() + block.index * size, size});
    });
    const size_t count = block_count(chosen.size(), blocks_.block_rows());
    assert(count <= losses_.size());
    for (size_t i = 0; i < count; ++i) {
      sum.add(losses_[i]);
      if (i > 0) add_to(total, {parts_.data() + i * size, size});
    }
  }
  sum.weight = weight;
  adam_.step(parameters_.values(), total, rate);
  return sum;
}

Evaluator::Evaluator(const OnnxModel& network, const Parameters& parameters, LossOptions loss,
                     const InputScaling& scaling, const Context& context)
    : loss_(std::move(loss)),
      context_(context),
      blocks_(network, parameters, evaluation_block_rows(network), false, scaling, context.thread_count()) {}

LossSum Evaluator::run(const LabelledRows& data, std::span<double> scores) {
  const auto part = [&](const Block& block) {
    const NetworkBlocks::Lease slot(blocks_);
    std::array<uint32_t, kMostEvaluationRows> chosen{};
    std::iota(chosen.begin(), chosen.end(), static_cast<uint32_t>(block.begin));
    const size_t rows = block.end - block.begin;
    const auto outputs = blocks_.forward(*slot, data, {chosen.data(), rows});
    const std::span<const float> labels(slot->labels.data(), rows);
    LossSum sum;
    sum.rows = rows;
    for (const float label : labels) sum.weight += weight_of(loss_, label);
    sum.total = loss_of(loss_, outputs, labels, 0, {});
    if (loss_.loss == Loss::cross_entropy) sum.correct = correct_count(outputs, labels);
    for (size_t i = 0; !scores.empty() && i < rows; i++) {
      scores[block.begin + i] = static_cast<double>(outputs(i, 1)) - outputs(i, 0);
    }
    return sum;
  };
  return parallel_reduce(context_, data.rows.rows(), blocks_.block_rows(), LossSum(), part,
                         [](LossSum& total, const LossSum& each) { total.add(each); });
}

}  // namespace assay
