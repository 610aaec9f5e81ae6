// Any bytes as the file of a prepared explainer: one whose parts fit together and that is written again to the same
// JSON, or an assay::Error.
#include "assay/archive/explainer_file.h"

#include "assay/archive/io/explainer_json.h"
#include "fuzz/harness.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using assay::fuzz::require;
  const std::string_view bytes = assay::fuzz::bytes_of(data, size);
  const auto check = [](const assay::SavedExplainer& saved) {
    const size_t columns = saved.columns.feature_names.size();
    const std::string written = assay::explainer_json("written", saved);
    assay::SavedExplainer again;
    assay::read_explainer_json("again", written, again);
    require(columns == again.columns.feature_names.size() && saved.method.options == again.method.options);
    require(saved.texts == again.texts && saved.front_end == again.front_end);
  };
  assay::fuzz::succeeds([&] {
    const assay::SavedExplainer saved = assay::read_explainer(assay::NpzFile("fuzz.npz", bytes));
    require(saved.players.columns() == saved.columns.feature_names.size());
    require(saved.reference.rows.empty() || saved.reference.rows.cols() == saved.players.columns());
    check(saved);
  });
  // The JSON alone, which the archive's checksums would hide.
  assay::fuzz::succeeds([&] {
    assay::SavedExplainer saved;
    assay::read_explainer_json("fuzz.json", bytes, saved);
    check(saved);
  });
  return 0;
}
