// The labels of classifiers of ai.onnx.ml.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/model/ops/node_setup.h"

namespace assay {

// The class labels of a LinearClassifier or TreeEnsembleClassifier as text, in the order of the columns of its scores.
std::vector<std::string> classifier_labels(const OnnxNode& node);

// The labels of a classifier: whole numbers or text.
class ClassLabels {
 public:
  // From the attribute classlabels_strings, or if that is empty, the whole numbers of the attribute `integers`.
  ClassLabels(const NodeSetup& setup, std::string_view integers);

  size_t size() const { return text_.empty() ? integers_.size() : text_.size(); }
  OnnxElement type() const { return text_.empty() ? OnnxElement::int64 : OnnxElement::string; }
  void write(void* labels, size_t row, size_t label) const;
  // Makes two labels of a single one: 0 and 1 if it is a number, whatever the number, as in onnxruntime; the same text
  // twice if it is a text.
  void pad_single();

 private:
  std::vector<int64_t> integers_;
  std::vector<std::string> text_;
};

}  // namespace assay
