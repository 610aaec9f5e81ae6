#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "assay/report/reproduction_text.h"
#include "assay/study/reproduce/runs.h"

namespace assay {
namespace {

// "62 -> 31 +- 4"
std::string beside(const Reproduction& made, const CellKey& key, double factor, int digits) {
  const PaperCell paper = paper_cell(key);
  const std::string said = std::isnan(paper.value) ? "-" : fmt::format("{:.{}f}", factor * paper.value, digits);
  const std::string spread = std::isnan(paper.spread) ? "" : fmt::format(" +- {:.{}f}", paper.spread, digits);
  return fmt::format("{}{} -> {}", said, spread, our_number(made.results, key, factor, digits));
}

// The columns of the paper's tables: its name, and our set.
struct PageSet {
  std::string title;
  std::string data;
};

std::vector<PageSet> page_sets(const Reproduction& made) {
  std::vector<PageSet> out;
  for (const NetworkFacts& facts : made.networks) {
    if (paper_set(facts.data) == PaperSet::adult && facts.data != "mnist") out.push_back({"Adult", facts.data});
  }
  for (const NetworkFacts& facts : made.networks) {
    if (facts.data == "iris") out.push_back({"Iris", facts.data});
  }
  const std::string clinical = nearest_clinical(made);
  if (!clinical.empty()) out.push_back({fmt::format("MIMIC-III (ours: {})", clinical), clinical});
  return out;
}

bool measured(const Reproduction& made, std::string_view table) {
  const auto here = [&](const Cell& cell) { return cell.key.variant.empty() && cell.key.table == table; };
  return std::ranges::any_of(made.results.cells(), here);
}

std::string with_remark(const Claim& claim) {
  if (claim.remark.empty()) return claim.evidence;
  return fmt::format("{}{} {}", claim.evidence, claim.evidence.ends_with('.') ? "" : ".", claim.remark);
}

std::string claims_section(const Reproduction& made) {
  std::string out = "\n## What replicates\n\n" + verdict_lines(made.claims);
  out +=
      "\nA verdict is about the [declared set-up](reproduction-setup.md), which also says how verdicts are reached. "
      "A claim is a list of comparisons by 95 % intervals; a false one holds about once in 40. \"Partly\" means that "
      "some hold, from one to all but one. A variant changes one choice; the last column counts the variants under "
      "which our numbers alone give the same verdict. MIMIC-III is not open: cinc2012 and cinc2019 stand in for it. "
      "r is the paper's radius, and 1x the radius that gives the median row ten neighbours; claims are judged at 1x "
      "where fewer than half of the rows have a neighbour within r.\n\n"
      "| section | claim | verdict | evidence | variants |\n|---|---|---|---|---|\n";
  for (const Claim& claim : made.claims) {
    if (claim.post_hoc) continue;
    const auto primary = claim.in_variants.find("");
    size_t same = 0;
    size_t others = 0;
    for (const auto& [name, verdict] : claim.in_variants) {
      if (name.empty()) continue;
      others++;
      same += primary != claim.in_variants.end() && verdict == primary->second ? 1 : 0;
    }
    out += fmt::format("| {} | {} | **{}** | {} | [{} of {}](#verdicts-under-each-variant) |\n", claim.section,
                       reproduction_escaped(claim.text), verdict_name(claim.verdict),
                       reproduction_escaped(with_remark(claim)), same, others);
  }
  return out;
}

std::string networks_section(const Reproduction& made) {
  std::string out =
      "\n## Networks\n\nMean over runs +- half of the 95 % interval. AUC intervals are wider than Student's, because "
      "runs share rows (Nadeau and Bengio 2003).\n\n"
      "| data | accuracy: paper -> ours | largest class | AUC (interval) | claims |\n|---|---|---|---|---|\n";
  for (const NetworkFacts& facts : made.networks) {
    const auto key = [&](const char* column) { return CellKey{"", "networks", facts.data, "network", column}; };
    const std::string area = std::isnan(facts.auc_interval.low)
                                 ? "-"
                                 : fmt::format("{} ({:.3f} to {:.3f})", our_number(made.results, key("auc"), 1, 3),
                                               facts.auc_interval.low, facts.auc_interval.high);
    out += fmt::format("| {} | {} | {} | {} | {} |\n", reproduction_escaped(facts.data),
                       beside(made, key("accuracy"), 1, 3),
                       our_number(made.results, key("share of the largest class"), 1, 3), area,
                       facts.judged ? "judged" : "not judged");
  }
  out +=
      "\nNearest to the paper's MIMIC-III cohort is cinc2012: the same hospital, and 14 of its 17 kinds of features; "
      "it "
      "predicts death, not sepsis. Clinical networks are trained with balanced class weights, so their accuracy is "
      "below "
      "the share of the largest class; the AUC says what they learnt.\n";
  return out;
}

std::string table_1(const Reproduction& made, std::string_view pictures) {
  if (!measured(made, "mnist")) return "";
  const auto cell = [&](const char* row) { return beside(made, {"", "mnist", "mnist", row, "complexity"}, 1, 3); };
  std::string out = fmt::format(
      "\n## Table 1: complexity on MNIST\n\nComplexity, paper -> ours +- half of the 95 % interval. The paper's are of "
      "one image; ours are means over {} images in each of {} runs.\n\n"
      "| Best (paper: DeepLift) | Convex | Gradient-Descent | Region-Shrinking |\n|---|---|---|---|\n| {} | {} | {} | "
      "{} "
      "|\n",
      made.plan.images, made.plan.runs, cell("Best"), cell("Convex"), cell("Gradient-Descent"),
      cell("Region-Shrinking"));
  out +=
      "\nThe first image of the first run. Red speaks for the predicted digit, blue against it. "
      "Convex takes one method for a run, so that a single image may have a simpler member.\n";
  const size_t wide = 4;
  for (size_t begin = 0; begin < made.pictures.size(); begin += wide) {
    std::string titles = "|";
    std::string images = "|";
    std::string rule = "|";
    for (size_t i = begin; i < std::min(begin + wide, made.pictures.size()); i++) {
      const Picture& picture = made.pictures[i];
      const std::string number = picture.attribution ? fmt::format(" {:.3f}", picture.complexity) : "";
      titles += fmt::format(" {}{} |", reproduction_escaped(picture.title), number);
      images += fmt::format(" ![{}]({}{}.png) |", reproduction_escaped(picture.title), pictures, picture.name);
      rule += "---|";
    }
    out += fmt::format("\n{}\n{}\n{}\n", titles, rule, images);
  }
  return out;
}

// Table 2 under one variant.
std::string faithfulness_table(const Reproduction& made, const std::string& variant) {
  std::string header = "| method |";
  std::string rule = "|---|";
  std::vector<std::pair<std::string, std::string>> columns;  // set, size
  for (const PageSet& set : page_sets(made)) {
    const bool clinical = paper_set(set.data) == PaperSet::mimic;
    for (const char* size : clinical ? std::vector<const char*>{"10 of 17", "15 of 17"} : std::vector{"|S| = 2"}) {
      header += fmt::format(" {}, {} |", reproduction_escaped(set.title), reproduction_escaped(size));
      rule += "---|";
      columns.emplace_back(set.data, size);
    }
  }
  std::string out = fmt::format("{}\n{}\n", header, rule);
  for (const PaperMethod& method : paper_methods()) {
    out += fmt::format("| {} |", reproduction_escaped(method.name));
    for (const auto& [data, size] : columns) {
      const auto key = [&](const char* baseline) {
        return CellKey{variant, "faithfulness", data, method.name, fmt::format("{}, {}", baseline, size)};
      };
      out += fmt::format(" ({}, {}) |", beside(made, key("zero"), 100, 0), beside(made, key("average"), 100, 0));
    }
    out += "\n";
  }
  return out;
}

std::string table_2(const Reproduction& made) {
  if (!measured(made, "faithfulness")) return "";
  std::string out =
      "\n## Table 2: faithfulness\n\nIn hundredths: (zero baseline, training average baseline), each paper -> ours +- "
      "half of the 95 % interval. The paper's subset of 20 stands beside 15 of 17 features.\n\n" +
      faithfulness_table(made, "");
  const std::string loss = "form=loss";
  if (std::ranges::find(made.variants, loss) == made.variants.end()) return out;
  return out +
         fmt::format(
             "\nRead as section 7.1 prints it, a faithful explanation scores below 0: without features that speak "
             "for a class its logit falls. All cells of the paper are above 0, so it probably computed "
             "something else. This is the variant `{}`, whose sign is that of Definition 3:\n\n",
             loss) +
         faithfulness_table(made, loss);
}

std::string coverage_words(const Reproduction& made, const std::string& table, const std::string& data) {
  const Cell* cell = made.results.find({"", table, data, "SHAP", "avg at r"});
  return cell == nullptr ? "-" : fmt::format("{:.0f} %", 100 * summarise_runs(cell->coverages).mean);
}

std::string table_3(const Reproduction& made) {
  if (!measured(made, "sensitivity")) return "";
  std::string out =
      "\n## Table 3: sensitivity\n\nIn thousandths: (maximum, average) at the paper's radius, each paper -> ours +- "
      "half of the 95 % interval. Raw distances are in the unit of the explained value, which the paper does not "
      "state: "
      "compare orders, not sizes.\n\n| method |";
  std::string rule = "|---|";
  const std::vector<PageSet> sets = page_sets(made);
  for (const PageSet& set : sets) {
    out += fmt::format(" {} |", reproduction_escaped(set.title));
    rule += "---|";
  }
  out += "\n" + rule + "\n";
  for (const PaperMethod& method : paper_methods()) {
    out += fmt::format("| {} |", reproduction_escaped(method.name));
    for (const PageSet& set : sets) {
      const auto key = [&](const char* column) { return CellKey{"", "sensitivity", set.data, method.name, column}; };
      out += fmt::format(" ({}, {}) |", beside(made, key("max at r"), 1000, 0), beside(made, key("avg at r"), 1000, 0));
    }
    out += "\n";
  }
  out += "| rows with a neighbour |";
  for (const PageSet& set : sets) out += fmt::format(" {} |", coverage_words(made, "sensitivity", set.data));
  return out + "\n";
}

std::string table_4(const Reproduction& made) {
  if (!measured(made, "ava")) return "";
  std::string out =
      "\n## Table 4: AVA and SHAP\n\nPaper -> ours. After the paper's +- stands what it prints there, probably a "
      "deviation "
      "over rows; after ours half of the 95 % interval of the mean.\n\n| |";
  std::string rule = "|---|";
  const std::vector<PageSet> sets = page_sets(made);
  for (const PageSet& set : sets) {
    out += fmt::format(" {} |", reproduction_escaped(set.title));
    rule += "---|";
  }
  out += "\n" + rule + "\n";
  for (const auto& [title, column] :
       {std::pair{"average sensitivity", "avg at r"}, std::pair{"maximum sensitivity", "max at r"},
        std::pair{"complexity", "complexity"}}) {
    for (const char* row : {"SHAP", "AVA"}) {
      out += fmt::format("| {}, {} |", title, row);
      for (const PageSet& set : sets)
        out += fmt::format(" {} |", beside(made, {"", "ava", set.data, row, column}, 1, 2));
      out += "\n";
    }
  }
  out += "| rows with a neighbour |";
  for (const PageSet& set : sets) out += fmt::format(" {} |", coverage_words(made, "ava", set.data));
  return out + "\n";
}

std::string open_questions(const Reproduction& made) {
  std::string out =
      "\n## What the paper leaves open, and we answer\n\n"
      "- **Convex weights inside the simplex.** The paper argues that the best weights are on one function. "
      "Sensitivity is "
      "convex in the weights, so they need not be: [convex_min](aggregators/convex_min.md) finds them, with a "
      "certificate. "
      "But mixtures are shorter than what they mix, and scaled back to unit norm they lose the gain (average "
      "sensitivity at "
      "unit norm, radius of ten neighbours):\n";
  for (const PageSet& set : page_sets(made)) {
    const auto key = [&](const char* row) { return CellKey{"", "sensitivity", set.data, row, "avg at 1x, unit norm"}; };
    if (made.results.find(key("convex weights")) == nullptr) continue;
    out += fmt::format(
        "  - {}: best single method {}, mixture {}, certified lower bound {}; mixture scaled back {}; largest weight "
        "{}.\n",
        set.title, our_number(made.results, key("best single method"), 1, 3),
        our_number(made.results, key("convex weights"), 1, 3),
        our_number(made.results, key("certified bound of all weights"), 1, 3),
        our_number(made.results, key("convex weights, renormalised"), 1, 3),
        our_number(made.results, key("largest weight"), 1, 2));
  }
  out +=
      "- **The simplest point of the hull.** Region shrinking is a heuristic; "
      "[minimum_complexity](aggregators/minimum_complexity.md) bounds what any mixture can reach.\n";
  if (measured(made, "mnist")) {
    const auto cell = [&](const char* row) {
      return our_number(made.results, {"", "mnist", "mnist", row, "complexity"}, 1, 3);
    };
    out += fmt::format("  MNIST: region shrinking {}, simplest mixture found {}, lower bound of all mixtures {}.\n",
                       cell("Region-Shrinking"), cell("simplest mixture"), cell("bound of mixtures"));
  }
  out +=
      "- **Sensitivity and complexity together.** The paper asks for \"a less sensitive and less complex explanation "
      "function simultaneously\".\n  [pareto](aggregators/pareto.md) gives the front of mixtures over faithfulness, "
      "sensitivity and complexity.\n";
  return out;
}

}  // namespace

std::string reproduction_markdown(const Reproduction& made, const ReproductionOrigin& origin,
                                  std::string_view pictures) {
  std::string out = fmt::format(
      "# The paper's experiments, run again\n\nWritten by `{}` (assay {}, seed {}); not by hand. Bhatt, Weller, Moura, "
      "\"Evaluating and Aggregating Feature-based Model Explanations\", IJCAI 2020. All numbers of all runs are in the "
      "JSON file beside this page.\n",
      origin.command, origin.version, origin.seed);
  if (origin.quick) out += "\nThis is the quick form: a test that everything runs, no result to quote.\n";
  out += claims_section(made);
  out += table_1(made, pictures) + table_2(made) + table_3(made) + table_4(made);
  out += networks_section(made) + contradictions_markdown() + open_questions(made) + other_criteria_markdown();
  return out + reproduction_annex(made);
}

}  // namespace assay
