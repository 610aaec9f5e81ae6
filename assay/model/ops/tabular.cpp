#include "assay/model/ops/tabular.h"

#include <fmt/format.h>

namespace assay {

void expect_number(const NodeSetup& setup, size_t i) {
  const OnnxElement type = setup.input(i).type;
  if (is_number(type)) return;
  setup.fail(fmt::format("input {} must be FLOAT, DOUBLE, INT32 or INT64, found {}", i + 1, onnx_type_name(type)));
}

TableInput table_input(const NodeSetup& setup, size_t i) {
  expect_number(setup, i);
  setup.expect_rank(i, 1, 2);
  const ValueInfo& x = setup.input(i);
  return {x.type, x.dims.size() == 1 ? 1 : static_cast<size_t>(x.dims[0]), static_cast<size_t>(x.dims.back())};
}

}  // namespace assay
