// Any bytes as explanations in .npz and .npy: explanations whose parts fit together, or an assay::Error.
#include "assay/data/io/npz.h"
#include "assay/explain/io/explanations_npz.h"
#include "fuzz/explain/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes = assay::fuzz::bytes_of(data, size);
  assay::fuzz::explanations_or_error([&] { return assay::explanations_from_npz(assay::NpzFile("fuzz.npz", bytes)); });
  assay::fuzz::explanations_or_error([&] {
    return assay::explanations_from_array("fuzz.npy", assay::read_npy(*assay::memory_bytes("fuzz.npy", bytes)));
  });
  return 0;
}
