// Any text as manifest.json: names that stay inside of the folder, written again to the same bytes, or an assay::Error.
#include "assay/archive/manifest.h"

#include <string>

#include "fuzz/harness.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using assay::fuzz::require;
  assay::fuzz::succeeds([&] {
    const assay::Manifest manifest = assay::manifest_from_json("fuzz.json", assay::fuzz::bytes_of(data, size));
    for (const auto& [name, hash] : manifest.outputs) {
      require(!name.empty() && name[0] != '/' && hash.size() == 64);
      require(('/' + name + '/').find("/../") == std::string::npos);
    }
    const std::string written = assay::manifest_json(manifest.inputs, manifest.outputs);
    const assay::Manifest again = assay::manifest_from_json("again.json", written);
    require(assay::manifest_json(again.inputs, again.outputs) == written);
  });
  return 0;
}
