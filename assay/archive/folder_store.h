// The finished entries of a study in its folder. An interrupted study continues from them.
//
//   explanations/STEM.npz   the attributions
//   pool/STEM.npz           attributions of the pool's rows that were needed: rows (int64), values (float32)
//   scores/STEM.json        everything else (io/entry_json.h), written last: an entry without it is not finished
//
// Every file appears whole or not at all. If the run is killed, finished entries stay; the others are written again.
#pragma once

#include <string>

#include "assay/study/store.h"

namespace assay {

class FolderStore final : public StudyStore {
 public:
  // Makes the folders, unless it only reads. An io error names the one that cannot be made.
  explicit FolderStore(std::string folder, bool only_reads = false);

  // Checks all files of the entry: a power cut may keep the last one and lose another.
  bool has(const std::string& stem, EntryKind kind) const override;
  void save(const StudyEntry& entry, const PoolExplanations* pool, const Context& context) override;
  // An input error names the file that is wrong.
  StudyEntry load(const std::string& stem, PoolExplanations* pool, const Context& context) const override;
  // The path of scores/STEM.json.
  std::string place_of(const std::string& stem) const override { return scores_path(stem); }

 private:
  std::string explanations_path(const std::string& stem) const;
  std::string pool_path(const std::string& stem) const;
  std::string scores_path(const std::string& stem) const;
  StudyEntry load_files(const std::string& stem, PoolExplanations* pool, const Context& context) const;

  std::string folder_;
};

}  // namespace assay
