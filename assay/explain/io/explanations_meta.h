// What explanations hold besides their arrays, as JSON: the array `meta` of an NPZ file, the member "meta" of a JSON
// file.
//
//   {"assay": "explanations", "method", "options": {name: value}, "seed", "unit", "target", "model", "data",
//    "part", "players", "reference", "draw", "versions": {"assay", "vector_target"}, "evaluations", "sampled", "notes":
//    [...], "id_name", "row_numbers", "columns": [[...], ...], "aggregate": {"members": [...], "relative"}}
//
// "draw" and "part" are there only where they are known, "row_numbers" only where "id_name" is "row", "columns" only
// where a player is not the column of its own name. "aggregate" is there only for aggregates; then "method" is the
// aggregator. Nothing in it changes from run to run: it has no times, and no folders except those the user wrote.
#pragma once

#include <string>
#include <string_view>

#include "assay/explain/explanations.h"

namespace assay {

// An input error that starts with `where` when a text is not UTF-8.
std::string explanations_meta_text(std::string_view where, const Explanations& explanations);

// Fills provenance, evaluations, notes and id_name from a text that is not trusted. A value of the wrong kind is an
// input error that starts with `where`. Fields that the text does not have stay as they are.
void read_explanations_meta(std::string_view where, std::string_view text, Explanations& explanations);

// Whether the text claims to be from explanations_meta_text. Files of other programs may have a `meta` of their own.
bool is_explanations_meta(std::string_view text);

}  // namespace assay
