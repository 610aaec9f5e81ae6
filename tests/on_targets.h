// Every vector target that the machine has, for tests that compare what they compute.
#pragma once

#include <string>
#include <vector>

#include "assay/core/vector_target.h"

namespace assay::testing {

// Best first. The same whatever is pinned.
inline const std::vector<std::string>& all_vector_targets() {
  static const std::vector<std::string> all = vector_targets();
  return all;
}

// While it lives, everything runs on this target.
class OnTarget {
 public:
  explicit OnTarget(const std::string& target) {
    all_vector_targets();  // before a pin hides the others
    pin_vector_target(target);
  }
  ~OnTarget() { pin_vector_target(all_vector_targets().front()); }
  OnTarget(const OnTarget&) = delete;
  OnTarget& operator=(const OnTarget&) = delete;
};

}  // namespace assay::testing
