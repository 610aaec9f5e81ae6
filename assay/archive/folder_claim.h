// The folder of a study, claimed before anything is computed: no two studies run in one folder, none goes on with parts
// of another, and what is not a study's own is left alone.
//
// Messages call what the user can do by the words of the program that the settings name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/archive/study_settings.h"
#include "assay/core/context.h"
#include "assay/study/study.h"

namespace assay {

// With the folders above it.
void make_folder(const std::string& folder);

// Puts settings.json into the folder, which is there. An input error when it holds something else than a study to go on
// with (`resume`) or to replace (`overwrite`), or a study of another program or of other settings, or a link where a
// file should be. What a killed run was writing is removed; of other files none that a study did not make.
void claim_folder(const std::string& folder, const StudySettings& settings, bool resume, bool overwrite,
                  const Context& context);

// Takes back what a study left that failed before its first part was finished, so that the same command works once the
// cause is mended. Folders that are empty then go too.
void abandon_folder(const std::string& folder);

// Held while a study runs in a folder: an input error when another one does.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int folder_ = -1;
};

// A folder that is made, locked and claimed for one study, which may run in it until this is gone.
class ClaimedFolder {
 public:
  ClaimedFolder(std::string path, StudySettings settings, bool resume, bool overwrite, const Context& context);

  const std::string& path() const { return path_; }
  const StudySettings& settings() const { return settings_; }

 private:
  std::string path_;
  StudySettings settings_;
  std::optional<FolderLock> lock_;
};

// The settings of the study in a folder; an input error when there is none.
StudySettings read_settings(const std::string& folder, const Context& context);

// Keeps in settings.json what goes into the study, and refuses what an earlier run had otherwise: its finished parts
// are of other inputs.
void record_inputs(const std::string& folder, const std::vector<StudyInput>& inputs, const Context& context);

}  // namespace assay
