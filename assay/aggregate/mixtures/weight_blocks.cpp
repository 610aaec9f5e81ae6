#include "assay/aggregate/mixtures/weight_blocks.h"

#include <algorithm>

#include "assay/aggregate/mixtures/pair_grams.h"

namespace assay {
namespace {

WeightBlock block_of(const std::vector<std::vector<double>>& products) {
  WeightBlock made;
  for (size_t k = 0; k < products[0].size(); k++) {
    if (std::ranges::all_of(products, [k](const std::vector<double>& each) { return each[k] == 0; })) continue;
    made.entries.push_back(static_cast<uint32_t>(k));
    for (size_t t = 0; t < kUnitWidth; t++) made.products.push_back(t < products.size() ? products[t][k] : 0.0);
  }
  return made;
}

}  // namespace

WeightBlocks block_weights(MatrixView<const double> weights) {
  WeightBlocks made;
  std::vector<std::vector<bool>> mixed(weights.rows());
  for (size_t t = 0; t < weights.rows(); t++) {
    made.order.push_back(t);
    for (const double weight : weights.row(t)) mixed[t].push_back(weight != 0);
  }
  std::ranges::stable_sort(made.order, {}, [&](size_t t) -> const std::vector<bool>& { return mixed[t]; });
  for (size_t first = 0; first < made.order.size(); first += kUnitWidth) {
    std::vector<std::vector<double>> products;
    for (size_t t = first; t < std::min(first + kUnitWidth, made.order.size()); t++) {
      products.push_back(packed_products(weights.row(made.order[t])));
    }
    made.blocks.push_back(block_of(products));
  }
  return made;
}

}  // namespace assay
