#include "assay/model/ops/operators.h"

#include <algorithm>
#include <vector>

namespace assay {

#define ASSAY_OPERATORS(OPERATOR)                                               \
  OPERATOR("", Abs, make_abs)                                                   \
  OPERATOR("", Add, make_add)                                                   \
  OPERATOR("", ArgMax, make_arg_max)                                            \
  OPERATOR("", AveragePool, make_average_pool)                                  \
  OPERATOR("", BatchNormalization, make_batch_normalization)                    \
  OPERATOR("", Cast, make_cast)                                                 \
  OPERATOR("", Celu, make_celu)                                                 \
  OPERATOR("", Clip, make_clip)                                                 \
  OPERATOR("", Concat, make_concat)                                             \
  OPERATOR("", Constant, make_constant)                                         \
  OPERATOR("", ConstantOfShape, make_constant_of_shape)                         \
  OPERATOR("", Conv, make_conv)                                                 \
  OPERATOR("", Div, make_div)                                                   \
  OPERATOR("", Dropout, make_dropout)                                           \
  OPERATOR("", Elu, make_elu)                                                   \
  OPERATOR("", Equal, make_equal)                                               \
  OPERATOR("", Erf, make_erf)                                                   \
  OPERATOR("", Exp, make_exp)                                                   \
  OPERATOR("", Expand, make_expand)                                             \
  OPERATOR("", Flatten, make_flatten)                                           \
  OPERATOR("", Gather, make_gather)                                             \
  OPERATOR("", Gelu, make_gelu)                                                 \
  OPERATOR("", Gemm, make_gemm)                                                 \
  OPERATOR("", GlobalAveragePool, make_global_average_pool)                     \
  OPERATOR("", GlobalMaxPool, make_global_max_pool)                             \
  OPERATOR("", Greater, make_greater)                                           \
  OPERATOR("", HardSigmoid, make_hard_sigmoid)                                  \
  OPERATOR("", HardSwish, make_hard_swish)                                      \
  OPERATOR("", Identity, make_identity)                                         \
  OPERATOR("", LayerNormalization, make_layer_normalization)                    \
  OPERATOR("", LeakyRelu, make_leaky_relu)                                      \
  OPERATOR("", Less, make_less)                                                 \
  OPERATOR("", Log, make_log)                                                   \
  OPERATOR("", LogSoftmax, make_log_softmax)                                    \
  OPERATOR("", MatMul, make_matmul)                                             \
  OPERATOR("", Max, make_max)                                                   \
  OPERATOR("", MaxPool, make_max_pool)                                          \
  OPERATOR("", Min, make_min)                                                   \
  OPERATOR("", Mul, make_mul)                                                   \
  OPERATOR("", Neg, make_neg)                                                   \
  OPERATOR("", PRelu, make_prelu)                                               \
  OPERATOR("", Pad, make_pad)                                                   \
  OPERATOR("", Pow, make_pow)                                                   \
  OPERATOR("", Reciprocal, make_reciprocal)                                     \
  OPERATOR("", ReduceMax, make_reduce_max)                                      \
  OPERATOR("", ReduceMean, make_reduce_mean)                                    \
  OPERATOR("", ReduceSum, make_reduce_sum)                                      \
  OPERATOR("", Relu, make_relu)                                                 \
  OPERATOR("", Reshape, make_reshape)                                           \
  OPERATOR("", Selu, make_selu)                                                 \
  OPERATOR("", Shape, make_shape)                                               \
  OPERATOR("", Sigmoid, make_sigmoid)                                           \
  OPERATOR("", Slice, make_slice)                                               \
  OPERATOR("", Softmax, make_softmax)                                           \
  OPERATOR("", Softplus, make_softplus)                                         \
  OPERATOR("", Split, make_split)                                               \
  OPERATOR("", Sqrt, make_sqrt)                                                 \
  OPERATOR("", Squeeze, make_squeeze)                                           \
  OPERATOR("", Sub, make_sub)                                                   \
  OPERATOR("", Tanh, make_tanh)                                                 \
  OPERATOR("", Transpose, make_transpose)                                       \
  OPERATOR("", Unsqueeze, make_unsqueeze)                                       \
  OPERATOR("", Where, make_where)                                               \
  OPERATOR("ai.onnx.ml", ArrayFeatureExtractor, make_array_feature_extractor)   \
  OPERATOR("ai.onnx.ml", FeatureVectorizer, make_feature_vectorizer)            \
  OPERATOR("ai.onnx.ml", Imputer, make_imputer)                                 \
  OPERATOR("ai.onnx.ml", LabelEncoder, make_label_encoder)                      \
  OPERATOR("ai.onnx.ml", LinearClassifier, make_linear_classifier)              \
  OPERATOR("ai.onnx.ml", LinearRegressor, make_linear_regressor)                \
  OPERATOR("ai.onnx.ml", Normalizer, make_normalizer)                           \
  OPERATOR("ai.onnx.ml", OneHotEncoder, make_one_hot_encoder)                   \
  OPERATOR("ai.onnx.ml", Scaler, make_scaler)                                   \
  OPERATOR("ai.onnx.ml", TreeEnsemble, make_tree_ensemble)                      \
  OPERATOR("ai.onnx.ml", TreeEnsembleClassifier, make_tree_ensemble_classifier) \
  OPERATOR("ai.onnx.ml", TreeEnsembleRegressor, make_tree_ensemble_regressor)   \
  OPERATOR("ai.onnx.ml", ZipMap, make_zip_map)                                  \
  OPERATOR("assay", LogOdds, make_log_odds)                                     \
  OPERATOR("assay", Trees, make_trees)

#define DECLARE(domain, name, make) std::unique_ptr<Kernel> make(NodeSetup& setup);
ASSAY_OPERATORS(DECLARE)
#undef DECLARE

std::span<const Operator> operators() {
#define LIST(domain, name, make) {domain, #name, make},
  static constexpr Operator kOperators[] = {ASSAY_OPERATORS(LIST)};
#undef LIST
#undef ASSAY_OPERATORS
  return kOperators;
}

const Operator* find_operator(std::string_view domain, std::string_view name) {
  const auto all = operators();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Operator& each) { return each.name == name && each.domain == domain; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace assay
