// A store that keeps the entries of a study in memory.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "assay/study/store.h"

namespace assay::testing {

class MemoryStore final : public StudyStore {
 public:
  bool has(const std::string& stem, EntryKind) const override { return entries_.contains(stem); }
  void save(const StudyEntry& entry, const PoolExplanations* pool, const Context&) override {
    Kept kept{entry, {}, {}};
    if (pool != nullptr) {
      kept.rows = pool->known_rows();
      kept.values = Matrix(kept.rows.size(), pool->players());
      for (size_t i = 0; i < kept.rows.size(); i++) {
        std::ranges::copy(pool->values().row(kept.rows[i]), kept.values.row(i).begin());
      }
    }
    entries_.insert_or_assign(entry.stem, std::move(kept));
  }
  StudyEntry load(const std::string& stem, PoolExplanations* pool, const Context&) const override {
    const Kept& kept = entries_.at(stem);
    if (pool != nullptr) pool->know(kept.rows, kept.values.view());
    return kept.entry;
  }
  std::string place_of(const std::string& stem) const override { return "memory of " + stem; }

 private:
  struct Kept {
    StudyEntry entry;
    std::vector<size_t> rows;  // of the pool that are known
    Matrix values;             // theirs
  };
  std::map<std::string, Kept> entries_;
};

}  // namespace assay::testing
