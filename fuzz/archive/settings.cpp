// Any text as settings.json: settings that are written again to the same bytes, or an assay::Error.
#include <string>

#include "assay/archive/study_settings.h"
#include "fuzz/harness.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  assay::fuzz::succeeds([&] {
    const auto settings = assay::settings_from_json("fuzz.json", std::string(assay::fuzz::bytes_of(data, size)));
    const std::string written = assay::settings_json(settings);
    assay::fuzz::require(assay::settings_json(assay::settings_from_json("again.json", written)) == written);
  });
  return 0;
}
