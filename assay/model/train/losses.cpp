#include "assay/model/train/losses.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace assay {

double cross_entropy(MatrixView<const float> logits, std::span<const float> labels, std::span<const double> weights,
                     double scale, MatrixView<float> gradient) {
  assert(labels.size() == logits.rows() && logits.cols() > 0);
  double total = 0;
  for (size_t i = 0; i < logits.rows(); ++i) {
    const auto z = logits.row(i);
    const auto label = static_cast<size_t>(labels[i]);
    assert(label < z.size());
    const double weight = weights.empty() ? 1 : weights[label];
    const auto largest = static_cast<size_t>(std::ranges::max_element(z) - z.begin());
    // The largest one's exponential is 1: two classes cost one exp.
    const double top = z[largest];
    double others = 0;
    for (size_t c = 0; c < z.size(); ++c) others += c == largest ? 0 : std::exp(z[c] - top);
    total += weight * (top - z[label] + std::log1p(others));
    if (gradient.empty()) continue;
    const auto slope = gradient.row(i);
    for (size_t c = 0; c < z.size(); ++c) {
      const double probability = (c == largest ? 1 : std::exp(z[c] - top)) / (1 + others);
      slope[c] = static_cast<float>(scale * weight * (probability - (c == label ? 1 : 0)));
    }
  }
  return total;
}

double squared_error(MatrixView<const float> values, std::span<const float> labels, double scale,
                     MatrixView<float> gradient) {
  assert(labels.size() == values.rows() && values.cols() == 1);
  double total = 0;
  for (size_t i = 0; i < values.rows(); ++i) {
    const double difference = static_cast<double>(values(i, 0)) - labels[i];
    total += difference * difference;
    if (!gradient.empty()) gradient(i, 0) = static_cast<float>(scale * 2 * difference);
  }
  return total;
}

size_t correct_count(MatrixView<const float> outputs, std::span<const float> labels) {
  assert(labels.size() == outputs.rows());
  size_t correct = 0;
  for (size_t i = 0; i < outputs.rows(); ++i) {
    const auto row = outputs.row(i);
    const auto largest = std::ranges::max_element(row) - row.begin();
    correct += static_cast<float>(largest) == labels[i] ? 1 : 0;
  }
  return correct;
}

}  // namespace assay
