// The folder of a study: claimed before anything is computed, filled when everything is.
//
// Messages call what the user can do by the words of the program that the settings name.
#pragma once

#include <string>
#include <vector>

#include "assay/core/context.h"
#include "assay/report/study_settings.h"
#include "assay/study/assess.h"
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

// The settings of the study in a folder; an input error when there is none.
StudySettings read_settings(const std::string& folder, const Context& context);

// Keeps in settings.json what goes into the study, and refuses what an earlier run had otherwise: its finished parts
// are of other inputs.
void record_inputs(const std::string& folder, const std::vector<StudyInput>& inputs, const Context& context);

// study.json, run.json, scores.csv, report.html and, last, manifest.json.
void write_study_files(const std::string& folder, const Study& study, const Assessment& assessment,
                       const StudyTimes& times, const StudySubject& subject, bool cells, const Context& context);

// Processor and system, in words.
std::string machine_words();

}  // namespace assay
