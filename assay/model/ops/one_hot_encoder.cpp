// OneHotEncoder (ai.onnx.ml): each element becomes a row of zeros with a 1 at its category, in a dimension added at the
// end, float32. Text is looked up in cats_strings, numbers in cats_int64s after truncation towards 0, as ONNX asks.
// What is no category becomes zeros, or with zeros = 0 an error. Of equal categories the last counts, as in
// onnxruntime.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/model/ops/tabular.h"

namespace assay {
namespace {

class OneHotEncoder final : public Kernel {
 public:
  explicit OneHotEncoder(NodeSetup& setup) {
    setup.expect_inputs(1, 1);
    setup.expect_outputs(1, 1);
    const ValueInfo& x = setup.input(0);
    type_ = x.type;
    if (!is_number(type_) && type_ != OnnxElement::string) {
      setup.fail(fmt::format("input 1 must be STRING, FLOAT, DOUBLE, INT32 or INT64, found {}", onnx_type_name(type_)));
    }
    zeros_ = setup.flag("zeros", true);
    where_ = setup.where();
    const std::vector<int64_t> integers = setup.integers("cats_int64s");
    const std::vector<std::string> texts = setup.texts("cats_strings");
    if (type_ == OnnxElement::string ? texts.empty() : integers.empty()) {
      setup.fail(fmt::format("the input is {}, and {} is empty", onnx_type_name(type_),
                             type_ == OnnxElement::string ? "cats_strings" : "cats_int64s"));
    }
    if (!integers.empty() && !texts.empty()) setup.fail("it has both cats_int64s and cats_strings");
    for (size_t i = 0; i < integers.size(); i++) by_integer_[integers[i]] = i;
    for (size_t i = 0; i < texts.size(); i++) by_text_[texts[i]] = i;
    categories_ = std::max(integers.size(), texts.size());
    Shape dims = x.dims;
    dims.push_back(static_cast<int64_t>(categories_));
    setup.set_output(0, OnnxElement::float32, dims);
    count_ = x.count();
  }

  void forward(const Buffers& values) const override {
    float* y = values.out<float>(0);
    std::fill_n(y, count_ * categories_, 0.0F);
    if (type_ == OnnxElement::string) {
      const auto* x = values.in<std::string>(0);
      for (size_t i = 0; i < count_; i++, y += categories_) {
        const auto found = by_text_.find(x[i]);
        if (found != by_text_.end()) {
          y[found->second] = 1;
        } else if (!zeros_) {
          unknown(in_quotes(x[i]));
        }
      }
      return;
    }
    with_number(type_, [&]<class T>() {
      const T* x = values.in<T>(0);
      for (size_t i = 0; i < count_; i++, y += categories_) {
        const auto found = is_integer_range(x[i]) ? by_integer_.find(static_cast<int64_t>(x[i])) : by_integer_.end();
        if (found != by_integer_.end()) {
          y[found->second] = 1;
        } else if (!zeros_) {
          unknown(fmt::format("{}", x[i]));
        }
      }
    });
  }

 private:
  [[noreturn]] void unknown(const std::string& value) const {
    fail_input(fmt::format("{}: the value {} is none of its {} categories", where_, value, categories_));
  }
  // Whether truncation gives an int64: not for NaN and huge values.
  template <class T>
  static bool is_integer_range(T x) {
    if constexpr (std::is_floating_point_v<T>) return x >= T(-0x1p63) && x < T(0x1p63);
    return true;
  }

  OnnxElement type_;
  bool zeros_ = true;
  std::string where_;
  std::unordered_map<int64_t, size_t> by_integer_;
  std::unordered_map<std::string, size_t> by_text_;
  size_t categories_ = 0;
  size_t count_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> make_one_hot_encoder(NodeSetup& setup) { return std::make_unique<OneHotEncoder>(setup); }

}  // namespace assay
