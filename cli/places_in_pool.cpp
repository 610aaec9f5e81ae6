#include "cli/places_in_pool.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "assay/core/error.h"
#include "assay/data/neighbours.h"
#include "assay/data/split.h"
#include "assay/data/table.h"
#include "assay/model/text_columns.h"
#include "cli/file_lists.h"

namespace assay::cli {
namespace {

constexpr double kTestShare = 0.2;  // share of test rows in splits that Assay makes

bool same_source(const std::string& a, const std::string& b) {
  const auto data_set = [](const std::string& what) { return is_dataset(what.substr(0, what.find(':'))); };
  if (data_set(a) || data_set(b)) return a == b;
  return same_file(a, b);
}

bool same_row(const Table& all, size_t row, const Table& part, size_t part_row) {
  const auto same = [](float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  if (row < all.ids.size() && part_row < part.ids.size() && all.ids[row] != part.ids[part_row]) return false;
  return row < all.rows() && std::ranges::equal(all.values.row(row), part.values.row(part_row), same);
}

bool holds(const Table& all, const std::vector<size_t>& rows, const Table& part) {
  if (rows.size() != part.rows() || all.values.cols() != part.values.cols()) return false;
  for (size_t i = 0; i < rows.size(); i++) {
    if (!same_row(all, rows[i], part, i)) return false;
  }
  return true;
}

// Finds the rows of a part in the whole, in order. Of equal rows it takes the first.
std::vector<size_t> rows_in_order(const Table& all, const Table& part) {
  std::vector<size_t> rows;
  for (size_t i = 0; i < all.rows() && rows.size() < part.rows(); i++) {
    if (same_row(all, i, part, rows.size())) rows.push_back(i);
  }
  return rows;
}

// The rows of one part of a table, as indices in the whole. Tries the ways to split in turn until the rows agree: by
// label and seed; a data set's own split, with training rows first; any other, such as by patient.
std::vector<size_t> rows_of_part(TableArguments table, const Session& session) {
  const bool training = table.split == "train";
  const Table part = table.open(session);
  table.split = "all";
  const Table all = table.open(session);
  std::vector<float> labels(all.rows(), 0);
  if (all.label && all.columns[*all.label].kind == ColumnKind::categorical) {
    for (size_t i = 0; i < all.rows(); i++) labels[i] = all.values(i, *all.label);
  }
  RowSplit split = stratified_split(labels, kTestShare, session.context.seed);
  std::vector<size_t>& made = training ? split.train : split.test;
  if (holds(all, made, part)) return std::move(made);
  std::vector<size_t> own(part.rows());
  std::iota(own.begin(), own.end(), training ? size_t{0} : all.rows() - part.rows());
  if (!holds(all, own, part)) own = rows_in_order(all, part);
  if (!holds(all, own, part)) throw Error(ErrorKind::internal, "a part of a table is none of its rows");
  return own;
}

}  // namespace

std::vector<size_t> places_in_pool(const ModelRowsArguments& arguments, const ModelRows& rows, const Session& session) {
  const std::string& split = arguments.table.split;
  const std::string& pool_split = arguments.pool_split;
  if (rows.subject.pool == nullptr || rows.numbers.empty() || !same_source(arguments.table.what, arguments.pool))
    return {};
  if (split == pool_split) return rows.numbers;
  if (split != "all" && pool_split != "all") return {};  // training and test parts share no rows
  TableArguments part = arguments.table;
  part.split = split == "all" ? pool_split : split;
  declare_used_columns(columns_by_name(*rows.model), part.options);
  const std::vector<size_t> in_whole = rows_of_part(part, session);
  std::vector<size_t> own;
  if (split != "all") {
    for (const size_t row : rows.numbers) own.push_back(in_whole[row]);
    return own;
  }
  std::vector<size_t> in_part(*std::ranges::max_element(rows.numbers) + 1, kNoRow);
  for (size_t i = 0; i < in_whole.size(); i++) {
    if (in_whole[i] < in_part.size()) in_part[in_whole[i]] = i;
  }
  for (const size_t row : rows.numbers) own.push_back(in_part[row]);
  return own;
}

}  // namespace assay::cli
