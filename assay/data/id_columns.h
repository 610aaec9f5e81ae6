// Columns that only name rows, such as a customer's number: as a feature they would be learnt by heart.
//
// A column is taken for names if no cell is missing, no two of a table are equal, and they are texts, or consecutive
// whole numbers: from first to last without a gap, in any order, in each of two tables or in both together. A number
// with a fraction, or with gaps, may be a measurement and is never taken. The pool must have at least 20 rows: a few
// cells may be different by chance.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "assay/data/kept_doubles.h"
#include "assay/data/table.h"

namespace assay {

// A table and, for numbers beyond float32, its doubles; null: it has none.
struct TableCells {
  const Table* table = nullptr;
  const KeptDoubles* doubles = nullptr;
};

// Names of such columns that both tables have, in the order of the rows' table; without labels, and without those for
// which `taken` is true. None if a table has names of rows already.
std::vector<std::string> id_columns(const TableCells& rows, const TableCells& pool,
                                    const std::function<bool(const std::string&)>& taken);

// `found`, if a model of so many columns, which takes them by position, plainly does without these columns of the rows'
// table; else none. Not plain if the number of columns does not fit, or if a column of numbers is among them and no
// label is known: then any other column may be the one too many.
std::vector<std::string> ids_beside_positions(std::vector<std::string> found, const Table& rows, size_t model_columns);

// A sentence for each column that is like one, if the pool is too small to take it for one: a network that is trained
// on it learns it by heart. None if the tables have fewer than 10 rows together, where few cells are equal anyway.
std::vector<std::string> notes_on_possible_ids(const TableCells& rows, const TableCells& pool,
                                               const std::function<bool(const std::string&)>& taken);

// Takes these columns out of a table that has them; the first names the rows. doubles: as above.
void take_ids(Table& table, const KeptDoubles* doubles, const std::vector<std::string>& names);

// A sentence for each column.
std::vector<std::string> notes_on_ids(const std::vector<std::string>& names);

}  // namespace assay
