// A product (products.h) with what dense layers do before and behind it, while its results are still in registers.
#pragma once

#include "assay/model/kernels/products.h"

namespace assay {

// With `leaky`, what a result was before goes to before[i * out_row + j] if that is not null. With `gate`, a result y
// becomes slope * y where gate[i * out_row + j] is not above 0: the derivative of leaky. gate must not overlap out.
struct LayerProduct {
  Product product;
  float* before = nullptr;
  const float* gate = nullptr;
};
void product(const LayerProduct& p);

}  // namespace assay
