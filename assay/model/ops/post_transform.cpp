#include "assay/model/ops/post_transform.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "assay/core/text.h"

namespace assay {
namespace {

double logistic(double x) {
  const double upper = 1 / (1 + std::exp(-std::abs(x)));
  return x < 0 ? 1 - upper : upper;
}

// The quantile of the normal distribution, by Winitzki's approximation of the inverse error function ("A handy
// approximation for the error function and its inverse", 2008): ONNX's reference and onnxruntime use it too, so that
// its error of up to 0.002 is part of what the operator computes.
double probit(double probability) {
  constexpr double kShape = 0.147;
  const double x = 2 * probability - 1;
  const double log = std::log((1 - x) * (1 + x));
  const double middle = 2 / (std::numbers::pi * kShape) + 0.5 * log;
  const double root = std::sqrt(-middle + std::sqrt(middle * middle - log / kShape));
  return std::numbers::sqrt2 * (x < 0 ? -root : root);
}

// zero_stays: scores of 0 stay 0 and have no share in the sum, as SOFTMAX_ZERO asks.
void softmax(std::span<double> scores, bool zero_stays) {
  constexpr double kZero = 1e-7;
  double most = -std::numeric_limits<double>::max();
  for (const double score : scores) most = std::max(most, score);
  double total = 0;
  for (double& score : scores) {
    if (zero_stays && std::abs(score) <= kZero) {
      score *= std::exp(-most);
      continue;
    }
    score = std::exp(score - most);
    total += score;
  }
  for (double& score : scores) score /= total;
}

}  // namespace

PostTransform post_transform(const NodeSetup& setup) {
  const std::string name = setup.text("post_transform", "NONE");
  if (name == "NONE") return PostTransform::none;
  if (name == "SOFTMAX") return PostTransform::softmax;
  if (name == "LOGISTIC") return PostTransform::logistic;
  if (name == "SOFTMAX_ZERO") return PostTransform::softmax_zero;
  if (name == "PROBIT") return PostTransform::probit;
  setup.fail(
      fmt::format("post_transform must be NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT, found {}", in_quotes(name)));
}

void apply_post_transform(PostTransform transform, std::span<double> scores) {
  if (scores.size() == 1 && transform != PostTransform::probit) return;
  switch (transform) {
    case PostTransform::none: break;
    case PostTransform::softmax: softmax(scores, false); break;
    case PostTransform::softmax_zero: softmax(scores, true); break;
    case PostTransform::logistic: std::transform(scores.begin(), scores.end(), scores.begin(), logistic); break;
    case PostTransform::probit: std::transform(scores.begin(), scores.end(), scores.begin(), probit); break;
  }
}

void apply_post_transform_binary(PostTransform transform, double score, bool is_probability,
                                 std::span<double, 2> both) {
  if (transform == PostTransform::logistic) {
    both[0] = logistic(-score);
    both[1] = logistic(score);
    return;
  }
  if (transform == PostTransform::probit) {
    both[1] = probit(score);
    both[0] = -both[1];
    return;
  }
  both[0] = is_probability ? 1 - score : -score;
  both[1] = score;
}

}  // namespace assay
