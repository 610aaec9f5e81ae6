#include "assay/explain/reasons/reasons.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "assay/core/error.h"
#include "assay/core/parallel.h"
#include "assay/core/table_text.h"
#include "assay/core/text.h"
#include "assay/explain/reasons/standing.h"
#include "assay/explain/replicates.h"

namespace assay {
namespace {

// Of the largest number of a row: a few roundings of float32.
constexpr double kRoundingOfRow = 4 * 0x1p-24;
// A row whose attributions miss the distance by less than this share of it adds up.
constexpr double kCompleteGap = 1e-3;
// Likewise by less than this share of the attributions' sizes: rounding.
constexpr double kRoundingGap = 1e-5;

// The features of one file as reasons see them: summed by group, and positive if they speak in the direction.
class Strengths {
 public:
  Strengths(const Explanations& of, const ReasonOptions& options)
      : of_(of),
        sign_(options.direction == ReasonDirection::against ? -1.0 : 1.0),
        groups_(options.groups ? &*options.groups : nullptr),
        sums_(groups_ != nullptr ? groups_->size() : of.players()) {}

  size_t size() const { return sums_.size(); }

  // Valid until the next call.
  std::span<const double> of_row(size_t row) { return summed(of_.values.row(row)); }
  std::span<const double> of_replicate(size_t row, size_t which) { return summed(of_.replicate(row, which)); }

  double rounding(size_t row) const {
    double largest = 0;
    for (const double each : of_.values.row(row)) {
      if (std::isfinite(each)) largest = std::max(largest, std::fabs(each));
    }
    for (const double each : {of_.output[row], of_.base[row]}) {
      if (std::isfinite(each)) largest = std::max(largest, std::fabs(each));
    }
    return kRoundingOfRow * largest;
  }

 private:
  std::span<const double> summed(std::span<const float> values) {
    std::ranges::fill(sums_, 0.0);
    for (size_t j = 0; j < values.size(); j++) {
      sums_[groups_ != nullptr ? groups_->of_column[j] : j] += sign_ * static_cast<double>(values[j]);
    }
    return sums_;
  }

  const Explanations& of_;
  double sign_;
  const Players* groups_;
  std::vector<double> sums_;
};

std::vector<bool> excluded_features(const std::vector<std::string>& features, const Explanations& explanations,
                                    const ReasonOptions& options) {
  std::vector<bool> excluded(features.size(), false);
  for (const std::string& name : options.exclude) {
    const auto found = std::ranges::find(features, name);
    if (found == features.end()) {
      const auto member = std::ranges::find(explanations.features, name);
      if (member != explanations.features.end()) {
        const auto at = static_cast<size_t>(member - explanations.features.begin());
        fail_argument("exclude", fmt::format(": expected features that are reasons of their own, found {}, which is in "
                                             "the group {}; exclude the group, or take the feature out of it",
                                             in_quotes(name), in_quotes(features[options.groups->of_column[at]])));
      }
      fail_argument("exclude", fmt::format(": expected names of features, found {}{}", in_quotes(name),
                                           suggestion(name, features)));
    }
    for (size_t i = 0; i < features.size(); i++) excluded[i] = excluded[i] || features[i] == name;
  }
  return excluded;
}

void check_others(const Explanations& explanations, std::span<const Explanations* const> others) {
  for (const Explanations* other : others) {
    if (other->rows() == explanations.rows() && other->features == explanations.features) continue;
    fail_input("agreement", "explanations of the same rows and features",
               fmt::format("{} by {}, which have {} and {}", "others", other->provenance.method,
                           plural(other->rows(), "row"), plural(other->players(), "feature")));
  }
}

// Whether the values are all there is: nothing in them is drawn.
bool nothing_drawn(const Explanations& explanations) {
  return explanations.provenance.draw == kNothingDrawn && !has_sampling_error(explanations) &&
         explanations.combination.members.empty();
}

std::string why_not_certain(const Explanations& explanations) {
  const std::string_view end = "explain the rows again with replicates";
  if (!explanations.combination.members.empty()) {
    return "certainty is not known: these explanations are an aggregate of others, which has no replicates";
  }
  if (explanations.provenance.draw == kDrawnBackground) {
    return fmt::format(
        "certainty is not known: the background's rows were drawn, and there are no replicates that "
        "show what another draw would give; {}",
        end);
  }
  if (has_sampling_error(explanations)) {
    return fmt::format("certainty is not known: {} samples, and there are no replicates; {}",
                       explanations.provenance.method, end);
  }
  return fmt::format(
      "certainty is not known: the explanations do not say whether their background was drawn, and have "
      "no replicates; {}",
      end);
}

std::string note_on_certainty(const Explanations& explanations, const Reasons& reasons) {
  if (!reasons.certainty_known) return why_not_certain(explanations);
  if (reasons.replicates == 0) {
    return fmt::format(
        "no draw is in these values (reference: {}): certainty is 1, unless features tie within rounding",
        one_line(explanations.provenance.reference));
  }
  const bool background = explanations.provenance.draw != kNothingDrawn;
  std::string drawn = background ? "the background's rows" : "";
  if (has_sampling_error(explanations)) {
    drawn += fmt::format("{}what {} samples", background ? " and of " : "", explanations.provenance.method);
  }
  return fmt::format(
      "certainty is the share of {} in which a reason is among the first {}: {} as another draw of {} "
      "would give them",
      plural(reasons.replicates, "replicate"), reasons.top, "the values", drawn);
}

// One row of find_reasons().
class RowReasons {
 public:
  RowReasons(const Explanations& explanations, std::span<const Explanations* const> others,
             const ReasonOptions& options, const std::vector<bool>& excluded, bool known)
      : explanations_(explanations),
        options_(options),
        excluded_(excluded),
        known_(known),
        own_(explanations, options) {
    for (const Explanations* other : others) others_.emplace_back(*other, options);
  }

