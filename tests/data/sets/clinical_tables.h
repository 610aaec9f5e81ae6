// Miniature clinical tables written to a folder and loaded as a data set, and a look at the result by names.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>

#include "assay/core/error.h"
#include "assay/data/datasets.h"

namespace assay {

using Tables = std::map<std::string, std::string>;  // file name to text

// Writes the tables into a folder of their own and loads the set from there.
inline Table load_tables(const std::string& spec, const std::string& folder, const Tables& tables) {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  const auto root = std::filesystem::path(::testing::TempDir()) / (std::string("assay_clinical_") + test->name());
  std::filesystem::remove_all(root);
  std::filesystem::create_directories(root / folder);
  for (const auto& [name, text] : tables) std::ofstream(root / folder / name) << text;
  DatasetRequest request;
  request.data_dirs = {root.string()};
  Table table = load_dataset(spec, request);
  std::filesystem::remove_all(root);
  return table;
}

inline std::string load_error(const std::string& spec, const std::string& folder, const Tables& tables) {
  try {
    load_tables(spec, folder, tables);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.what();
  }
  return "no error";
}

inline float cell(const Table& table, const std::string& id, const std::string& column) {
  const auto row = std::ranges::find(table.ids, id);
  if (row == table.ids.end()) throw std::runtime_error("no row " + id);
  return table.values(static_cast<size_t>(row - table.ids.begin()),
                      find_column(table.source, column_names(table), column));
}

inline std::string level(const Table& table, const std::string& id, const std::string& column) {
  const float code = cell(table, id, column);
  if (std::isnan(code)) return "";
  return table.columns[find_column(table.source, column_names(table), column)].levels[static_cast<size_t>(code)];
}

inline size_t present(const Table& table, const std::string& column) {
  const size_t j = find_column(table.source, column_names(table), column);
  size_t count = 0;
  for (size_t i = 0; i < table.rows(); ++i) count += std::isnan(table.values(i, j)) ? 0 : 1;
  return count;
}

inline size_t septic_rows(const Table& table) {
  size_t count = 0;
  for (size_t i = 0; i < table.rows(); ++i) count += table.values(i, *table.label) == 1 ? 1 : 0;
  return count;
}

inline DatasetInfo dataset_info(const std::string& name) {
  for (auto& known : list_datasets()) {
    if (known.name == name) return known;
  }
  throw std::runtime_error("no data set " + name);
}

}  // namespace assay
