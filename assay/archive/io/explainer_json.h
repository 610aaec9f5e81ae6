// The JSON part of a prepared explainer's file (archive/explainer_file.h): all that is no array.
#pragma once

#include <string>
#include <string_view>

#include "assay/archive/explainer_file.h"

namespace assay {

// An input error that starts with `where` if a name is not UTF-8.
std::string explainer_json(std::string_view where, const SavedExplainer& saved);
// What the JSON says of the arrays.
struct SavedArrays {
  std::string model_sha256;
  bool reference = false;
  bool scales = false;
  bool labels = false;  // of the pool
  bool ids = false;
};
// Fills what the text says. The text is not trusted: everything in it is checked.
SavedArrays read_explainer_json(const std::string& where, std::string_view text, SavedExplainer& saved);

}  // namespace assay
