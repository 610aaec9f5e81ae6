// manifest.json: the SHA-256 of everything that went into a study and of every file that came out of it, so that
// anybody can tell whether a folder is still what was written. docs/study-format.md describes every field.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/core/context.h"
#include "assay/study/study.h"

namespace assay {

inline constexpr std::string_view kManifestName = "manifest.json";

struct Manifest {
  std::vector<StudyInput> inputs = {};
  // Name of the file in the folder ("scores/lime.json", always with /) and its hash; by name.
  std::vector<std::pair<std::string, std::string>> outputs = {};
};

// Outputs are listed by name, whatever their order here.
std::string manifest_json(const std::vector<StudyInput>& inputs,
                          std::vector<std::pair<std::string, std::string>> outputs);
// The text is hostile: names of outputs lead nowhere outside of the folder, no two are equal, hashes are hashes; what
// does not fit is an input error that starts with `where`.
Manifest manifest_from_json(std::string_view where, std::string_view text);

// Of a finished study; an input error where there is none.
Manifest read_manifest(const std::string& folder, const Context& context);

// What is not as the manifest says, a sentence each, by name: files that are missing, that have changed, and extra
// ones. The manifest itself is not looked at. Reads every regular file once; links are not followed, and what is no
// regular file is never opened.
std::vector<std::string> manifest_problems(const std::string& folder, const Manifest& manifest, const Context& context);

}  // namespace assay
