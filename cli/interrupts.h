// Ctrl-C and requests to end (SIGINT, SIGTERM, SIGHUP).
//
// The first signal asks the library to stop, so that it can clean up. The second ends the program at once. A signal
// interrupts system calls that wait. One that comes just before such a call would be missed, so from then on a timer
// interrupts calls again and again.
#pragma once

#include <atomic>
#include <string_view>

namespace assay::cli {

// Installs the handlers. Signals that are ignored already (nohup, a background job) stay ignored.
void heed_interrupts();

// Whether a signal came; the library polls it.
const std::atomic<bool>& interrupted();

// Writes a line to stderr. Never throws. Once a signal came, does not wait for a blocked stderr.
void tell(std::string_view line) noexcept;

}  // namespace assay::cli
