// What an aggregate is made of, as arrays of an NPZ file: weights (float32, rows x members or antecedents), antecedents
// (int64, of the same shape), measures (float64, rows x names) and measure_names. The names of the members are in the
// meta text (explanations_meta.h); a file whose meta names none is no aggregate, whatever arrays it has.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "assay/data/io/npy.h"
#include "assay/data/io/npz.h"
#include "assay/explain/explanations.h"

namespace assay {

void add_combination_arrays(const std::string& where, const Explanations& explanations,
                            std::vector<std::pair<std::string, NpyArray>>& arrays);
// An input error names the array that does not fit.
void read_combination_arrays(const NpzFile& file, Explanations& explanations);

}  // namespace assay
