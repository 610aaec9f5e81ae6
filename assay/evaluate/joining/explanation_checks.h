// Whether explanations fit what they are said to be of. Each is an input error that names what does not.
//
// `file` is what explanations are called in messages: the file that they came from.
#pragma once

#include <cstddef>
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

namespace assay {

// Whether two values of the model are one, up to rounding: other machines, and float32 in tables. `largest`: of the
// values beside them, without sign.
bool same_explained_value(double a, double b, double largest);
double largest_output(const Explanations& explanations);

// "row 3", or by its id.
std::string row_in_words(const std::vector<std::string>& ids, size_t row);

// The file's unit is one that we know, or unsaid.
void check_explained_unit(const std::string& file, const Explanations& found);

// The targets that the file names, as the model has them: a table lists only the classes that it has, in another order.
Targets named_targets(const std::string& file, const Explanations& found, const Model& model,
                      MatrixView<const float> rows);

// As many players, of the same names unless one side knows none, as arrays made elsewhere. `of`: where the names are
// from. `advice`: the end of the sentence.
void check_player_names(const std::string& file, const Explanations& found, const std::vector<std::string>& names,
                        std::string_view of, std::string_view advice = "");

// As many rows as the data, of the same ids where both have some. `advice`: the end of the sentence on their number.
void check_explained_rows(const std::string& file, const Explanations& found, const Dataset& data,
                          std::string_view advice = "");

// The same rows, players and targets as another file, as far as both say.
void check_explained_alike(const std::string& file, const Explanations& found, const std::string& first,
                           const Explanations& expected);

// The explained values are the model's own, up to rounding; most slips show here: another model, other rows, another
// unit. Returns how many rows say no value. `advice`: the end of the sentence.
size_t check_explained_values(const std::string& file, const Explanations& found, const Model& model,
                              const Dataset& data, const Targets& targets, std::string_view advice,
                              const Context& context);

// A sentence when explained values could not be checked for so many rows of a file that is no bare array. An aggregate
// may have none (members that are bare, or differ, leave it without): there it means nothing.
std::optional<std::string> unchecked_note(const std::string& file, const Explanations& found, size_t unsaid);

// A sentence when the file's base values are not those of this reference.
std::optional<std::string> other_reference(const Explanations& found, const Model& model, const Dataset& data,
                                           const Targets& targets, const Reference& reference, const Context& context);

}  // namespace assay
