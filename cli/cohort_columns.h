// The columns that `assay study --cohort` names.
#pragma once

#include <string>
#include <vector>

#include "assay/data/id_columns.h"
#include "assay/data/row_column.h"
#include "assay/study/find_cohorts.h"

namespace assay::cli {

// Throws an input error that lists the table's columns if a name is none of them, nor a word that names groups.
void check_cohort_names(const std::vector<std::string>& names, const Table& table);

// The groups that are wanted, of all rows of the table; each once. Names must have been checked.
CohortWish cohort_wish(const std::vector<std::string>& names, const TableCells& rows);

}  // namespace assay::cli
