// manifest.json: the SHA-256 of every input and every output file of a study, to check that a folder is unchanged.
// docs/study-format.md describes every field.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/core/context.h"
#include "assay/study/study.h"

namespace assay {

struct Manifest {
  std::vector<StudyInput> inputs = {};
  // Name of each file in the folder ("scores/lime.json", always with /) and its hash; sorted by name.
  std::vector<std::pair<std::string, std::string>> outputs = {};
};

// Sorts the outputs by name.
std::string manifest_json(const std::vector<StudyInput>& inputs,
                          std::vector<std::pair<std::string, std::string>> outputs);
// The text is not trusted. Names that lead out of the folder, equal names and malformed hashes are input errors that
// start with `where`.
Manifest manifest_from_json(std::string_view where, std::string_view text);

// The manifest of a finished study. Throws an input error if there is none.
Manifest read_manifest(const std::string& folder, const Context& context);

// A sentence for each file that is missing, has changed or is extra, sorted by name. manifest.json itself is not
// checked. Reads every regular file once. Links are not followed, and other kinds of files are never opened.
std::vector<std::string> manifest_problems(const std::string& folder, const Manifest& manifest, const Context& context);

}  // namespace assay