  std::vector<Reason> find(size_t row) {
    const double rounding = own_.rounding(row);
    Standing standing(options_.top, rounding);
    const std::vector<double> all(own_.of_row(row).begin(), own_.of_row(row).end());
    standing.look_at(all);
    std::vector<size_t> withheld;
    for (const size_t each : standing.strongest()) {
      if (excluded_[each]) withheld.push_back(each);
    }
    std::vector<double> named = nameable(all);
    standing.look_at(named);
    std::vector<Reason> made;
    const double sign = options_.direction == ReasonDirection::against ? -1.0 : 1.0;
    for (const size_t each : standing.strongest()) {
      made.push_back({.row = row, .rank = made.size() + 1, .player = each, .attribution = sign * all[each]});
    }
    if (made.empty() && !withheld.empty()) made.push_back({.row = row});
    for (Reason& each : made) each.withheld = withheld;
    if (made.empty() || made[0].rank == 0) return made;
    add_shares(row, made);
    if (known_) add_certainty(row, standing, made);
    if (others_.size() > 1) add_agreement(row, made);
    return made;
  }

 private:
  std::vector<double> nameable(std::span<const double> strengths) const {
    std::vector<double> made(strengths.begin(), strengths.end());
    for (size_t i = 0; i < made.size(); i++) {
      if (excluded_[i]) made[i] = NAN;
    }
    return made;
  }

  void add_shares(size_t row, std::vector<Reason>& made) const {
    const double rise = explanations_.output[row] - explanations_.base[row];
    const double gap = std::fabs(explanations_.gap[row]);
    double sizes = 0;
    for (const double each : explanations_.values.row(row)) sizes += std::fabs(each);
    const bool adds_up = gap <= kCompleteGap * std::fabs(rise) || gap <= kRoundingGap * sizes;
    if (!adds_up || rise == 0 || explanations_.combination.relative) return;
    for (Reason& each : made) each.share = each.attribution / rise;
  }

  // standing: that of the values themselves.
  void add_certainty(size_t row, Standing& standing, std::vector<Reason>& made) {
    const size_t count = explanations_.replicate_count();
    std::vector<double> among(made.size(), 0.0);
    std::vector<double> at_rank(made.size(), 0.0);
    const auto add = [&] {
      for (size_t i = 0; i < made.size(); i++) {
        among[i] += standing.among(made[i].player);
        at_rank[i] += standing.at_rank(made[i].player, made[i].rank);
      }
    };
    if (count == 0) add();
    std::vector<double> strengths;
    for (size_t c = 0; c < count; c++) {
      const std::span<const double> replicate = own_.of_replicate(row, c);
      // Nothing is known of a row that another draw leaves without values.
      if (!std::ranges::all_of(replicate, [](double value) { return std::isfinite(value); })) return;
      strengths = nameable(replicate);
      standing.look_at(strengths);
      add();
    }
    const auto all = static_cast<double>(std::max<size_t>(count, 1));
    for (size_t i = 0; i < made.size(); i++) {
      made[i].certainty = among[i] / all;
      made[i].order_certainty = at_rank[i] / all;
    }
  }

