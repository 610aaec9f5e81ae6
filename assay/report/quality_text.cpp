#include "assay/report/quality_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "assay/core/table_text.h"

namespace assay {
namespace {

// So many decimals that the interval's width is seen in its first two digits, at least 2 and at most 6.
int decimals_for(const Interval& interval) {
  const double width = interval.high - interval.low;
  if (!(width > 0) || !std::isfinite(width)) return 2;
  return std::clamp(static_cast<int>(std::ceil(-std::log10(width))) + 1, 2, 6);
}

// For numbers in the label's own unit, which may be large or small.
std::string significant(double value, const Interval& interval) {
  const double width = interval.high - interval.low;
  if (!(width > 0) || !std::isfinite(width) || value == 0) return fmt::format("{:.3g}", value);
  const int digits =
      static_cast<int>(std::floor(std::log10(std::fabs(value)))) - static_cast<int>(std::floor(std::log10(width))) + 2;
  return fmt::format("{:.{}g}", value, std::clamp(digits, 2, 6));
}

std::string with_interval(double value, const Interval& interval) {
  const int decimals = decimals_for(interval);
  if (std::isnan(interval.low)) return fmt::format("{:.{}f}", value, decimals);
  return fmt::format("{:.{}f} (95 % {:.{}f} to {:.{}f})", value, decimals, interval.low, decimals, interval.high,
                     decimals);
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
    add(fmt::format("RMSE {} (always the mean: {})", significant(quality.rmse, quality.rmse_interval),
                    significant(quality.mean_rmse, quality.rmse_interval)));
  }
  if (!std::isnan(quality.r2)) add(fmt::format("R2 {}", with_interval(quality.r2, quality.r2_interval)));
  if (text.empty()) return {};
  return fmt::format("{} on {}", text, plural(quality.labelled, "row"));
}

}  // namespace assay
