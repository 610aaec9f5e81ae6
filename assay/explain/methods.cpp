#include "assay/explain/methods.h"

#include <vector>

#include "assay/core/error.h"
#include "assay/explain/deeplift.h"
#include "assay/explain/deeplift_reveal_cancel.h"
#include "assay/explain/exact_shapley.h"
#include "assay/explain/gradient.h"
#include "assay/explain/gradient_x_input.h"
#include "assay/explain/integrated_gradients.h"
#include "assay/explain/kernel_shap.h"
#include "assay/explain/lime.h"
#include "assay/explain/occlusion.h"
#include "assay/explain/shapley_sampling.h"
#include "assay/explain/smooth_grad.h"
#include "assay/explain/tree_shap.h"
#include "assay/explain/tree_shap_path.h"

namespace assay {

std::span<const MethodInfo> methods() {
  static const std::vector<MethodInfo> table = {
      // clang-format off: a line each
      gradient_method(),
      gradient_x_input_method(),
      integrated_gradients_method(),
      smooth_grad_method(),
      deeplift_method(),
      deeplift_reveal_cancel_method(),
      exact_shapley_method(),
      kernel_shap_method(),
      shapley_sampling_method(),
      tree_shap_method(),
      tree_shap_path_method(),
      occlusion_method(),
      lime_method(),
      // clang-format on
  };
  return table;
}

const MethodInfo& find_method(std::string_view name) { return find_by_name("method", methods(), name); }

}  // namespace assay
