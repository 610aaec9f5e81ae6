// Messages of the library with the names that arguments have in the package.
#pragma once

#include <string>

#include "assay/core/error.h"

namespace assay::python {

// The key in the package's table of arguments; "" if nothing helps.
inline const char* need_name(Need need) {
  switch (need) {
    case Need::none: return "";
    case Need::model: return "model";
    case Need::reference: return "reference";
    case Need::pool: return "pool";
    case Need::pool_explanations: return "pool_explanations";
    case Need::pool_members: return "pool_members";
    case Need::labels: return "labels";
    case Need::pool_labels: return "pool_labels";
    case Need::others: return "others";
    case Need::members: return "members";
    case Need::data_folder: return "data_folder";
  }
  return "";
}

// The library's sentence, and the package's argument that would help. Refusals get theirs from the package, which knows
// what explanations remember.
inline std::string in_arguments(const Error& error) {
  std::string sentence = error.what();
  if (error.kind() != ErrorKind::input) return sentence;
  if (error.need() == Need::pool) sentence += "; give pool=";
  if (error.need() == Need::reference) sentence += "; give pool= (its mean is the default), baseline= or background=";
  if (error.need() == Need::data_folder) sentence += "; name its folder by folders= or ASSAY_DATA";
  return sentence;
}

}  // namespace assay::python
