// Methods, criteria and aggregators as Python passes them: (name, [(option, value), ...]).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "assay/core/options.h"

namespace assay::python {

using SpecPair = std::pair<std::string, std::vector<std::pair<std::string, std::string>>>;

inline Spec spec_of(const SpecPair& pair) { return {pair.first, pair.second}; }

inline std::vector<Spec> specs_of(const std::vector<SpecPair>& pairs) {
  std::vector<Spec> specs;
  for (const SpecPair& pair : pairs) specs.push_back(spec_of(pair));
  return specs;
}

}  // namespace assay::python
