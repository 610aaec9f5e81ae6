// Parameter randomisation: whether an explanation notices that the model has forgotten what it learnt (Adebayo, Gilmer,
// Muelly, Goodfellow, Hardt, Kim, "Sanity Checks for Saliency Maps", NeurIPS 2018). Layer by layer, from the outputs
// down, parameters are drawn afresh as before training, and the same rows are explained again:
//   value = mean over layers l of similarity(g(f, x), g(f_l, x)),
// f_l having layers 1 .. l randomised (order=cascading) or layer l alone (order=independent). Similarity is Spearman's
// rank correlation, or the cosine, of |phi| or of phi. An explanation of the model should change: near 0 is as it
// should be, near 1 means that it shows the input rather than the model.
//
// Features are raw, networks are trained on standardised ones: a layer that reads the features starts as if these were
// standardised by their mean and deviation over the pool (model/randomise.h), else fresh weights would saturate what
// follows. Without a pool the deviations that came with the reference count, with its mean; without these, none.
//
// Targets and reference stay those of the trained model, and a sampled method draws the same in all of them. Spearman's
// ranks share ties. A layer after which the explanation has no ranking (all of one size) is left out of the mean of
// that row; a layer that is lost for most rows is named in a note. The table gives the mean over rows for each number
// of layers. With several draws of the parameters the value is their mean, with its standard error. Undefined: all
// attributions 0, one player or no ranking in the explanation, numbers that are not finite. Deviation from the paper:
// it shows similarities by layer; the mean over layers is one number for a row. Cost: one explanation of each row for
// each layer and draw.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "assay/evaluate/criterion.h"

namespace assay {

class Randomisation final : public Criterion {
 public:
  struct Options {
    std::string order = "cascading";
    std::string similarity = "spearman";
    std::string sign = "absolute";
    int64_t draws = 5;
    void describe(OptionVisitor& visit) {
      visit.choice("order", order, "all layers from the outputs down to each one, or each layer alone",
                   {"cascading", "independent"});
      visit.choice("similarity", similarity, "between the two explanations: rank correlation or cosine",
                   {"spearman", "cosine"});
      visit.choice("sign", sign, "compares the attributions' sizes, or the attributions with their signs",
                   {"absolute", "signed"});
      visit.integer("draws", draws, "times that parameters are drawn", "draws", 1, 100);
    }
  };

  explicit Randomisation(const Options& options) : options_(options) {}
  std::optional<std::string> refuses(const EvaluateTask& task) const override;
  void score(const EvaluateTask& task, Scores& scores, const Context& context) const override;

 private:
  Options options_;
};

// NaN where one side has no variance (spearman) or is all zero (cosine).
double explanation_similarity(std::span<const float> a, std::span<const float> b, bool spearman, bool absolute);

CriterionInfo randomisation_criterion();

}  // namespace assay
