// One step of training, and one evaluation, on rows and labels given by index.
//
// A batch whose work is small runs as one block on the calling thread, where a hand-over to another thread would cost
// more than it saves; a larger one is cut into blocks that threads share, and the blocks' gradients are added in order.
// The bounds of blocks depend on the network and the size of a batch alone, so the bits do not depend on threads.
// Neither a step nor an evaluation allocates memory, apart from what handing work to threads takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/core/context.h"
#include "assay/model/train/adam.h"
#include "assay/model/train/blocks.h"
#include "assay/model/train/parameters.h"
#include "assay/model/train/scaling.h"

namespace assay {

enum class Loss { cross_entropy, squared_error };

struct LossOptions {
  Loss loss = Loss::cross_entropy;
  std::vector<double> class_weights = {};  // of the cross-entropy; empty: all 1
};

class TrainingStep {
 public:
  // batch: the most rows of one step. parameters must outlive this.
  TrainingStep(const OnnxModel& network, Parameters& parameters, size_t batch, LossOptions loss,
               const AdamOptions& adam, const InputScaling& scaling, const Context& context);

  // The gradient of the mean loss (weighted by class) over the chosen rows, and one step of Adam. Labels of classes are
  // indices below the number of outputs. The loss is that before the step.
  LossSum run(const LabelledRows& data, std::span<const uint32_t> chosen, double rate);

  // The gradient of the last step, at the positions of the parameters.
  std::span<const float> gradient() const { return {parts_.data(), parameters_.size()}; }
  size_t block_rows() const { return blocks_.block_rows(); }

 private:
  TrainingStep(const OnnxModel& network, Parameters& parameters, size_t batch, size_t block_rows, LossOptions loss,
               const AdamOptions& adam, const InputScaling& scaling, const Context& context);
  LossSum run_block(const LabelledRows& data, std::span<const uint32_t> chosen, double scale,
                    std::span<float> gradient);

  Parameters& parameters_;
  LossOptions loss_;
  Context context_;
  NetworkBlocks blocks_;
  Adam adam_;
  std::vector<float> parts_;     // the gradient of each block; the first one's becomes their sum
  std::vector<LossSum> losses_;  // of each block
};

class Evaluator {
 public:
  // parameters must outlive this: they are read at every run.
  Evaluator(const OnnxModel& network, const Parameters& parameters, LossOptions loss, const InputScaling& scaling,
            const Context& context);

  // The loss over all rows, and how many are classified right (with cross-entropy). scores: empty, or a place for each
  // row, for the margin of class 1 over class 0.
  LossSum run(const LabelledRows& data, std::span<double> scores = {});
  size_t outputs() const { return blocks_.outputs(); }

 private:
  LossOptions loss_;
  Context context_;
  NetworkBlocks blocks_;
};

}  // namespace assay
