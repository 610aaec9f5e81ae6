// Which cells each claim compares.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "assay/study/reproduce/claims.h"
#include "assay/study/reproduce/runs.h"

namespace assay {
namespace {

constexpr std::array<std::string_view, 6> kSix = {"SHAP", "SS", "Grad", "G*I", "IG", "DL"};
constexpr std::span<const std::string_view> kPerturbation = std::span(kSix).first(2);
constexpr std::span<const std::string_view> kGradient = std::span(kSix).last(4);
constexpr std::array<std::string_view, 2> kBaselineWords = {"zero", "average"};
// Of the rows that must have a neighbour for claims to be judged at the paper's radius.
constexpr double kLeastCoverage = 0.5;

// Finds the cells of claims under one variant.
class PartMaker {
 public:
  PartMaker(const Reproduction& made, std::string variant) : made_(made), variant_(std::move(variant)) {}

  // Sets that were measured for this table; clinical ones, others, or all.
  enum class Which { small, clinical, all };
  std::vector<std::string> sets(std::string_view table, Which which) const {
    std::vector<std::string> out;
    for (const NetworkFacts& facts : made_.networks) {
      if (!facts.judged || facts.data == "mnist") continue;
      if (which != Which::all && facts.clinical != (which == Which::clinical)) continue;
      const auto here = [&](const Cell& cell) {
        return cell.key.variant == variant_ && cell.key.table == table && cell.key.data == facts.data;
      };
      if (std::ranges::any_of(made_.results.cells(), here)) out.push_back(facts.data);
    }
    return out;
  }

  CellKey key(std::string_view table, std::string_view data, std::string_view row, std::string_view column) const {
    return {variant_, std::string(table), std::string(data), std::string(row), std::string(column)};
  }
  std::vector<CellKey> keys(std::string_view table, std::string_view data, std::span<const std::string_view> rows,
                            std::string_view column) const {
    std::vector<CellKey> out;
    for (const std::string_view row : rows) out.push_back(key(table, data, row, column));
    return out;
  }

  // "at r", or "at 1x" where the paper's radius leaves too many rows without neighbours.
  std::string_view radius(std::string_view table, std::string_view data) const {
    const Cell* cell = made_.results.find(key(table, data, "SHAP", "avg at r"));
    const double coverage = cell == nullptr ? 0 : summarise_runs(cell->coverages).mean;
    return coverage >= kLeastCoverage ? "at r" : "at 1x";
  }

  const Results& results() const { return made_.results; }

