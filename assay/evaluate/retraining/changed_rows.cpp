#include "assay/evaluate/retraining/changed_rows.h"

#include <algorithm>
#include <cmath>

#include "assay/core/parallel.h"
#include "assay/core/random.h"
#include "assay/data/baseline.h"
#include "assay/evaluate/common.h"

namespace assay {

std::vector<size_t> counts_of_shares(std::span<const double> shares, size_t players) {
  std::vector<size_t> counts;
  for (const double share : shares) {
    const double count = std::round(share * static_cast<double>(players));
    const size_t most = share < 1 ? std::max<size_t>(players - 1, 1) : players;
    counts.push_back(std::clamp<size_t>(static_cast<size_t>(std::max(count, 1.0)), 1, most));
  }
  std::ranges::sort(counts);
  counts.erase(std::ranges::unique(counts).begin(), counts.end());
  return counts;
}

std::vector<float> replacement_row(MatrixView<const float> reference, const std::vector<FeatureGroup>& groups) {
  if (reference.rows() == 1) return {reference.row(0).begin(), reference.row(0).end()};
  Dataset background;
  background.x = Matrix(reference.rows(), reference.cols());
  for (size_t r = 0; r < reference.rows(); r++) std::ranges::copy(reference.row(r), background.x.row(r).begin());
  background.groups = groups;
  return mean_baseline(background);
}

void ChangedRows::fill(size_t i, const Change& change, std::span<float> row) const {
  const size_t source = known_.rows[i];
  const std::span<const float> x = data_.x.row(source);
  if (change.ranking == Ranking::none) {
    std::ranges::copy(x, row.begin());
    return;
  }
  std::vector<uint32_t> order;
  if (change.ranking == Ranking::random) {
    order.resize(players_.size());
    RandomStream(change.seed, purpose_, source, change.draw).permutation(order);
  } else {
    order = strongest_first(attributions_.row(source));
  }
  const bool takes_first = change.replaced == Replaced::first;
  std::vector<uint8_t> kept(players_.size(), takes_first ? 1 : 0);
  for (size_t rank = 0; rank < change.k; rank++) kept[order[rank]] = takes_first ? 0 : 1;
  mask_row(players_, x, replacement_, kept, row);
}

Dataset ChangedRows::dataset(const Change& change, const std::vector<std::string>& class_names,
                             const Context& context) const {
  Dataset made;
  made.source = data_.source;
  made.x = Matrix(known_.size(), data_.x.cols());
  made.feature_names = data_.feature_names;
  made.groups = data_.groups;
  made.label_name = data_.label_name;
  made.labels = known_.labels;
  made.class_names = class_names;
  made.item_shape = data_.item_shape;
  parallel_blocks(context, known_.size(), kRowsPerTask, [&](const Block& block) {
    for (size_t i = block.begin; i < block.end; i++) fill(i, change, made.x.row(i));
  });
  return made;
}

}  // namespace assay
