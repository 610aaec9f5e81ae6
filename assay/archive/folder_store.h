// Finished entries of a study in its folder: what an interrupted study goes on from.
//
//   explanations/STEM.npz   the attributions
//   pool/STEM.npz           those of the pool's rows that were needed: rows (int64), values (float32)
//   scores/STEM.json        everything else (io/entry_json.h), written last: an entry without it is not finished
//
// Every file appears whole or not at all, so a kill at any moment leaves finished entries, and files that are written
// anew.
#pragma once

#include <string>

#include "assay/study/store.h"

namespace assay {

class FolderStore final : public StudyStore {
 public:
  // Makes the folders; an io error names the one that cannot be.
  explicit FolderStore(std::string folder);

  // All of its files: a power cut may keep the last one and lose another.
  bool has(const std::string& stem, EntryKind kind) const override;
  void save(const StudyEntry& entry, const PoolExplanations* pool, const Context& context) override;
  // An input error names a file that does not fit.
  StudyEntry load(const std::string& stem, PoolExplanations* pool, const Context& context) const override;
  // The file of its scores.
  std::string place_of(const std::string& stem) const override { return scores_path(stem); }

 private:
  std::string explanations_path(const std::string& stem) const;
  std::string pool_path(const std::string& stem) const;
  std::string scores_path(const std::string& stem) const;
  StudyEntry load_files(const std::string& stem, PoolExplanations* pool, const Context& context) const;

  std::string folder_;
};

}  // namespace assay