  void add_agreement(size_t row, std::vector<Reason>& made) {
    std::vector<double> found(made.size(), 0.0);
    for (Strengths& other : others_) {
      Standing standing(options_.top, other.rounding(row));
      const std::vector<double> strengths = nameable(other.of_row(row));
      standing.look_at(strengths);
      for (size_t i = 0; i < made.size(); i++) found[i] += standing.among(made[i].player);
    }
    for (size_t i = 0; i < made.size(); i++) made[i].agreement = found[i] / static_cast<double>(others_.size());
  }

  const Explanations& explanations_;
  const ReasonOptions& options_;
  const std::vector<bool>& excluded_;
  bool known_;
  Strengths own_;
  std::vector<Strengths> others_;
};

void add_notes(const Explanations& explanations, std::span<const Explanations* const> others, Reasons& made) {
  made.notes.push_back(note_on_certainty(explanations, made));
  made.notes.emplace_back(
      "certainty and agreement do not say how sure the model itself is: a model trained on other rows may give other "
      "reasons");
  std::set<size_t> with_reasons;
  std::set<size_t> without_share;
  std::set<size_t> with_withheld;
  for (const Reason& each : made.list) {
    if (each.rank > 0) with_reasons.insert(each.row);
    if (each.rank > 0 && std::isnan(each.share)) without_share.insert(each.row);
    if (!each.withheld.empty()) with_withheld.insert(each.row);
  }
  if (!without_share.empty()) {
    made.notes.push_back(
        fmt::format("share is not known for {}: their attributions do not add up to the output less "
                    "the base value, or one of these is not known",
                    plural(without_share.size(), "row")));
  }
  if (with_reasons.size() < made.rows) {
    made.notes.push_back(fmt::format("{} without a reason: no feature that may be named {} what is explained",
                                     plural(made.rows - with_reasons.size(), "row"),
                                     made.direction == ReasonDirection::against ? "lowers" : "raises"));
  }
  if (!with_withheld.empty()) {
    made.notes.push_back(
        fmt::format("features that may not be named were withheld for {}", plural(with_withheld.size(), "row")));
  }
  if (others.size() > 1) {
    std::vector<std::string> names;
    for (const Explanations* other : others) names.push_back(one_line(other->provenance.method));
    made.notes.push_back(fmt::format("agreement is over {}: {}", plural(others.size(), "method"), joined(names)));
  } else {
    made.notes.emplace_back(
        "agreement is not known: there is no study with two or more faithful, distinct methods that "
        "add up");
  }
  made.notes.insert(made.notes.end(), explanations.notes.begin(), explanations.notes.end());
}

}  // namespace

std::string_view direction_name(ReasonDirection direction) {
  return direction == ReasonDirection::against ? "against" : "for";
}

ReasonDirection direction_of(std::string_view word) {
  if (word == "against") return ReasonDirection::against;
  if (word == "for") return ReasonDirection::favour;
  fail_argument("direction", fmt::format(": expected against or for, found {}", in_quotes(word)));
}

std::string Reasons::row_name(size_t row) const { return ids.empty() ? fmt::format("{}", row + 1) : ids[row]; }

Reasons find_reasons(const Explanations& explanations, std::span<const Explanations* const> others,
                     const ReasonOptions& options, const Context& context) {
  if (options.top == 0) fail_argument("top", ": expected 1 reason or more for a row, found 0");
  check_others(explanations, others);
  Reasons made;
  made.rows = explanations.rows();
  made.top = options.top;
  made.direction = options.direction;
  made.method = explanations.provenance.method;
  made.features = options.groups ? options.groups->names : explanations.features;
  made.groups = options.groups;
  made.ids = explanations.ids;
  made.row_numbers = explanations.row_numbers;
  made.replicates = explanations.replicate_count();
  made.certainty_known = made.replicates > 0 || nothing_drawn(explanations);
  const std::vector<bool> excluded = excluded_features(made.features, explanations, options);
  std::vector<std::vector<Reason>> of_row(made.rows);
  parallel_blocks(
      context, made.rows, 1,
      [&](const Block& block) {
        RowReasons row(explanations, others, options, excluded, made.certainty_known);
        of_row[block.begin] = row.find(block.begin);
      },
      "reasons");
  for (std::vector<Reason>& each : of_row) std::ranges::move(each, std::back_inserter(made.list));
  add_notes(explanations, others, made);
  return made;
}

std::vector<size_t> uncertain_rows(const Reasons& reasons, double level) {
  std::vector<size_t> rows;
  for (const Reason& each : reasons.list) {
    if (each.certainty < level && (rows.empty() || rows.back() != each.row)) rows.push_back(each.row);
  }
  return rows;
}

}  // namespace assay
