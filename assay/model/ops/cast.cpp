// Cast: every element as the type `to`. Numbers to whole numbers lose their fraction; floats beyond the range become
// the nearest number in it and NaN becomes 0; whole numbers beyond it keep their low bits. Booleans are 0 and 1, and
// what is not 0 is true. float16 and bfloat16 round to the nearest, ties to even, and are stored as float32.
// Text holds numbers as "-3.25", "1e-5", "INF" or "NaN", and numbers become text in plain digits, as few as tell them
// apart. Derivatives pass from float to float; rounding is taken as the identity there.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/model/ops/movement.h"

namespace assay {
namespace {

// A float of 16 bits: bits of its fraction, the exponent of its smallest normal number, its largest number.
struct SmallFloat {
  int fraction_bits;
  int least_exponent;
  double most;
};
constexpr SmallFloat kFloat16 = {10, -14, 65504.0};
constexpr SmallFloat kBfloat16 = {7, -126, 0x1.FEp127};

// The nearest number of the format, ties to even.
float rounded(double x, const SmallFloat& format) {
  if (!std::isfinite(x) || x == 0) return static_cast<float>(x);
  const auto sign = static_cast<float>(x < 0 ? -1 : 1);
  if (std::abs(x) > 2 * format.most) return sign * std::numeric_limits<float>::infinity();
  constexpr int kBias = 1023;
  const int exponent = static_cast<int>((std::bit_cast<uint64_t>(x) >> 52) & 0x7ff) - kBias;
  // Adding 1.5 * 2^52 units and taking it away again leaves a multiple of the unit, rounded by the addition.
  const int unit = std::max(exponent, format.least_exponent) - format.fraction_bits;
  const double shift = std::bit_cast<double>((static_cast<uint64_t>(unit + 52 + kBias) << 52) | (uint64_t{1} << 51));
  const double result = (x + shift) - shift;
  if (std::abs(result) > format.most) return sign * std::numeric_limits<float>::infinity();
  return std::copysign(static_cast<float>(result), sign);
}

// The whole text as a number, or nothing.
template <class T>
std::optional<T> parsed(std::string_view text) {
  const char* end = text.data() + text.size();
  if constexpr (std::is_same_v<T, bool>) {
    if (lower_case(std::string(text)) == "true") return true;
    if (lower_case(std::string(text)) == "false") return false;
    const auto number = parsed<double>(text);
    return number ? std::optional(*number != 0) : std::nullopt;
  } else {
    T value{};
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc() && stop == end) return value;
    if constexpr (std::is_integral_v<T>) {
      // "100.5" is 100; 2^digits is exact, the largest number may not be.
      const auto real = parsed<double>(text);
      if (!real || !(std::trunc(*real) >= static_cast<double>(std::numeric_limits<T>::min()))) return std::nullopt;
      if (*real >= std::ldexp(1.0, std::numeric_limits<T>::digits)) return std::nullopt;
      return static_cast<T>(*real);
    } else {
      // Numbers too large or too small for T become infinity or 0.
      long double wide = 0;
      if (error != std::errc::result_out_of_range || stop != end) return std::nullopt;
      if (std::from_chars(text.data(), end, wide).ec != std::errc()) return std::nullopt;
      return static_cast<T>(wide);
    }
  }
}

template <class T>
std::optional<T> number_in(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\f\v";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return std::nullopt;
  text = text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
  // from_chars knows no plus sign.
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  return parsed<T>(text);
}

template <class T>
std::string text_of(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "INF" : "-INF";
    // The smallest double has 324 places after the point and up to 17 digits.
    char digits[400];
    const auto end = std::to_chars(digits, digits + sizeof(digits), value, std::chars_format::fixed).ptr;
    return {digits, end};
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? "1" : "0";
  } else {
    return fmt::format("{}", value);
  }
}

[[noreturn]] void fail_text(const std::string& where, const std::string& text, OnnxElement type) {
  fail_input(fmt::format("{}: {} cannot be cast to {}", where, in_quotes(text), onnx_type_name(type)));
}

