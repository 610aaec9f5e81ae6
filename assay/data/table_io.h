// Tables from and to files, by extension: .csv .tsv .txt .psv .data, .npy, .npz, .idx and MNIST's names, .parquet,
// .feather; all of them also as .gz and .xz.
#pragma once

#include <string>

#include "assay/core/context.h"
#include "assay/data/io/csv.h"
#include "assay/data/table.h"

namespace assay {

// Options about text (delimiter, header, missing) are for CSV alone; label, id and kinds of columns are for every
// format. The path "-" is CSV on standard input.
Table read_table(const std::string& path, const TableOptions& options = {}, const Context& context = {});

// Refuses, before any work, an output that cannot be written: an unknown extension, a folder that is not there, a
// format whose plugin is missing.
void check_output(const std::string& path);

// For files of every kind: refuses a folder that is not there.
void check_output_folder(const std::string& path);

// Refuses options that only text files have.
void refuse_text_options(const std::string& where, const TableOptions& options);

// The options that concern every format (kinds of columns, label, id), applied to a table that was read without them.
void apply_options(Table& table, const TableOptions& options);

// Writes atomically: the path holds the old file or the new one, never half of one.
void write_table(const Table& table, const std::string& path, const Context& context = {});

}  // namespace assay
