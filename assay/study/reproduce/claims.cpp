#include "assay/study/reproduce/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "assay/core/table_text.h"
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

Parts parts_of(std::string_view id, const PartMaker& make) {
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

struct JudgedPart {
  bool known = false;  // has numbers
  Support support = Support::unclear;
  std::string text = {};
  PairedRuns pair = {};
};

JudgedPart judge_part(const ClaimPart& part, const Results& results) {
  const auto series = [&](const std::vector<CellKey>& keys) {
    std::vector<std::span<const double>> values;
    for (const CellKey& key : keys) {
      const Cell* cell = results.find(key);
      values.push_back(cell == nullptr ? std::span<const double>() : std::span<const double>(cell->values));
    }
    return mean_of_series(values);
  };
  JudgedPart out;
  const std::vector<double> first = series(part.first);
  if (part.second.empty()) {
    const double sum = std::accumulate(first.begin(), first.end(), 0.0);
    out.known = !first.empty() && !std::isnan(sum);
    out.support = !out.known ? Support::unclear : sum == 0 ? Support::supported : Support::contradicted;
    out.text = fmt::format("{}: {}", part.label, short_number(sum));
    return out;
  }
  const std::vector<double> second = series(part.second);
  out.pair = compare_runs(first, second);
  out.known = out.pair.difference.runs > 0;
  out.support = out.pair.above;
  out.text = fmt::format("{}: {} against {}, difference {}", part.label, short_number(summarise_runs(first).mean),
                         short_number(summarise_runs(second).mean), summary_text(out.pair.difference));
  return out;
}

double mean_number(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

struct Judged {
  Verdict verdict = Verdict::cannot_be_tested;
  std::string evidence;
};

Verdict verdict_from(const Claim& claim, const std::vector<JudgedPart>& known) {
  const auto count = [&](Support support) { return std::ranges::count(known, support, &JudgedPart::support); };
  const auto disagrees = [](const PaperPart& part) { return mean_number(part.first) <= mean_number(part.second); };
  if (claim.by_construction && !known.empty()) {
    return count(Support::supported) == std::ssize(known) ? Verdict::by_construction : Verdict::fails;
  }
  if (std::ranges::any_of(claim.paper_parts, disagrees)) return Verdict::paper_disagrees;
  if (count(Support::supported) == 0 && count(Support::contradicted) == 0) return Verdict::cannot_be_tested;
  if (count(Support::supported) == std::ssize(known)) return Verdict::holds;
  return count(Support::supported) == 0 ? Verdict::fails : Verdict::partly;
}

Judged judge(const Claim& claim, const Results& results) {
  std::vector<JudgedPart> known;
  for (const ClaimPart& part : claim.parts) {
    JudgedPart judged = judge_part(part, results);
    if (judged.known) known.push_back(std::move(judged));
  }
  Judged out{verdict_from(claim, known), {}};
  for (const PaperPart& part : claim.paper_parts) {
    if (mean_number(part.first) > mean_number(part.second)) continue;
    out.evidence += fmt::format("The paper's cells, {}: {} against {}. ", part.label,
                                short_number(mean_number(part.first)), short_number(mean_number(part.second)));
  }
  if (known.empty()) {
    out.evidence += "No data set that it is about has numbers here.";
    return out;
  }
  const auto holding = std::ranges::count(known, Support::supported, &JudgedPart::support);
  const auto& worst = claim.by_construction ? known.front() : *std::ranges::min_element(known, [](auto& a, auto& b) {
    return more_against(a.pair, b.pair);
  });
  out.evidence += fmt::format("{}Holds in {} of {}. ", claim.paper_parts.empty() ? "" : "Ours: ", holding,
                              plural(known.size(), "comparison"));
  out.evidence +=
      fmt::format("{} {}", holding == std::ssize(known) ? "Nearest to failing:" : "Most against it:", worst.text);
  if (claim.by_construction) out.evidence = fmt::format("{}.", worst.text);
  return out;
}

}  // namespace

Verdict verdict_of(const Claim& claim, const Results& results) { return judge(claim, results).verdict; }

std::vector<Claim> paper_claims() {
  using enum PaperTable;
  std::vector<Claim> out;
  const auto add = [&](std::string id, std::string section, PaperTable table, std::string text) {
    out.push_back({.id = std::move(id), .section = std::move(section), .text = std::move(text), .table = table});
  };
  add("shap-faithful", "7.1", faithfulness,
      "SHAP is the most faithful explanation on the small data sets (Adult, Iris)");
  add("faithfulness-rises", "7.1", faithfulness,
      "Faithfulness rises with the size of the subset until all informative features are in it");
  out.back().paper_parts = {{"Table 2, MIMIC, zero baseline, mean of |S| = 20 and of 10",
                             {37, 38, 28, 59, 68, 43},
                             {31, 59, 37, 54, 66, 84}}};
  add("falls-with-radius", "7.2", sensitivity, "Sensitivity falls as the radius grows");
  add("shap-least-sensitive", "7.2", sensitivity, "On the clinical data SHAP is the least sensitive");
  add("perturbation-below-gradient", "7.4", sensitivity,
      "Perturbation methods (SHAP, SS) are less sensitive than gradient methods");
  out.back().paper_parts = {
      {"Table 3, Adult, maximum, gradient and perturbation methods", {60, 86, 19, 74}, {60, 191}}};
  add("ava-average", "7.4", ava, "AVA lowers average sensitivity on all data sets");
  add("ava-maximum", "7.4", ava, "AVA lowers maximum sensitivity on all data sets");
  add("ava-complexity", "7.4", ava,
      "AVA is slightly less complex where features are few (Adult, Iris), and more complex "
      "on the clinical data");
  add("deeplift-simplest", "7.3", mnist, "DeepLift is the simplest of the six explanations of an image");
  add("both-lower", "7.3", mnist, "Both algorithms lower complexity below the best single explanation");
  add("shrinking-below-walks", "7.3", mnist, "Region shrinking is simpler than gradient-descent style");
  add("never-above", "4, 5", mnist, "Convex weights and both algorithms are never more complex than what they combine");
  out.back().by_construction = true;
  add("shap-faithful-ss-apart", "7.1", faithfulness,
      "SHAP is the most faithful on the small data sets, SS apart, which estimates the same values");
  out.back().post_hoc = true;
  return out;
}

void judge_claims(Reproduction& made) {
  made.claims = paper_claims();
  for (Claim& claim : made.claims) {
    claim.parts = parts_of(claim.id, PartMaker(made, ""));
    const Judged judged = judge(claim, made.results);
    claim.verdict = judged.verdict;
    claim.evidence = judged.evidence;
    for (const Variant& variant : setup_variants()) {
      if (std::ranges::find(made.variants, variant.name) == made.variants.end()) continue;
      if (std::ranges::find(variant.tables, claim.table) == variant.tables.end()) continue;
      // Whether the paper's own cells agree is known from the primary set-up.
      Claim other = claim;
      other.paper_parts.clear();
      other.parts = parts_of(claim.id, PartMaker(made, variant.name));
      claim.in_variants[variant.name] = judge(other, made.results).verdict;
    }
  }
}

}  // namespace assay
