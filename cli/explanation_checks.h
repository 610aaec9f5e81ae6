// Whether explanations fit what they are said to be of. Each is an input error that names what does not.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/context.h"
#include "assay/data/dataset.h"
#include "assay/explain/explanations.h"
#include "assay/explain/reference.h"
#include "assay/explain/target.h"
#include "assay/model/model.h"
#include "cli/model_rows.h"

namespace assay::cli {

// Whether two values of the model are one, up to rounding: other machines, and float32 in tables. `largest`: of the
// values beside them, without sign.
bool same_value(double a, double b, double largest);
double largest_output(const Explanations& explanations);

// "row 3", or by its id.
std::string row_name(const std::vector<std::string>& ids, size_t row);

// Whether they are what an aggregator made, and of what, in words: "an aggregate of a and b".
bool is_aggregate(const Explanations& explanations);
std::string aggregate_in_words(const Explanations& explanations);

// The file's unit is one that we know, or unsaid.
void check_unit(const std::string& file, const Explanations& found);

// A model that `assay train` wrote takes its labels from the column that it was trained on: `option` names no other.
void check_labels(const ModelRows& rows, std::string_view option);

// The targets that the file names, as the model has them: a table lists only the classes that it has, in another order.
Targets own_targets(const std::string& file, const Explanations& found, const Model& model,
                    MatrixView<const float> rows);

// As many players, of the same names unless one side knows none, as arrays made elsewhere. `of`: where the names are
// from. `advice`: the end of the sentence.
void check_names(const std::string& file, const Explanations& found, const std::vector<std::string>& names,
                 std::string_view of, std::string_view advice = "");

// As many rows as the data, of the same ids where both have some.
void check_rows(const std::string& file, const Explanations& found, const Dataset& data);

// The same rows, players and targets as another file, as far as both say.
void check_same_rows(const std::string& file, const Explanations& found, const std::string& first,
                     const Explanations& expected);

// The explained values are the model's own, up to rounding; most slips show here: another model, other rows, another
// unit. Returns how many rows say no value. `advice`: the end of the sentence.
size_t check_outputs(const std::string& file, const Explanations& found, const Model& model, const Dataset& data,
                     const Targets& targets, std::string_view advice, const Context& context);

// What may be behind other rows, where a part of a table is in use (`split`, or "all"): the seed that chose it, for the
// end of a sentence; else nothing.
std::string other_split(const Explanations& found, std::string_view split, const Context& context);

// A note when explained values could not be checked for so many rows of a file that is no bare array and no aggregate,
// which may have none.
void note_unchecked(const std::string& file, const Explanations& found, size_t unsaid, std::vector<std::string>& notes);

// A sentence when the file's base values are not those of this reference.
std::optional<std::string> other_reference(const Explanations& found, const Model& model, const Dataset& data,
                                           const Targets& targets, const Reference& reference, const Context& context);

}  // namespace assay::cli
