// LabelEncoder (ai.onnx.ml): each element that equals a key becomes that key's value, all others the default.
// Version 1 maps classes_strings to their positions, and positions to them. From version 2 keys_* and values_* hold
// text, int64 or floats; from version 4 also keys_tensor, values_tensor and default_tensor of other numbers, and a key
// NaN matches NaN. Of equal keys the first counts, as in onnxruntime (ONNX asks for the last from version 4).
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "assay/model/ops/node_setup.h"

namespace assay {
namespace {

constexpr size_t kUnknown = SIZE_MAX;

bool is_supported(OnnxElement type) {
  switch (type) {
    case OnnxElement::string:
    case OnnxElement::float32:
    case OnnxElement::float64:
    case OnnxElement::int16:
    case OnnxElement::int32:
    case OnnxElement::int64: return true;
    default: return false;
  }
}

// Calls body.template operator()<T>() for one of these types.
template <class Body>
decltype(auto) with_label(OnnxElement type, const Body& body) {
  switch (type) {
    case OnnxElement::string: return body.template operator()<std::string>();
    case OnnxElement::float64: return body.template operator()<double>();
    case OnnxElement::int16: return body.template operator()<int16_t>();
    case OnnxElement::int32: return body.template operator()<int32_t>();
    case OnnxElement::int64: return body.template operator()<int64_t>();
    default: return body.template operator()<float>();
  }
}

template <class T>
bool is_nan(const T& x) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(x);
  return false;
}

// The same bits for numbers that are equal.
template <class T>
uint64_t number_key(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(x)) return std::bit_cast<uint64_t>(std::numeric_limits<double>::quiet_NaN());
    return x == 0 ? 0 : std::bit_cast<uint64_t>(static_cast<double>(x));
  } else {
    return static_cast<uint64_t>(static_cast<int64_t>(x));
  }
}

// The list given as one of <prefix>_strings, _int64s, _floats and _tensor.
Tensor attribute_list(const NodeSetup& setup, const std::string& prefix) {
  std::vector<Tensor> given;
  if (setup.has_attribute(prefix + "_strings")) given.push_back(Tensor::list_of(setup.texts(prefix + "_strings")));
  if (setup.has_attribute(prefix + "_int64s")) given.push_back(Tensor::list_of(setup.integers(prefix + "_int64s")));
  if (setup.has_attribute(prefix + "_floats")) given.push_back(Tensor::list_of(setup.reals(prefix + "_floats")));
  if (const OnnxTensor* tensor = setup.tensor(prefix + "_tensor"); tensor != nullptr) {
    given.push_back(Tensor::from_onnx(setup.where(), *tensor));
  }
  if (given.size() != 1) {
    setup.fail(fmt::format("expected one of {0}_strings, {0}_int64s, {0}_floats and {0}_tensor, found {1}", prefix,
                           given.size()));
  }
  if (!is_supported(given[0].type())) {
    setup.fail(fmt::format("its {} are {}, which ONNX does not allow here", prefix, onnx_type_name(given[0].type())));
  }
  return std::move(given[0]);
}

Tensor default_value(const NodeSetup& setup, OnnxElement type) {
  if (const OnnxTensor* tensor = setup.tensor("default_tensor"); tensor != nullptr) {
    Tensor value = Tensor::from_onnx(setup.where(), *tensor);
    if (value.type() != type || value.count() != 1) {
      setup.fail(fmt::format("default_tensor must be one {}, found {} of {}", onnx_type_name(type), value.count(),
                             onnx_type_name(value.type())));
    }
    return value;
  }
  Tensor value(type, {1});
  with_label(type, [&]<class T>() {
    if constexpr (std::is_same_v<T, std::string>) {
      *value.data<T>() = setup.text("default_string", "_Unused");
    } else if constexpr (std::is_same_v<T, int64_t>) {
      *value.data<T>() = setup.integer("default_int64", -1);
    } else if constexpr (std::is_floating_point_v<T>) {
      *value.data<T>() = static_cast<T>(setup.real("default_float", -0.0F));
    } else {
      *value.data<T>() = static_cast<T>(-1);
    }
  });
  return value;
}

class LabelEncoder final : public Kernel {
 public:
  explicit LabelEncoder(NodeSetup& setup) {
    setup.expect_inputs(1, 1);
    setup.expect_outputs(1, 1);
    const ValueInfo& x = setup.input(0);
    type_ = x.type;
    count_ = x.count();
    Tensor keys;
    if (setup.has_attribute("classes_strings")) {
      const std::vector<std::string> classes = setup.texts("classes_strings");
      std::vector<int64_t> positions(classes.size());
      std::iota(positions.begin(), positions.end(), 0);
      keys = Tensor::list_of(classes);
      values_ = Tensor::list_of(positions);
      if (type_ == OnnxElement::int64) std::swap(keys, values_);
    } else {
      keys = attribute_list(setup, "keys");
      values_ = attribute_list(setup, "values");
    }
    if (keys.type() != type_) {
      setup.fail(fmt::format("its keys are {}, the input is {}", onnx_type_name(keys.type()), onnx_type_name(type_)));
    }
    if (keys.count() != values_.count()) {
      setup.fail(fmt::format("expected as many values as keys, found {} and {}", values_.count(), keys.count()));
    }
    default_ = default_value(setup, values_.type());
    const bool nan_matches = setup.opset() >= 4;
    with_label(type_, [&]<class T>() {
      for (size_t i = 0; i < keys.count(); i++) {
        const T& key = keys.data<T>()[i];
        if constexpr (std::is_same_v<T, std::string>) {
          by_text_.emplace(key, i);
        } else {
          if (nan_matches || !is_nan(key)) by_number_.emplace(number_key(key), i);
        }
      }
    });
    setup.set_output(0, values_.type(), x.dims);
  }

  void forward(const Buffers& values) const override {
    with_label(type_, [&]<class T>() {
      const T* x = values.in<T>(0);
      with_label(values_.type(), [&]<class V>() {
        V* y = values.out<V>(0);
        for (size_t i = 0; i < count_; i++) {
          const size_t found = find(x[i]);
          y[i] = found == kUnknown ? *default_.data<V>() : values_.data<V>()[found];
        }
      });
    });
  }

 private:
  template <class T>
  size_t find(const T& x) const {
    if constexpr (std::is_same_v<T, std::string>) {
      const auto found = by_text_.find(x);
      return found == by_text_.end() ? kUnknown : found->second;
    } else {
      const auto found = by_number_.find(number_key(x));
      return found == by_number_.end() ? kUnknown : found->second;
    }
  }

  OnnxElement type_;
  size_t count_ = 0;
  std::unordered_map<std::string, size_t> by_text_;
  std::unordered_map<uint64_t, size_t> by_number_;
  Tensor values_;
  Tensor default_;
};

}  // namespace

std::unique_ptr<Kernel> make_label_encoder(NodeSetup& setup) { return std::make_unique<LabelEncoder>(setup); }

}  // namespace assay
