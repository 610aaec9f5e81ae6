// Where a running study keeps its finished entries, so that it can go on after an interruption.
//
// The run (run.h) knows no files: archive/folder_store.h keeps entries in the folder of a study, tests keep them in
// memory. Numbers must load as they were saved, to the bit. The order of options and text that is not UTF-8 may change.
#pragma once

#include <string>

#include "assay/core/context.h"
#include "assay/evaluate/pool_explanations.h"
#include "assay/study/study.h"

namespace assay {

class StudyStore {
 public:
  virtual ~StudyStore() = default;

  // Whether the entry is there and complete.
  virtual bool has(const std::string& stem, EntryKind kind) const = 0;
  // pool: null for aggregates.
  virtual void save(const StudyEntry& entry, const PoolExplanations* pool, const Context& context) = 0;
  // Reads the entry, and into `pool`, if not null, the explained rows of the pool. An input error says what is wrong.
  virtual StudyEntry load(const std::string& stem, PoolExplanations* pool, const Context& context) const = 0;
  // Where the entry is, for messages: the path of a file.
  virtual std::string place_of(const std::string& stem) const = 0;
};

}  // namespace assay
