#include "assay/study/subject_parts.h"

#include <algorithm>
#include <span>
#include <utility>

#include "assay/core/sha256.h"

namespace assay {

std::vector<Reference> other_baselines(const Reference& reference, const Dataset& pool, const Model& model,
                                       const Encoder* encoder, const Context& context) {
  const bool is_zero = reference.description == "zero";  // set by named_baseline()
  Reference other = named_baseline(is_zero ? "mean" : "zero", &pool, model, encoder, context);
  other.scales = reference.scales;
  const bool same =
      other.rows.rows() == reference.rows.rows() && std::ranges::equal(other.rows.values(), reference.rows.values());
  if (same) return {};
  std::vector<Reference> made;
  made.push_back(std::move(other));
  return made;
}

std::string rows_hash(const Dataset& data) {
  Sha256 hash;
  const auto add = [&](std::span<const float> values) {
    hash.add({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  };
  add(data.x.values());
  add(data.labels);
  return hash.hex();
}

}  // namespace assay
