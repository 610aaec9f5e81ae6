#include "assay/model/ops/classifier.h"

#include <fmt/format.h>

namespace assay {

std::vector<std::string> classifier_labels(const OnnxNode& node) {
  if (const OnnxAttribute* text = node.attribute("classlabels_strings"); text != nullptr && !text->strings.empty()) {
    return text->strings;
  }
  const OnnxAttribute* integers =
      node.attribute(node.op_type == "LinearClassifier" ? "classlabels_ints" : "classlabels_int64s");
  std::vector<std::string> labels;
  if (integers == nullptr) return labels;
  for (const int64_t label : integers->ints) labels.push_back(fmt::format("{}", label));
  return labels;
}

ClassLabels::ClassLabels(const NodeSetup& setup, std::string_view integers)
    : integers_(setup.integers(integers)), text_(setup.texts("classlabels_strings")) {
  if (size() == 0) setup.fail(fmt::format("it has no class labels ({} or classlabels_strings)", integers));
}

void ClassLabels::write(void* labels, size_t row, size_t label) const {
  if (text_.empty()) {
    static_cast<int64_t*>(labels)[row] = integers_[label];
  } else {
    static_cast<std::string*>(labels)[row] = text_[label];
  }
}

void ClassLabels::pad_single() {
  if (text_.empty()) {
    integers_ = {0, 1};
  } else {
    text_ = {text_[0], text_[0]};
  }
}

}  // namespace assay
