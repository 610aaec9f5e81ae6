// Any bytes as CSV: a table or an assay::Error, nothing else. The first byte chooses the options.
#include "assay/data/io/csv.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "assay/core/error.h"
#include "assay/data/describe.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  assay::TableOptions options;
  constexpr char kDelimiters[] = {'\0', ',', ';', '\t'};
  options.delimiter = kDelimiters[data[0] & 3];
  options.header = static_cast<assay::TableOptions::Header>((data[0] >> 2 & 3) % 3);
  if ((data[0] & 12) == 12) {
    options.names = {"a", "b"};
    options.skip_lines = 1;
    options.delimiter = '|';
  }
  if ((data[0] & 16) != 0) options.label = "-1";
  if ((data[0] & 32) != 0) options.id = "1";
  if ((data[0] & 64) != 0) options.numeric = {"2"};
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  try {
    const assay::Table table = assay::read_csv([&] { return assay::memory_bytes("fuzz", text); }, options);
    if (assay::describe(table).size() != table.columns.size()) std::abort();
    if (table.values.cols() != table.columns.size()) std::abort();
  } catch (const assay::Error&) {
  }
  return 0;
}
