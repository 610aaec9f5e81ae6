// Messages of the library with the names that arguments have in the package.
#pragma once

#include <string>

#include "assay/core/error.h"

namespace assay::python {

// The arguments that meet the need; "" if none does.
inline const char* arguments_for(Need need) {
  switch (need) {
    case Need::none:
    case Need::members:
    case Need::data_folder: return "";
    case Need::model: return "model= and X=";
    case Need::reference: return "pool= (its mean is the default), baseline= or background=";
    case Need::pool: return "pool=";
    case Need::pool_explanations: return "pool_explanations=";
    case Need::pool_members: return "pool_members=";
    case Need::labels: return "y=";
    case Need::pool_labels: return "pool_y=";
    case Need::others: return "others=";
  }
  return "";
}

// The library's sentence, and the package's argument that would help. Refusals get theirs from the package, which knows
// what explanations remember.
inline std::string in_arguments(const Error& error) {
  if (error.kind() != ErrorKind::input) return error.what();
  const std::string sentence = error.what();
  if (error.need() == Need::data_folder) return sentence + "; name its folder by folders= or ASSAY_DATA";
  const std::string arguments = arguments_for(error.need());
  return arguments.empty() ? sentence : sentence + "; give " + arguments;
}

}  // namespace assay::python
