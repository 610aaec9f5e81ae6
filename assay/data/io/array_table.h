// Tables from and to array files: NPY, NPZ and IDX.
//
// The first dimension of an array becomes the rows, the product of all others the columns. With more than two
// dimensions, item_shape keeps those of a row. Columns of NPY and IDX are named x1, x2, ...
//
// An NPZ written here holds `values` (float32), `features` (names), `meta` (JSON: kinds, levels, label, id name, item
// shape) and `ids`, and reads back as the same table. In any other NPZ the values are the array named values, x, X or
// data, or else the only numeric array of two or more dimensions; an array named y, labels, label or target with as
// many rows becomes a last column "label"; `features` names the columns when there is one unique name for each.
#pragma once

#include <string>
#include <string_view>

#include "assay/data/io/bytes.h"
#include "assay/data/kept_doubles.h"
#include "assay/data/table.h"

namespace assay {

// doubles: as in TableOptions.
Table read_npy_table(ByteSource& source, KeptDoubles* doubles = nullptr);
Table read_idx_table(ByteSource& source);
Table read_npz_table(const std::string& path, const Context& context = {}, KeptDoubles* doubles = nullptr);
// An NPZ file in memory; name is for messages.
Table read_npz_table(std::string name, std::string_view bytes);

// Numbers alone: names and ids are not kept, and a categorical column is an input error. Rows that are images get their
// dimensions back.
void write_npy_table(const Table& table, const std::string& path, const Context& context = {});
// Values are written as bytes if all are whole numbers from 0 to 255, else as float32. A table of one column is written
// with one dimension, as labels are.
void write_idx_table(const Table& table, const std::string& path, const Context& context = {});
// Writes everything in the table but its source. Not compressed, so that it can be read in place, unless the name ends
// in .npz.gz.
void write_npz_table(const Table& table, const std::string& path, const Context& context = {});

}  // namespace assay
