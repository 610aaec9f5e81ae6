// settings.json: what the user asked of a study, kept in its folder so that the study can be gone on with and made
// again. docs/study-format.md describes every field.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/vector_target.h"
#include "assay/core/version.h"
#include "assay/study/study.h"

namespace assay {

// Who makes studies, and reads its own settings back.
inline constexpr std::string_view kStudyCommand = "assay study";   // the command line
inline constexpr std::string_view kStudyFunction = "assay.study";  // the Python package

struct StudySettings {
  // What was said, as words, without where the study goes; the program that wrote them reads them back.
  std::vector<std::string> arguments;
  uint64_t seed = 0;
  // What makes the parts: those of others are not mixed with ours.
  std::string version = kVersion;
  std::string vector_target = assay::vector_target();
  std::vector<StudyInput> inputs = {};  // as they were when the study began; none before they are read
  std::string program = std::string(kStudyCommand);
};

std::string settings_json(const StudySettings& settings);
// The text is hostile: what does not fit is an input error that starts with `where`. Without a program it is the
// command line's.
StudySettings settings_from_json(const std::string& where, const std::string& text);

// An input error that starts with `where` when another program than this one made the study: its words mean nothing
// here.
void require_program(const std::string& where, const StudySettings& found, std::string_view program);

}  // namespace assay
