#include "assay/study/reproduce/reproduction.h"

namespace assay {

void Results::add(const CellKey& key, double value, double coverage) {
  const auto [place, fresh] = places_.try_emplace(key, cells_.size());
  if (fresh) cells_.push_back({key});
  Cell& cell = cells_[place->second];
  cell.values.push_back(value);
  cell.coverages.push_back(coverage);
}

const Cell* Results::find(const CellKey& key) const {
  const auto place = places_.find(key);
  return place == places_.end() ? nullptr : &cells_[place->second];
}

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::holds: return "holds";
    case Verdict::partly: return "partly";
    case Verdict::fails: return "fails";
    case Verdict::paper_disagrees: return "the paper's own table disagrees";
    case Verdict::by_construction: return "holds by construction";
    case Verdict::cannot_be_tested: break;
  }
  return "cannot be tested";
}

std::string nearest_clinical(const Reproduction& made) {
  // From near to far: hospital and features, then label.
  for (const std::string_view name : {"mimic3", "cinc2012", "mimic3 (demo)", "cinc2019", "eicu"}) {
    for (const NetworkFacts& facts : made.networks) {
      if (facts.data == name && facts.judged) return facts.data;
    }
  }
  return {};
}

}  // namespace assay
