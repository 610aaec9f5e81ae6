// Adam (Kingma, Ba, "Adam: a method for stochastic optimization", ICLR 2015) over one flat vector of parameters, with
// decoupled weight decay (Loshchilov, Hutter, ICLR 2019). With gradient g, at step t = 1, 2, ...:
//
//   p <- p - rate * decay * p
//   m <- m + (1 - beta1) (g - m)
//   v <- beta2 v + (1 - beta2) g^2
//   p <- p - rate / (1 - beta1^t) * m / (sqrt(v / (1 - beta2^t)) + epsilon)
//
// as PyTorch's AdamW computes it: float32 vectors, float64 scalars rounded once, sqrt(v) / sqrt(1 - beta2^t).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace assay {

struct AdamOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
};

class Adam {
 public:
  Adam(size_t parameters, const AdamOptions& options);

  // One step. Both lists are as long as the constructor was told. The rate may differ from step to step.
  void step(std::span<float> parameters, std::span<const float> gradients, double rate);
  uint64_t steps() const { return steps_; }

 private:
  AdamOptions options_;
  uint64_t steps_ = 0;
  std::vector<float> mean_;
  std::vector<float> square_;
};

// total[i] += part[i].
void add_to(std::span<float> total, std::span<const float> part);

}  // namespace assay
