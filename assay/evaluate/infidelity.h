// Infidelity: how far attributions are from what the model does when the row is perturbed (Yeh, Hsieh, Suggala, Inouye,
// Ravikumar 2019),
//   E over I of (I . phi - (f(x) - f(x - I)))^2,
// the mean over `samples` draws of I, the same for all rows, with a standard error. 0 is perfect; the unit is that of
// the explained value, squared.
//
// perturbation = removal: a random set of players goes to the reference, its size uniform from 1 to d, so that I = x -
// reference there. With a background f(x - I) is the mean over its rows and I uses their mean.
// perturbation = noise: I is normal in every column, of standard deviation `scale` times the column's over the pool;
// categories, whose scale is 0, stay as they are.
//
// What I . phi is depends on what phi is. attributions = local: slopes, for each column (gradient, smooth_grad);
// I . phi as printed. attributions = global: effects of being there at all, as of all other methods, in which x -
// reference is already a factor: then phi_i stands for slope_i (x_i - reference_i), and I . phi is the sum of phi over
// the removed players, or with noise the sum of phi_i I_i / (x_i - reference_i). A column that equals the reference has
// an effect of 0 and no known slope: its term is 0; should it have an attribution all the same, the row is undefined.
// attributions = auto: by the method that made them; local for gradient and smooth_grad, else global.
// Slopes and noise are of columns: they are refused for players of several columns.
//
// normalise_scale: phi is first scaled by the factor that fits best, beta = sum (I . phi) drop / sum (I . phi)^2 over
// the draws (none for phi = 0); methods of different scale can then be compared. The standard error takes beta as
// given, which is right to first order, since the score is at its minimum in beta.
//
// All rows share the draws: the error of the mean over rows that comes from them is the standard deviation over draws
// of the mean over rows of a draw's squared gap, over sqrt(samples); with beta as given, each row its own.
//
// Noise that is lost in the rounding of all of a row's numbers perturbs nothing: that row is undefined. Deviation from
// the paper: it lists other perturbations (squares of an image, noise towards a baseline), and applies the factor to
// its comparisons in places; noise alone is theirs as it stands. Cost: samples + 1 evaluations; for removal so many
// game values for each reference row.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "assay/evaluate/criterion.h"

namespace assay {

class Infidelity final : public Criterion {
 public:
  struct Options {
    std::string perturbation = "removal";
    std::string attributions = "auto";
    double scale = 0.2;
    int64_t samples = 1000;
    bool normalise_scale = false;

    void describe(OptionVisitor& visit) {
      visit.choice("perturbation", perturbation, "random players go to the reference, or all columns get normal noise",
                   {"removal", "noise"});
      visit.choice("attributions", attributions,
                   "local: slopes, as of gradients; global: effects, as of all other methods; auto: by the method",
                   {"auto", "local", "global"});
      visit.real("scale", scale, "deviation of the noise, over that of the column in the pool", "", 1e-6, 100);
      visit.integer("samples", samples, "perturbations, the same for all rows", "draws", 2, 100'000);
      visit.flag("normalise_scale", normalise_scale, "whether attributions are first scaled to fit best");
    }
  };

  explicit Infidelity(const Options& options) : options_(options) {}
  Needs needs(const Needs& by_default) const override;
  std::optional<std::string> refuses(const EvaluateTask& task) const override;
  void score(const EvaluateTask& task, Scores& scores, const Context& context) const override;

 private:
  bool local(const EvaluateTask& task) const;
  void score_removal(const EvaluateTask& task, Scores& scores, const Context& context) const;
  void score_noise(const EvaluateTask& task, Scores& scores, const Context& context) const;

  Options options_;
};

struct InfidelityScore {
  double value = NAN;
  double standard_error = NAN;
};
// The mean of (expected - lost)^2 over the draws, and its standard error; NaN unless all are finite. squares: room for
// that of each draw, or none; it may be `lost` itself.
InfidelityScore mean_squared_gap(std::span<const double> expected, std::span<const double> lost, bool normalise_scale,
                                 std::span<double> squares = {});

CriterionInfo infidelity_criterion();

}  // namespace assay
