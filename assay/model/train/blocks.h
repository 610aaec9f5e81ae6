// A network under training, run on fixed blocks of rows: what a training step and an evaluation have in common.
//
// Rows are gathered from a matrix by their indices and scaled on the way. A block that is not full is filled up with
// rows of zeros, whose gradients are zero and whose outputs nobody reads; so one plan serves every block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/model/graph/plan.h"
#include "assay/model/train/parameters.h"
#include "assay/model/train/scaling.h"

namespace assay {

// What is trained on: the rows, a label for each.
struct LabelledRows {
  MatrixView<const float> rows;
  std::span<const float> labels;
};

// A sum of losses over rows, the sum of their weights, and how many were classified right (if counted).
struct LossSum {
  double total = 0;
  double weight = 0;
  size_t rows = 0;
  size_t correct = 0;

  double mean() const { return total / weight; }
  void add(const LossSum& other);
};

// The value that training looks at: what the last softmax reads, or the first output of a network without one.
std::string trained_value(const OnnxModel& network);

// Elements of one row of the network's input. An input error unless it has one input of known dimensions.
size_t input_features(const OnnxModel& network);

// Multiplications (with their additions) that the dense layers and convolutions of a network do for one row.
double work_per_row(const OnnxModel& network);

class NetworkBlocks {
 public:
  // parameters must outlive this. `at_once`: how many blocks may run at the same time.
  NetworkBlocks(const OnnxModel& network, const Parameters& parameters, size_t block_rows, bool gradients,
                InputScaling scaling, size_t at_once);

  size_t block_rows() const { return block_rows_; }
  size_t features() const { return features_; }
  size_t outputs() const { return outputs_; }

  // The memory of one running block.
  struct Slot {
    explicit Slot(const Plan& plan) : workspace(plan) {}
    Workspace workspace;
    std::vector<float> rows;
    std::vector<float> labels;
  };
  // Holds a free slot until it is destroyed.
  class Lease {
   public:
    explicit Lease(NetworkBlocks& blocks);
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Slot& operator*() const { return *slot_; }
    Slot* operator->() const { return slot_; }

   private:
    NetworkBlocks& blocks_;
    Slot* slot_;
  };

  // Runs the rows of these indices, at most block_rows(): the trained value, and the labels in slot.labels.
  MatrixView<const float> forward(Slot& slot, const LabelledRows& data, std::span<const uint32_t> chosen) const;
  // After forward of a block of so many rows: where to put derivatives by the trained value. Added rows have 0.
  MatrixView<float> output_gradient(Slot& slot, size_t rows) const;
  // After that: the derivatives by all parameters, at the positions of the parameters.
  void backward(Slot& slot, std::span<float> gradient) const;

 private:
  const Parameters* parameters_;
  InputScaling scaling_;
  size_t block_rows_;
  size_t features_ = 0;
  size_t outputs_ = 0;
  std::unique_ptr<Plan> plan_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::mutex mutex_;
  std::vector<Slot*> free_;
};

}  // namespace assay
