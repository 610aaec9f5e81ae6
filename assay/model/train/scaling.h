// Scales features and labels for training; the saved network takes them as they are.
//
// Training sees x' = (x - shift) * factor. Afterwards the scaling is folded into the first layer, in float64:
// W x' + b = (W * factor) x + (b - W (shift * factor)), so that the file needs no scaling nodes and starts with an
// affine layer. A regression's labels are standardised too, which is folded into the last layer.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "assay/data/dataset.h"
#include "assay/model/graph/onnx.h"

namespace assay {

// One of each for every feature, or none at all where features stay as they are.
struct InputScaling {
  std::vector<float> shift;
  std::vector<float> factor;

  bool none() const { return factor.empty(); }
};

// Mean 0 and deviation 1 for each column; a constant column tells nothing and gets factor 0, so that the saved network
// does not depend on it. An input error that names the column where values differ by less than 1e-30.
InputScaling standardising(const Dataset& training);
// Images: all pixels by one number, 1/255 for bytes, else one over the largest absolute value; no shift, so that the
// zeros that pad a convolution stay zeros.
InputScaling pixel_scaling(const Dataset& training);

// Folds the scaling into the first layer: a Gemm, or, for scalings that are the same everywhere and do not shift, a
// Conv. An input error when the network begins otherwise.
void fold_inputs(OnnxModel& network, const InputScaling& scaling);

// y' = (y - mean) / deviation, for the labels of a regression.
struct LabelScaling {
  double mean = 0;
  double deviation = 1;

  std::vector<float> scaled(std::span<const float> labels) const;
};
LabelScaling label_scaling(std::span<const float> labels);
// Folds the inverse into the last layer, a Gemm that makes the output.
void fold_labels(OnnxModel& network, const LabelScaling& scaling);

}  // namespace assay
