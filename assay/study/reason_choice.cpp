#include "assay/study/reason_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include "assay/core/error.h"
#include "assay/core/table_text.h"
#include "assay/core/text.h"

namespace assay {
namespace {

double length_of(std::span<const float> row) {
  double squares = 0;
  for (const float value : row) squares += static_cast<double>(value) * value;
  return std::sqrt(squares);
}

// Over the rows where both have a direction; infinite if there are none.
double mean_distance(const Explanations& a, const Explanations& b) {
  double sum = 0;
  double rows = 0;
  for (size_t r = 0; r < std::min(a.rows(), b.rows()); r++) {
    const double size_a = length_of(a.values.row(r));
    const double size_b = length_of(b.values.row(r));
    if (!(size_a > 0) || !(size_b > 0) || !std::isfinite(size_a) || !std::isfinite(size_b)) continue;
    double squares = 0;
    for (size_t j = 0; j < a.players(); j++) {
      squares += std::pow(a.values(r, j) / size_a - b.values(r, j) / size_b, 2);
    }
    sum += std::sqrt(squares);
    rows += 1;
  }
  return rows > 0 ? sum / rows : std::numeric_limits<double>::infinity();
}

bool is_candidate(const Study& study, const Advice& advice, size_t entry) {
  // An alias has the same values as the entry that speaks for it, and that one's faithfulness.
  return !study.entries[entry].aggregate() && advice.entries[entry].complete &&
         advice.entries[advice.entries[entry].alias_of].faithful == Faithful::yes;
}

std::optional<size_t> nearest_candidate(const Study& study, const Advice& advice, size_t to) {
  std::optional<size_t> nearest;
  double least = std::numeric_limits<double>::infinity();
  for (size_t e = 0; e < study.entries.size(); e++) {
    if (!is_candidate(study, advice, e)) continue;
    const double apart = mean_distance(study.entries[e].explanations, study.entries[to].explanations);
    if (!nearest || apart < least) {
      nearest = e;
      least = apart;
    }
  }
  return nearest;
}

ReasonChoice named_choice(const Study& study, std::string_view name) {
  std::vector<std::string> known;
  for (size_t e = 0; e < study.entries.size(); e++) {
    const StudyEntry& entry = study.entries[e];
    if (entry.name == name && entry.aggregate()) {
      fail_argument("explanation",
                    fmt::format(": expected a method, found the aggregate {}, which cannot be made again "
                                "with another background",
                                in_quotes(name)));
    }
    if (entry.name == name) return {e, fmt::format("reasons are by {}, as asked", short_name(entry.name))};
    if (!entry.aggregate()) known.push_back(entry.name);
  }
  fail_argument("explanation", fmt::format(": expected {}, found {}{}", joined(known, "or"), in_quotes(name),
                                           suggestion(name, known)));
}

}  // namespace

ReasonChoice choose_for_reasons(const Study& study, const Advice& advice, std::string_view name) {
  if (!name.empty()) return named_choice(study, name);
  if (!advice.overall) {
    fail_argument("explanation", ": the study recommends none, so that one of its methods must be named");
  }
  const size_t entry = advice.overall->entry;
  const std::string own = short_name(study.entries[entry].name);
  const bool aggregate = study.entries[entry].aggregate();
  if (!aggregate && advice.entries[entry].complete) {
    return {entry, fmt::format("reasons are by {}, which the study recommends", own)};
  }
  const std::string_view lack = aggregate ? "is an aggregate" : "does not add up to the prediction";
  if (const auto nearest = nearest_candidate(study, advice, entry)) {
    return {*nearest, fmt::format("reasons are by {}, the nearest faithful method that adds up: {}, which the study "
                                  "recommends, {}",
                                  short_name(study.entries[*nearest].name), own, lack)};
  }
  if (aggregate) {
    fail_argument("explanation", fmt::format(": the study recommends {}, an aggregate, and has no faithful method that "
                                             "adds up, so that one of its methods must be named",
                                             in_quotes(study.entries[entry].name)));
  }
  return {entry, fmt::format("reasons are by {}, which the study recommends and which {}", own, lack)};
}

std::vector<const Explanations*> faithful_methods(const Study& study, const Advice& advice) {
  std::vector<const Explanations*> found;
  for (size_t e = 0; e < study.entries.size(); e++) {
    if (advice.entries[e].alias_of != e || !is_candidate(study, advice, e)) continue;
    found.push_back(&study.entries[e].explanations);
  }
  return found;
}

}  // namespace assay
