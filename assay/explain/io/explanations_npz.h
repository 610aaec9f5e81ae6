// Explanations from and to NPZ: the arrays values (float32, rows x features), base, output, gap (float64), target
// (int64), target_names, features, ids (text), stderr and background_stderr (float32), replicates
// (float32, rows x (count * features)), meta (explanations_meta.h), and
// those of an aggregate (combination_npz.h).
//
// stderr is always written, NaN where the method has no sampling error; background_stderr, replicates
// and ids only if there are some. In files made elsewhere, the values are the array of that name, or the only array.
// Other arrays are optional, but must fit.
#pragma once

#include <string>

#include "assay/core/context.h"
#include "assay/data/io/npy.h"
#include "assay/data/io/npz.h"
#include "assay/explain/explanations.h"

namespace assay {

Explanations explanations_from_npz(const NpzFile& file);
// One array of attributions alone; features are named 0, 1, ...
Explanations explanations_from_array(const std::string& where, const NpyArray& array);
void write_explanations_npz(const Explanations& explanations, const std::string& path, const Context& context);

}  // namespace assay
