// Ctrl-C and requests to end.
//
// The first one asks the library to stop, so that it can clean up; a second one ends the program at once. No call of
// the system outlives the first one by much: what it does not interrupt, because it came just before the call began, a
// timer interrupts again and again from then on.
#pragma once

#include <atomic>
#include <string_view>

namespace assay::cli {

// From now on. What the caller told us to ignore (nohup, a background job) stays ignored.
void heed_interrupts();

// Whether one came: for the library to look at.
const std::atomic<bool>& interrupted();

// A line on stderr, for which nothing is waited for ever and nothing thrown.
void tell(std::string_view line) noexcept;

}  // namespace assay::cli
