// What criteria need, whether the given files have it, and which option adds what is missing.
#pragma once

#include <optional>
#include <string>

#include "assay/evaluate/criterion.h"
#include "cli/evaluate_subject.h"

namespace assay::cli {

// What the criterion needs with these options.
Needs needs_of(const Spec& spec);

// Why the criterion cannot score the subject: a sentence with the option to add. Nothing if it can. Before join_rows it
// looks only at the arguments, afterwards also at labels and training.
std::optional<std::string> lacking(const Spec& spec, const EvaluatedFile& subject, const EvaluateArguments& arguments);

// Whether the scores depend on the reference for absent features.
bool uses_reference(const Spec& spec, const EvaluatedFile& subject);

}  // namespace assay::cli
