#include "assay/model/output_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "assay/core/budget.h"
#include "assay/model/ops/zip_map.h"

namespace assay {

Table output_table(const Graph& graph, const std::vector<std::string>& fetches, const RowRunner& outputs,
                   MatrixView<const float> rows, const Context& context) {
  Table table;
  table.source = graph.name();
  Spending spending(context, graph.name());
  std::vector<size_t> first_column;
  for (size_t f = 0; f < fetches.size(); f++) {
    first_column.push_back(table.columns.size());
    const size_t producer = graph.producer_of(graph.find_value(fetches[f]));
    std::vector<std::string> keys;
    if (producer != kNoValue && graph.nodes()[producer].onnx.op_type == "ZipMap") {
      keys = zip_map_keys(graph.nodes()[producer].onnx);
    }
    const size_t width = outputs.width(f);
    const bool text = outputs.fetched(f).type == OnnxElement::string;
    spending.take_bytes(uint64_t{width} * (sizeof(Column) + fetches[f].size()));
    for (size_t c = 0; c < width; c++) {
      std::string name = fetches[f];
      if (keys.size() == width) {
        name = fmt::format("{}.{}", name, keys[c]);
      } else if (width > 1) {
        name = fmt::format("{}.{}", name, c);
      }
      table.columns.push_back({std::move(name), text ? ColumnKind::categorical : ColumnKind::numeric});
    }
  }
  table.values = Matrix(rows.rows(), table.columns.size());
  std::mutex mutex;  // of the levels of text
  // A whole number that float32 cannot hold is a name, not an amount: its column becomes text.
  std::vector<bool> named(table.columns.size(), false);
  std::map<size_t, std::unordered_map<std::string, size_t>> text_codes;  // by column
  std::vector<std::vector<int64_t>> exact(table.columns.size());
  outputs.run(rows, context, [&](const Block& block, Workspace& workspace) {
    workspace.forward(context);
    for (size_t f = 0; f < fetches.size(); f++) {
      const size_t width = outputs.width(f);
      with_element(outputs.fetched(f).type, [&]<class T>() {
        const T* from = static_cast<const T*>(workspace.fetched(f));
        for (size_t r = block.begin; r < block.end; r++) {
          for (size_t c = 0; c < width; c++, from++) {
            float& to = table.values(r, first_column[f] + c);
            if constexpr (std::is_same_v<T, std::string>) {
              const std::lock_guard lock(mutex);
              std::vector<std::string>& levels = table.columns[first_column[f] + c].levels;
              const auto [known, fresh] = text_codes[first_column[f] + c].try_emplace(*from, levels.size());
              to = static_cast<float>(known->second);
              if (fresh) levels.push_back(*from);
            } else {
              to = static_cast<float>(*from);
              if constexpr (std::is_same_v<T, int64_t>) {
                const std::lock_guard lock(mutex);
                const size_t column = first_column[f] + c;
                if (exact[column].empty()) exact[column].resize(rows.rows());
                exact[column][r] = *from;
                if (std::abs(static_cast<double>(*from)) > 0x1p24) named[column] = true;
              }
            }
          }
        }
      });
    }
  });
  for (size_t c = 0; c < table.columns.size(); c++) {
    if (!named[c]) continue;
    table.columns[c].kind = ColumnKind::categorical;
    std::map<int64_t, size_t> codes;
    for (size_t r = 0; r < rows.rows(); r++) {
      const auto [at, added] = codes.emplace(exact[c][r], codes.size());
      if (added) table.columns[c].levels.push_back(fmt::format("{}", exact[c][r]));
      table.values(r, c) = static_cast<float>(at->second);
    }
  }
  // Levels came in the order in which threads met them.
  for (size_t c = 0; c < table.columns.size(); c++) {
    if (table.columns[c].kind == ColumnKind::categorical) sort_levels(table, c);
  }
  return table;
}

}  // namespace assay
