// Any text as templates of reasons: texts for every kind of value, or an assay::Error.
#include "assay/explain/reasons/reason_texts.h"
#include "fuzz/harness.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::vector<std::string> kNames = {"a", "b"};
  assay::fuzz::succeeds([&] {
    const auto templates = assay::ReasonTemplates::from_json("fuzz.json", assay::fuzz::bytes_of(data, size), kNames);
    assay::Reasons reasons;
    reasons.rows = 1;
    reasons.features = kNames;
    reasons.list = {{.rank = 1, .player = 0, .attribution = -1}, {.rank = 2, .player = 1, .attribution = -0.5}};
    const std::vector<assay::ShownFeature> shown = {
        {.known = true,
         .values = {"{value}"},
         .numbers = {2},
         .missing = {false},
         .reference = "1",
         .reference_number = 1},
        {.known = true, .values = {"missing"}, .numbers = {NAN}, .missing = {true}}};
    assay::add_texts(reasons, shown, templates);
    assay::fuzz::require(reasons.list[0].value == "{value}");
  });
  return 0;
}
