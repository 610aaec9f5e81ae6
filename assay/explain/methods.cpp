#include "assay/explain/methods.h"

#include <utility>
#include <vector>

#include "assay/core/error.h"

namespace assay {

// Each is defined in its method's own file. A new method is a line here and a line in the table.
MethodInfo gradient_method();
MethodInfo gradient_x_input_method();
MethodInfo integrated_gradients_method();
MethodInfo smooth_grad_method();
MethodInfo deeplift_method();
MethodInfo deeplift_reveal_cancel_method();
MethodInfo exact_shapley_method();
MethodInfo kernel_shap_method();
MethodInfo shapley_sampling_method();
MethodInfo tree_shap_method();
MethodInfo tree_shap_path_method();
MethodInfo occlusion_method();
MethodInfo lime_method();

namespace {

std::vector<MethodInfo>& method_table() {
  static std::vector<MethodInfo> table = {
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

}  // namespace

std::span<const MethodInfo> methods() { return method_table(); }

void add_method(MethodInfo info) { method_table().push_back(std::move(info)); }

const MethodInfo& find_method(std::string_view name) { return find_by_name("method", methods(), name); }

}  // namespace assay
