// Two texts as files that `assay verify` compares; the first NUL byte separates them. A text must equal itself. Two
// texts give a sentence or an assay::Error.
#include <algorithm>

#include "assay/archive/verify.h"
#include "fuzz/harness.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes = assay::fuzz::bytes_of(data, size);
  const size_t end = std::min(bytes.find('\0'), size);
  const std::string_view first = bytes.substr(0, end), second = bytes.substr(std::min(end + 1, size));
  using assay::HeldTo;
  for (const HeldTo by : {HeldTo::exact, HeldTo::other_target, HeldTo::other_version}) {
    assay::fuzz::succeeds([&] { assay::json_difference("fuzz.json", first, second, by); });
    assay::fuzz::succeeds([&] { assay::fuzz::require(assay::json_difference("fuzz.json", first, first, by).empty()); });
  }
  assay::fuzz::succeeds([&] { assay::lines_difference(first, second); });
  assay::fuzz::require(assay::lines_difference(first, first).empty());
  return 0;
}
