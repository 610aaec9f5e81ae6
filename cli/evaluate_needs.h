// What criteria need of the files that are given, and which option adds what is missing.
#pragma once

#include <optional>
#include <string>

#include "assay/core/refusal.h"
#include "assay/evaluate/criterion.h"
#include "cli/evaluate_subject.h"

namespace assay::cli {

// What the criterion needs with these options.
Needs needs_of(const Spec& spec);

// Why the criterion cannot score the subject, as a sentence with the option to add; nothing when it can. Before
// join_rows it speaks of the arguments alone, afterwards also of labels and training.
std::optional<std::string> lacking(const Spec& spec, const EvaluatedFile& subject, const EvaluateArguments& arguments);

// A criterion's own reason against a subject, with the options that would help where the arguments lack them.
std::string with_advice(const Refusal& refusal, const EvaluateArguments& arguments);

// Whether what stands for absent features takes part in the scores.
bool uses_reference(const Spec& spec, const EvaluatedFile& subject);

}  // namespace assay::cli
