#include "assay/report/quality_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "assay/core/table_text.h"
#include "assay/study/verdict.h"

namespace assay {
namespace {

// So many decimals that the interval's width is seen in its first two digits, at least 2 and at most 6.
int decimals_for(const Interval& interval) {
  const double width = interval.high - interval.low;
  if (!(width > 0) || !std::isfinite(width)) return 2;
  return std::clamp(static_cast<int>(std::ceil(-std::log10(width))) + 1, 2, 6);
}

// For numbers in the label's own unit, which may be large or small: so many digits that the interval's width is seen in
// its first two, 31200 rather than 3.12e+04.
std::string in_own_unit(double value, const Interval& interval) {
  if (value == 0 || !std::isfinite(value)) return fmt::format("{:g}", value);
  const auto places = [](double number) { return static_cast<int>(std::floor(std::log10(std::fabs(number)))); };
  const double width = interval.high - interval.low;
  const bool known = width > 0 && std::isfinite(width);
  const int digits = known ? std::clamp(places(value) - places(width) + 2, 2, 6) : 3;
  if (places(value) < -4 || places(value) > 8) return fmt::format("{:.{}g}", value, digits);
  const double step = std::pow(10.0, places(value) - digits + 1);
  return fmt::format("{:.{}f}", std::round(value / step) * step, std::max(0, digits - 1 - places(value)));
}

std::string with_interval(double value, const Interval& interval) {
  const int decimals = decimals_for(interval);
  if (std::isnan(interval.low)) return fmt::format("{:.{}f}", value, decimals);
  return fmt::format("{:.{}f} (95 % {:.{}f} to {:.{}f})", value, decimals, interval.low, decimals, interval.high,
                     decimals);
}

// Rows that a model was trained on say nothing about how good it is on others.
std::string in_pool_words(const StudyFacts& facts) {
  const size_t known = facts.quality.in_pool;
  if (known == 0) return {};
  if (known >= facts.rows) return ", all in the pool: on rows that it was not trained on it may be worse";
  return fmt::format(", {} of them in the pool", known);
}

}  // namespace

std::string quality_sentence(const StudyFacts& facts) {
  const ModelQuality& quality = facts.quality;
  if (quality.labelled == 0) return {};
  std::string text;
  const auto add = [&](const std::string& part) { text += fmt::format("{}{}", text.empty() ? "" : ", ", part); };
  if (!std::isnan(quality.accuracy)) {
    const int decimals = decimals_for(quality.accuracy_interval);
    add(fmt::format("accuracy {:.{}f} (95 % {:.{}f} to {:.{}f}; always the largest class: {:.{}f})", quality.accuracy,
                    decimals, quality.accuracy_interval.low, decimals, quality.accuracy_interval.high, decimals,
                    quality.majority, decimals));
  }
  if (!std::isnan(quality.auc)) add(fmt::format("AUC {}", with_interval(quality.auc, quality.auc_interval)));
  if (!std::isnan(quality.log_loss)) add(fmt::format("log-loss {:.2g}", quality.log_loss));
  if (!std::isnan(quality.calibration_error)) {
    add(fmt::format("calibration error {:.2f} (by chance {:.2f})", quality.calibration_error,
                    quality.calibration_chance));
  }
  if (!std::isnan(quality.rmse)) {
    add(fmt::format("RMSE {} (always the mean: {})", in_own_unit(quality.rmse, quality.rmse_interval),
                    in_own_unit(quality.mean_rmse, quality.rmse_interval)));
  }
  if (!std::isnan(quality.r2)) add(fmt::format("R2 {}", with_interval(quality.r2, quality.r2_interval)));
  if (text.empty()) return {};
  return fmt::format("{} on {}{}", text, plural(quality.labelled, "row"), in_pool_words(facts));
}

std::string quality_in_words(const StudyFacts& facts) {
  const ModelQuality& quality = facts.quality;
  if (quality.labelled == 0) return {};
  const std::string rows = plural(quality.labelled, "row");
  if (!std::isnan(quality.accuracy)) {
    return fmt::format(
        "predicts {} of {} right (95 % interval: {} to {}), where always naming the largest class would get {}{}",
        whole_percent(quality.accuracy), rows, whole_percent(quality.accuracy_interval.low),
        whole_percent(quality.accuracy_interval.high), whole_percent(quality.majority), in_pool_words(facts));
  }
  if (std::isnan(quality.rmse)) return {};
  const std::string spread =
      quality.r2 > 0 ? fmt::format("; it explains {} of the spread", whole_percent(quality.r2)) : std::string();
  return fmt::format(
      "is off by {} on {} (root of the mean square), where always saying the mean would be off by {}{}{}",
      in_own_unit(quality.rmse, quality.rmse_interval), rows, in_own_unit(quality.mean_rmse, quality.rmse_interval),
      spread, in_pool_words(facts));
}

}  // namespace assay