 private:
  const Reproduction& made_;
  std::string variant_;
};

using Parts = std::vector<ClaimPart>;
using Which = PartMaker::Which;

Parts shap_faithful(const PartMaker& make, bool with_sampling) {
  Parts out;
  for (const std::string& data : make.sets("faithfulness", Which::small)) {
    for (const std::string_view baseline : kBaselineWords) {
      const std::string column = fmt::format("{}, |S| = 2", baseline);
      for (const std::string_view other : std::span(kSix).subspan(with_sampling ? 1 : 2)) {
        out.push_back({fmt::format("{}, {} baseline: SHAP above {}", data, baseline, other),
                       {make.key("faithfulness", data, "SHAP", column)},
                       {make.key("faithfulness", data, other, column)}});
      }
    }
  }
  return out;
}

Parts faithfulness_rises(const PartMaker& make) {
  Parts out;
  for (const std::string& data : make.sets("faithfulness", Which::all)) {
    for (const std::string_view baseline : kBaselineWords) {
      out.push_back({fmt::format("{}, {} baseline: half of the features above one", data, baseline),
                     {make.key("faithfulness", data, "mean of six", fmt::format("{}, half", baseline))},
                     {make.key("faithfulness", data, "mean of six", fmt::format("{}, one", baseline))}});
    }
  }
  return out;
}

Parts falls_with_radius(const PartMaker& make) {
  Parts out;
  for (const std::string& data : make.sets("sensitivity", Which::all)) {
    for (const std::string_view kind : {"avg", "max"}) {
      out.push_back({fmt::format("{}, {}: at the radius of ten neighbours above at 4 times it", data, kind),
                     make.keys("sensitivity", data, kSix, fmt::format("{} at 1x", kind)),
                     make.keys("sensitivity", data, kSix, fmt::format("{} at 4x", kind))});
    }
  }
  return out;
}

Parts shap_least(const PartMaker& make) {
  Parts out;
  for (const std::string& data : make.sets("sensitivity", Which::clinical)) {
    for (const std::string_view kind : {"max", "avg"}) {
      const std::string column = fmt::format("{} {}", kind, make.radius("sensitivity", data));
      for (const std::string_view other : std::span(kSix).subspan(1)) {
        out.push_back({fmt::format("{}, {}: {} above SHAP", data, column, other),
                       {make.key("sensitivity", data, other, column)},
                       {make.key("sensitivity", data, "SHAP", column)}});
      }
    }
  }
  return out;
}

Parts perturbation_below(const PartMaker& make) {
  Parts out;
  for (const std::string& data : make.sets("sensitivity", Which::all)) {
    for (const std::string_view kind : {"max", "avg"}) {
      const std::string column = fmt::format("{} {}", kind, make.radius("sensitivity", data));
      out.push_back({fmt::format("{}, {}: gradient methods above perturbation methods", data, column),
                     make.keys("sensitivity", data, kGradient, column),
                     make.keys("sensitivity", data, kPerturbation, column)});
    }
  }
  return out;
}

Parts ava_below(const PartMaker& make, std::string_view kind) {
  Parts out;
  for (const std::string& data : make.sets("ava", Which::all)) {
    const std::string column = fmt::format("{} {}", kind, make.radius("ava", data));
    out.push_back({fmt::format("{}, {}: SHAP above AVA", data, column),
                   {make.key("ava", data, "SHAP", column)},
                   {make.key("ava", data, "AVA", column)}});
  }
  return out;
}

Parts ava_complexity(const PartMaker& make) {
  Parts out;
  for (const auto& [which, above, below] :
       {std::tuple{Which::small, "SHAP", "AVA"}, std::tuple{Which::clinical, "AVA", "SHAP"}}) {
    for (const std::string& data : make.sets("ava", which)) {
      out.push_back({fmt::format("{}: {} above {}", data, above, below),
                     {make.key("ava", data, above, "complexity")},
                     {make.key("ava", data, below, "complexity")}});
    }
  }
  return out;
}

// Pairs of rows of Table 1, the first above the second.
Parts image_parts(const PartMaker& make, std::initializer_list<std::array<std::string_view, 2>> pairs) {
  Parts out;
  if (make.results().find(make.key("mnist", "mnist", "Best", "complexity")) == nullptr) return out;
  for (const auto& [above, below] : pairs) {
    out.push_back({fmt::format("{} above {}", above, below),
                   {make.key("mnist", "mnist", above, "complexity")},
                   {make.key("mnist", "mnist", below, "complexity")}});
  }
  return out;
}

Parts never_above(const PartMaker& make) {
  Parts out;
  for (const std::string_view row : {"Convex", "Gradient-Descent", "Region-Shrinking"}) {
    const CellKey key = make.key("mnist", "mnist", row, "above its members");
    if (make.results().find(key) == nullptr) continue;
    out.push_back({row == "Convex" ? "runs in which Convex is above the best member"
                                   : fmt::format("images on which {} is above its simplest member", row),
                   {key},
                   {}});
  }
  return out;
}

}  // namespace

std::vector<ClaimPart> claim_parts(std::string_view id, const Reproduction& made, std::string variant) {
  const PartMaker make(made, std::move(variant));
  if (id == "shap-faithful") return shap_faithful(make, true);
  if (id == "shap-faithful-ss-apart") return shap_faithful(make, false);
  if (id == "faithfulness-rises") return faithfulness_rises(make);
  if (id == "falls-with-radius") return falls_with_radius(make);
  if (id == "shap-least-sensitive") return shap_least(make);
  if (id == "perturbation-below-gradient") return perturbation_below(make);
  if (id == "ava-average") return ava_below(make, "avg");
  if (id == "ava-maximum") return ava_below(make, "max");
  if (id == "ava-complexity") return ava_complexity(make);
  if (id == "deeplift-simplest") {
    return image_parts(make, {{"SHAP", "DL"}, {"SS", "DL"}, {"Grad", "DL"}, {"G*I", "DL"}, {"IG", "DL"}});
  }
  if (id == "both-lower") return image_parts(make, {{"Best", "Gradient-Descent"}, {"Best", "Region-Shrinking"}});
  if (id == "shrinking-below-walks") return image_parts(make, {{"Gradient-Descent", "Region-Shrinking"}});
  return never_above(make);
}

}  // namespace assay
