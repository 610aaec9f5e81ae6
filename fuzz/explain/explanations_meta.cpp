// Any text as what an .npz file of explanations says about them: read and written again, or an assay::Error. A target
// of its own, because the archive's CRC keeps changed text from getting this far.
#include "assay/explain/io/explanations_meta.h"

#include "assay/explain/explanations.h"
#include "fuzz/harness.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  assay::fuzz::succeeds([&] {
    assay::Explanations read;
    assay::read_explanations_meta("fuzz.npz", assay::fuzz::bytes_of(data, size), read);
    const std::string written = assay::explanations_meta_text("fuzz.npz", read);
    assay::Explanations again;
    assay::read_explanations_meta("again.npz", written, again);
    assay::fuzz::require(assay::explanations_meta_text("again.npz", again) == written);
  });
  return 0;
}
