// What the operators of ai.onnx.ml share: rows of numbers in, whatever their type.
#pragma once

#include <cstddef>
#include <cstdint>

#include "assay/model/ops/node_setup.h"

namespace assay {

// Calls body.template operator()<T>() for one of the four types of number that ai.onnx.ml takes. The caller has refused
// others.
template <class Body>
decltype(auto) with_number(OnnxElement type, const Body& body) {
  switch (type) {
    case OnnxElement::float64: return body.template operator()<double>();
    case OnnxElement::int32: return body.template operator()<int32_t>();
    case OnnxElement::int64: return body.template operator()<int64_t>();
    default: return body.template operator()<float>();
  }
}

// The same for the two that have derivatives.
template <class Body>
decltype(auto) with_real(OnnxElement type, const Body& body) {
  return type == OnnxElement::float64 ? body.template operator()<double>() : body.template operator()<float>();
}

inline bool is_number(OnnxElement type) {
  return is_floating(type) || type == OnnxElement::int32 || type == OnnxElement::int64;
}

struct TableInput {
  OnnxElement type = OnnxElement::float32;
  size_t rows = 0;
  size_t width = 0;
};

// Input i as a table; without a dimension of rows it is one row, as onnxruntime takes it. Other types and more
// dimensions are refused.
TableInput table_input(const NodeSetup& setup, size_t i);
// Refuses an input that is not one of the four types of number.
void expect_number(const NodeSetup& setup, size_t i);

}  // namespace assay
