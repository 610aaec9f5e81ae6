// settings.json: what the user asked for, kept in the study's folder so that the study can be resumed and repeated.
// docs/study-format.md describes every field.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/vector_target.h"
#include "assay/core/version.h"
#include "assay/study/choices.h"
#include "assay/study/study.h"

namespace assay {

// The programs that make studies. Each reads only its own settings back.
inline constexpr std::string_view kStudyCommand = "assay study";   // the command line
inline constexpr std::string_view kStudyFunction = "assay.study";  // the Python package

struct StudySettings {
  // The arguments, as words, without the output folder. Only the program that wrote them can read them.
  std::vector<std::string> arguments;
  uint64_t seed = 0;
  // The maker of the parts. Parts by another version or vector target are not mixed with ours.
  std::string version = kVersion;
  std::string vector_target = assay::vector_target();
  std::vector<StudyInput> inputs = {};  // as the study began; empty until they are read
  std::string program = std::string(kStudyCommand);
  StudyChoices choices = {};  // what the plan chose; empty until it is made
};

std::string settings_json(const StudySettings& settings);
// The text is not trusted: what is wrong is an input error that starts with `where`. If it names no program, it is the
// command line's.
StudySettings settings_from_json(const std::string& where, const std::string& text);

// Throws an input error that starts with `where` if another program made the study: its arguments cannot be read here.
void require_program(const std::string& where, const StudySettings& found, std::string_view program);

}  // namespace assay
