// Checks that explanations fit the model, rows and players that they are said to be of. A check that fails is an input
// error that names what does not fit.
//
// `file` is the name of the explanations in messages: the file that they came from.
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

// Whether two values of the model are equal up to the rounding of other machines and of float32 tables. `largest`: the
// largest |value| of all rows and references, so that a single row near 0 may have the rounding of what cancels in it.
bool same_explained_value(double a, double b, double largest);
double largest_output(const Explanations& explanations);

// The measure of an aggregate of antecedents that holds the weighted mean of their explained values.
inline constexpr std::string_view kAntecedentsOutput = "antecedents_output";
// Whether the explained values are those of the rows themselves. Older files of aggregates of antecedents have those of
// the antecedents instead.
bool has_own_outputs(const Explanations& explanations);

// "row 3", or by its id.
std::string row_in_words(const std::vector<std::string>& ids, size_t row);

// The file's unit is a known one, or the file has none.
void check_explained_unit(const std::string& file, const Explanations& found);

// The file's targets by the model's numbering: a table lists only the classes that occur in it, in its own order.
Targets named_targets(const std::string& file, const Explanations& found, const Model& model,
                      MatrixView<const float> rows);

// Whether these are names of players. Arrays made elsewhere have numbers instead.
bool are_names(const std::vector<std::string>& players);

// The file has as many players, with the same names (not checked if one side has none, as arrays made elsewhere). `of`:
// where the names are from. `advice`: the end of the error message.
void check_player_names(const std::string& file, const Explanations& found, const std::vector<std::string>& names,
                        std::string_view of, std::string_view advice = "");

// As many rows as the data, with the same ids if both have ids. `advice`: the end of the message on the number of rows.
void check_explained_rows(const std::string& file, const Explanations& found, const Dataset& data,
                          std::string_view advice = "");

// The same explained values as another file, where both have them. Other rows or another model show here, where names
// do not tell.
void check_same_outputs(const std::string& file, const Explanations& found, const std::string& first,
                        const Explanations& expected);

// The same rows, players, targets and, in the same unit, explained values as another file, where both have them.
// Explained values are not compared between models of different names.
void check_explained_alike(const std::string& file, const Explanations& found, const std::string& first,
                           const Explanations& expected);

// The explained values are those of the model, up to rounding. This finds most mistakes: another model, other rows,
// another unit. Returns how many rows have no explained value. `advice`: the end of the error message.
size_t check_explained_values(const std::string& file, const Explanations& found, const Model& model,
                              const Dataset& data, const Targets& targets, std::string_view advice,
                              const Context& context);

// A note if `unsaid` rows had no explained value to check. Nothing for arrays made elsewhere, which never have any.
std::optional<std::string> unchecked_note(const std::string& file, const Explanations& found, size_t unsaid);

// A note if the file's base values are not those of this reference.
std::optional<std::string> other_reference(const Explanations& found, const Model& model, const Dataset& data,
                                           const Targets& targets, const Reference& reference, const Context& context);

}  // namespace assay
