// Any bytes as explanations (.npz, .npy, .json, .csv and the description inside an .npz) and as groups of columns:
// explanations whose parts fit together, or an assay::Error, nothing else. What was read can be written as JSON and
// read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "assay/core/error.h"
#include "assay/data/io/npz.h"
#include "assay/explain/io/explanations_json.h"
#include "assay/explain/io/explanations_meta.h"
#include "assay/explain/io/explanations_npz.h"
#include "assay/explain/io/explanations_table.h"
#include "assay/explain/players.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const assay::Explanations& read) {
  const size_t rows = read.rows();
  require(rows > 0 && read.players() > 0 && read.features.size() == read.players());
  require(read.base.size() == rows && read.output.size() == rows && read.gap.size() == rows);
  require(read.target.empty() || read.target.size() == rows);
  for (const uint32_t target : read.target) require(target < read.target_names.size());
  require(read.ids.empty() || read.ids.size() == rows);
  for (const assay::Matrix* errors : {&read.standard_error, &read.background_error}) {
    require(errors->empty() || (errors->rows() == rows && errors->cols() == read.players()));
  }
  const assay::Combination& made = read.combination;
  require(made.weights.empty() || made.weights.rows() == rows);
  require(made.antecedents.empty() || made.antecedents.size() == rows * made.weights.cols());
  for (const assay::RowMeasure& measure : made.measures) require(measure.values.size() == rows);
}

template <class Read>
void explanations_or_error(const Read& read) {
  try {
    const assay::Explanations first = read();
    check(first);
    const assay::Explanations second =
        assay::explanations_from_json("again.json", assay::explanations_json("again.json", first));
    check(second);
    require(second.rows() == first.rows() && second.features == first.features);
  } catch (const assay::Error&) {
  }
}

void check_players(std::string_view text) {
  try {
    const std::vector<std::string> names = {"a", "b", "c", "d"};
    const assay::Players players = assay::players_from_json("fuzz.json", text, names);
    require(players.columns() == names.size() && players.size() > 0 && players.size() <= names.size());
    for (const auto& columns : players.columns_of_players()) require(!columns.empty());
  } catch (const assay::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  explanations_or_error([&] { return assay::explanations_from_npz(assay::NpzFile("fuzz.npz", bytes)); });
  explanations_or_error([&] {
    return assay::explanations_from_array("fuzz.npy", assay::read_npy(*assay::memory_bytes("fuzz.npy", bytes)));
  });
  explanations_or_error([&] { return assay::explanations_from_json("fuzz.json", bytes); });
  explanations_or_error(
      [&] { return assay::explanations_from_csv([&] { return assay::memory_bytes("fuzz.csv", bytes); }, {}); });
  // The archive's CRC keeps changed text from getting this far.
  try {
    assay::Explanations explanations;
    assay::read_explanations_meta("fuzz.npz", bytes, explanations);
    assay::explanations_meta_text("fuzz.npz", explanations);
  } catch (const assay::Error&) {
  }
  check_players(bytes);
  return 0;
}
