#include "assay/study/subject_parts.h"

#include <algorithm>
#include <span>
#include <utility>

#include "assay/core/sha256.h"

namespace assay {

std::vector<Reference> other_references(const Reference& reference, const std::function<Reference()>& mean,
                                        const std::function<Reference()>& background) {
  const auto same = [&](const Reference& other) {
    return other.rows.rows() == reference.rows.rows() &&
           std::ranges::equal(other.rows.values(), reference.rows.values());
  };
  Reference other = mean();
  if (same(other)) other = background();
  if (same(other)) return {};
  other.scales = reference.scales;
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
