// Reasons: for each row, the features that speak most against (or for) what is explained.
//
// A feature speaks against if its attribution is negative, so that it lowers the explained value, and for it if its
// attribution is positive. Of those that speak, the `top` strongest are the row's reasons. Attributions within the
// rounding of the row (4 x 2^-24 of its largest attribution, output or base value) speak in no direction, and those
// that differ by no more than that are ties.
//
// How sure a reason is:
//   certainty        share of replicates (explain/replicates.h) in which it is among the `top` of its row
//   order_certainty  share of replicates in which it stands at exactly this rank
// Ties share places: if three features tie for one place, each has a third of it. Where nothing is drawn (a fixed
// baseline, the user's own rows or the whole pool, and a method that samples nothing) the values themselves are the
// only replicate: certainty is 1 but for ties. Both are NaN if it is not known what another draw would give. Neither
// says anything about another model.
//
// Cost: rows x replicates x features.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/context.h"
#include "assay/explain/explanations.h"
#include "assay/explain/players.h"

namespace assay {

enum class ReasonDirection { against, favour };
// "against" or "for", as in tables and files of templates.
std::string_view direction_name(ReasonDirection direction);
// An input error for another word.
ReasonDirection direction_of(std::string_view word);

struct ReasonOptions {
  size_t top = 3;
  ReasonDirection direction = ReasonDirection::against;
  // Groups of features that make one reason, as players_from_json() makes them of the explanations' features.
  std::optional<Players> groups = {};
  // Features or groups that are never named. The next one takes their place.
  std::vector<std::string> exclude = {};
};

struct Reason {
  size_t row = 0;
  size_t rank = 0;    // from 1; 0: the row has no reason that may be named, and `withheld` says which may not
  size_t player = 0;  // index into Reasons::features; undefined for rank 0
  double attribution = NAN;
  double share = NAN;  // attribution / (output - base); NaN if the row's attributions do not add up to that
  double certainty = NAN;
  double order_certainty = NAN;
  double agreement = NAN;             // share of the other explanations that have it among their `top`
  std::vector<size_t> withheld = {};  // excluded features that would be among the `top` of this row
  std::string value = {};             // for people to read; add_texts() fills it
  std::string text = {};              // one sentence; add_texts() fills it
};

struct Reasons {
  size_t rows = 0;
  size_t top = 0;
  ReasonDirection direction = ReasonDirection::against;
  std::string method;
  std::vector<std::string> features;  // features and groups
  std::optional<Players> groups;      // as in the options
  std::vector<std::string> ids;       // of the rows, where given
  bool row_numbers = false;           // ids are numbers of rows that Assay gave
  std::vector<Reason> list;           // by row, then by rank
  std::vector<std::string> notes;  // what certainty, share and agreement are, and why some are NaN; one sentence each
  bool certainty_known = false;
  size_t replicates = 0;

  // What the column that names rows is called: "row" for numbers, else "id".
  std::string row_column() const { return ids.empty() || row_numbers ? kRowNumbers : "id"; }
  // The row's id, or its number from 1.
  std::string row_name(size_t row) const;
};

// others: explanations of the same rows and features by other methods, for `agreement`; it is NaN for fewer than two.
// An input error if they do not fit, and for unknown names in `exclude`.
Reasons find_reasons(const Explanations& explanations, std::span<const Explanations* const> others,
                     const ReasonOptions& options, const Context& context);

// The rows with a reason whose certainty is below `level`, ascending. None where certainty is not known.
std::vector<size_t> uncertain_rows(const Reasons& reasons, double level);

}  // namespace assay
