// ZipMap (ai.onnx.ml): in ONNX a list of maps from class label to score. The engine has no maps: the output is the
// input, a table of scores, and zip_map_keys names its columns.
#include "assay/model/ops/zip_map.h"

#include <fmt/format.h>

#include <algorithm>

#include "assay/model/ops/tabular.h"

namespace assay {
namespace {

class ZipMap final : public Kernel {
 public:
  explicit ZipMap(NodeSetup& setup) {
    setup.expect_inputs(1, 1);
    setup.expect_outputs(1, 1);
    const ValueInfo& x = setup.floating_input(0);
    setup.expect_rank(0, 1, 2);
    // Attributes of the wrong kind are refused here; zip_map_keys does not look.
    const size_t keys = setup.integers("classlabels_int64s").size() + setup.texts("classlabels_strings").size();
    if (keys != static_cast<size_t>(x.dims.back())) {
      setup.fail(
          fmt::format("expected {} class labels, one for each column of the input; found {}", x.dims.back(), keys));
    }
    setup.set_output(0, x.type, x.dims);
    type_ = x.type;
    count_ = x.count();
  }

  void forward(const Buffers& values) const override {
    with_real(type_, [&]<class T>() { std::copy_n(values.in<T>(0), count_, values.out<T>(0)); });
  }
  bool differentiable(size_t) const override { return true; }
  std::optional<AffineForm> affine_form(const std::vector<bool>&) const override { return AffineForm{}; }
  void backward(const Buffers&, const Gradients& gradients) const override {
    if (gradients.out<void>(0) == nullptr || gradients.in<void>(0) == nullptr) return;
    with_real(type_, [&]<class T>() {
      for (size_t i = 0; i < count_; i++) gradients.in<T>(0)[i] += gradients.out<T>(0)[i];
    });
  }

 private:
  OnnxElement type_;
  size_t count_ = 0;
};

}  // namespace

std::vector<std::string> zip_map_keys(const OnnxNode& node) {
  if (const OnnxAttribute* text = node.attribute("classlabels_strings"); text != nullptr && !text->strings.empty()) {
    return text->strings;
  }
  std::vector<std::string> keys;
  if (const OnnxAttribute* integers = node.attribute("classlabels_int64s"); integers != nullptr) {
    for (const int64_t key : integers->ints) keys.push_back(fmt::format("{}", key));
  }
  return keys;
}

std::unique_ptr<Kernel> make_zip_map(NodeSetup& setup) { return std::make_unique<ZipMap>(setup); }

}  // namespace assay
