// A model that predicts the study's own rows and pool only once and keeps the results.
//
// Every criterion that looks for neighbours predicts all rows of the pool, for every entry. Here the second time costs
// only a copy. Rows are recognised by their address, so both tables must outlive this. All other calls are passed on.
#pragma once

#include <vector>

#include "assay/model/model.h"

namespace assay {

class RememberedModel final : public Model {
 public:
  RememberedModel(const Model& model, MatrixView<const float> rows, MatrixView<const float> pool);

  const ModelInfo& info() const override { return model_.info(); }
  void predict(MatrixView<const float> rows, MatrixView<float> outputs, const Context& context) const override;

  const Differentiable* differentiable() const override { return model_.differentiable(); }
  const Rescalable* rescalable() const override { return model_.rescalable(); }
  const AffineEntry* affine_entry() const override { return model_.affine_entry(); }
  const TreeScores* tree_scores() const override { return model_.tree_scores(); }
  const Trainable* trainable() const override { return model_.trainable(); }
  const Randomisable* randomisable() const override { return model_.randomisable(); }

 private:
  struct Known {
    MatrixView<const float> rows;
    Matrix outputs = {};  // empty until first needed
  };

  const Model& model_;
  mutable std::vector<Known> known_;  // one thread predicts at a time, as Model says
};

}  // namespace assay
