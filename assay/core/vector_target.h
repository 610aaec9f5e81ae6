// Which vector instructions the hot loops use.
//
// The binary holds several versions of each hot loop and uses the best that the machine can run. On one target, results
// are bitwise equal for any number of threads. Provenance names the target. Another machine repeats the results bit for
// bit if the target is pinned there, with the same binary and C library.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay {

// The target in use, as Highway names it: "AVX3", "AVX2", "SSE4", ...
std::string vector_target();

// The targets this machine can run, best first.
std::vector<std::string> vector_targets();

// Uses this target from now on, in the whole process. For the start of a program (ASSAY_VECTOR_TARGET) and for tests;
// never call it during a computation. An input error if the machine does not have it.
void pin_vector_target(std::string_view name);

}  // namespace assay
