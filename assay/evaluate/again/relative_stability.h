// What relative_input_stability and relative_output_stability share (Agarwal, Johnson, Pawelczyk, Krishna, Saxena,
// Zitnik, Lakkaraju 2022). With e the attributions, over perturbed rows x' that keep the predicted class of x,
//   max of || (e_x - e_x') / e_x ||_2 / max(size of the change of x or of the output, epsilon).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "assay/core/refusal.h"
#include "assay/evaluate/again/perturbed_rows.h"
#include "assay/evaluate/criterion.h"

namespace assay {

struct RelativeStabilityOptions {
  int64_t samples = 20;
  double noise = 0.05;
  NoiseUnit unit = {};
  std::string zeros = "leave_out";
  double epsilon = 1e-6;

  void describe(OptionVisitor& visit) {
    visit.integer("samples", samples, "perturbed copies of each row", "copies", 1, 1'000'000);
    visit.real("noise", noise, "deviation of the normal noise that is added to every column", "", 0, 1e9);
    unit.describe(visit);
    visit.choice("zeros", zeros,
                 "what a change is relative to where a value is exactly 0: left out of the norm, or epsilon",
                 {"leave_out", "epsilon"});
    visit.real("epsilon", epsilon, "the least size of a change that is divided by", "", 1e-30, 1);
  }
};

enum class RelativeTo { input, output };

// || (from - to) / from ||_2, element by element. Elements where `from` is NaN are left out. Where `from` is 0 the
// change is divided by `zero`, or left out if `zero` is 0.
double relative_change(std::span<const float> from, std::span<const float> to, double zero);

std::optional<Refusal> refuses_relative(const EvaluateTask& task, const RelativeStabilityOptions& options);
void score_relative(const EvaluateTask& task, const RelativeStabilityOptions& options, RelativeTo to,
                    std::string_view name, Scores& scores, const Context& context);
// The same for points made by `perturb`.
void score_relative_over(const EvaluateTask& task, const RelativeStabilityOptions& options, RelativeTo to,
                         const Perturb& perturb, std::string_view name, Scores& scores, const Context& context);

// The criterion of this ratio.
template <RelativeTo to>
class RelativeStability final : public Criterion {
 public:
  using Options = RelativeStabilityOptions;

  explicit RelativeStability(const Options& options) : options_(options) {}
  std::optional<Refusal> refuses(const EvaluateTask& task) const override { return refuses_relative(task, options_); }
  void score(const EvaluateTask& task, Scores& scores, const Context& context) const override {
    score_relative(task, options_, to, kName, scores, context);
  }

 private:
  static constexpr std::string_view kName =
      to == RelativeTo::input ? "relative_input_stability" : "relative_output_stability";
  Options options_;
};

}  // namespace assay
