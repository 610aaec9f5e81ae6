// Claims the folder of a study before anything is computed. So no two studies run in one folder, no study continues
// with parts of another, and files that are not a study's own are left alone.
//
// Messages name options as the program in the settings does: "--resume" or "resume=True".
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/archive/study_settings.h"
#include "assay/core/context.h"
#include "assay/study/study.h"

namespace assay {

// Also makes the folders above it.
void make_folder(const std::string& folder);

// Writes settings.json, or keeps it to continue a study. The folder must exist. Throws an input error unless it is
// empty, or holds a study to continue (`resume`: by the same program, with the same settings) or to replace
// (`overwrite`). Links in place of its files are an error too. Removes files of a study that a killed run was writing.
// Returns whether there is a study to replace: it is left as it is, for replace_study.
bool claim_folder(const std::string& folder, const StudySettings& settings, bool resume, bool overwrite,
                  const Context& context);

// Removes the study in a folder and writes the settings of the one that takes its place.
void replace_study(const std::string& folder, const StudySettings& settings, const Context& context);

// Removes the files of a study that failed before its first part was finished, and the folders if they are then empty.
// So the same command works once the cause is fixed.
void abandon_folder(const std::string& folder);

// Held while a study runs in a folder. Throws an input error if another study runs there.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int folder_ = -1;
};

// Makes, locks and claims a folder for one study. The lock ends with this object. A study that is to be replaced stays
// in the folder until `begin`: a wrong option or a bad table must not cost the results of the last study.
class ClaimedFolder {
 public:
  ClaimedFolder(std::string path, StudySettings settings, bool resume, bool overwrite, const Context& context);

  const std::string& path() const { return path_; }
  const StudySettings& settings() const { return settings_; }
  // Whether the study that this one replaces is still in the folder. Until it is not, nothing may be written there.
  bool holds_older() const { return holds_older_; }
  // What an earlier run of this study chose.
  StudyChoices choices(const Context& context) const;
  // As the function of this name.
  void record_inputs(const std::vector<StudyInput>& inputs, const Context& context);
  // Called when the study is planned: removes the one that it replaces, and writes what the plan chose.
  void begin(const StudyChoices& choices, const Context& context);

 private:
  std::string path_;
  StudySettings settings_;
  std::optional<FolderLock> lock_;
  bool holds_older_ = false;
};

// The settings of the study in a folder. Throws an input error if there is none.
StudySettings read_settings(const std::string& folder, const Context& context);

// Adds the inputs to settings.json. Throws an input error if an earlier run had the same input with another hash: its
// finished parts were made from other data.
void record_inputs(const std::string& folder, const std::vector<StudyInput>& inputs, const Context& context);

// Writes what the plan chose to settings.json. A study that is resumed or verified reads it there.
void record_choices(const std::string& folder, const StudyChoices& choices, const Context& context);

}  // namespace assay
