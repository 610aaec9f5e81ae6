// Whether explanations fit what they are said to be of. Each is an input error that names what does not.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "assay/core/context.h"
#include "assay/data/dataset.h"
#include "assay/explain/explanations.h"
#include "assay/explain/target.h"
#include "assay/model/model.h"

namespace assay::cli {

// As many players, of the same names unless `found` knows none, as arrays made elsewhere. `of`: where the names are
// from.
void check_names(const std::string& file, const Explanations& found, const std::vector<std::string>& names,
                 std::string_view of);

// As many rows as the data, of the same ids where both have some.
void check_rows(const std::string& file, const Explanations& found, const Dataset& data);

// The same rows, players and targets as another file, as far as both say.
void check_same_rows(const std::string& file, const Explanations& found, const std::string& first,
                     const Explanations& expected);

// The explained values are the model's own, up to rounding; most slips show here: another model, other rows, another
// unit.
void check_outputs(const std::string& file, const Explanations& found, const Model& model, const Dataset& data,
                   const Targets& targets, const Context& context);

}  // namespace assay::cli
