// Which vector instructions the hot loops use.
//
// One binary carries several versions of each hot loop and picks the best the machine has. With one target results are
// bitwise equal on any number of threads; provenance names it, and pinning it lets another machine repeat them (with
// the same binary and C library).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay {

// The target in use, as Highway names it: "AVX3", "AVX2", "SSE4", ...
std::string vector_target();

// The targets this machine can run, best first.
std::vector<std::string> vector_targets();

// From now on uses this target in the whole process. For the start of a program (ASSAY_TARGET) and for tests, before or
// between computations. An input error when the machine does not have it.
void pin_vector_target(std::string_view name);

}  // namespace assay