template <class To, class From>
To converted(const From& x, const std::string& where) {
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (std::is_same_v<To, std::string>) {
    return text_of(x);
  } else if constexpr (std::is_same_v<From, std::string>) {
    const auto number = number_in<To>(x);
    if (!number) fail_text(where, x, element_of<To>());
    return *number;
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    // The largest number may be rounded up here, to one that does not fit.
    if (x >= static_cast<From>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    if (x <= static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    return std::isnan(x) ? To(0) : static_cast<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

using Convert = void (*)(const void* from, void* to, size_t count, const std::string& where);

template <class From, class To>
void convert(const void* from, void* to, size_t count, const std::string& where) {
  const From* x = static_cast<const From*>(from);
  To* y = static_cast<To*>(to);
  for (size_t i = 0; i < count; i++) y[i] = converted<To>(x[i], where);
}

template <class From, const SmallFloat& format>
void convert_small(const void* from, void* to, size_t count, const std::string& where) {
  const From* x = static_cast<const From*>(from);
  float* y = static_cast<float*>(to);
  // By way of float64, which rounds no float and no whole number that is within the format's range.
  for (size_t i = 0; i < count; i++) y[i] = rounded(converted<double>(x[i], where), format);
}

Convert conversion(OnnxElement from, OnnxElement to) {
  return with_element(from, [&]<class From>() -> Convert {
    if (to == OnnxElement::float16) return convert_small<From, kFloat16>;
    if (to == OnnxElement::bfloat16) return convert_small<From, kBfloat16>;
    return with_element(to, []<class To>() -> Convert { return convert<From, To>; });
  });
}

class CastKernel final : public Kernel {
 public:
  CastKernel(OnnxElement from, OnnxElement to, size_t count, std::string where)
      : from_(from), to_(stored_element(to)), count_(count), convert_(conversion(from, to)), where_(std::move(where)) {}

  void forward(const Buffers& values) const override {
    convert_(values.in<void>(0), values.out<void>(0), count_, where_);
  }

  bool differentiable(size_t input) const override { return input == 0 && is_floating(from_) && is_floating(to_); }
  std::optional<AffineForm> affine_form(const std::vector<bool>&) const override { return AffineForm{}; }

  void backward(const Buffers&, const Gradients& gradients) const override {
    if (gradients.out<void>(0) == nullptr || gradients.in<void>(0) == nullptr) return;
    if (from_ == OnnxElement::float64) {
      to_ == OnnxElement::float64 ? add<double, double>(gradients) : add<double, float>(gradients);
    } else {
      to_ == OnnxElement::float64 ? add<float, double>(gradients) : add<float, float>(gradients);
    }
  }

 private:
  template <class From, class To>
  void add(const Gradients& gradients) const {
    const To* dy = gradients.out<To>(0);
    From* dx = gradients.in<From>(0);
    for (size_t i = 0; i < count_; i++) dx[i] += static_cast<From>(dy[i]);
  }

  OnnxElement from_;
  OnnxElement to_;
  size_t count_;
  Convert convert_;
  std::string where_;
};

}  // namespace

std::unique_ptr<Kernel> make_cast(NodeSetup& setup) {
  setup.expect_inputs(1, 1);
  setup.expect_outputs(1, 1);
  const ValueInfo& data = setup.input(0);
  if (!setup.has_attribute("to")) setup.fail("expected the attribute 'to', found none");
  const int64_t number = setup.integer("to", 0);
  if (number < 0 || number > std::numeric_limits<int32_t>::max())
    setup.fail(fmt::format("there is no type {}", number));
  const auto to = static_cast<OnnxElement>(number);
  const OnnxElement stored = stored_element(to);
  if (stored == OnnxElement::undefined) {
    setup.fail(fmt::format("it casts to {}, which the engine does not compute with", onnx_type_name(to)));
  }
  setup.set_output(0, stored, data.dims);
  return std::make_unique<CastKernel>(data.type, to, data.count(), setup.where());
}

}  // namespace assay
