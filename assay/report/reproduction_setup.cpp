#include <fmt/format.h>

#include "assay/report/reproduction_text.h"
#include "assay/study/reproduce/claims.h"

namespace assay {
namespace {

std::string methods_table(const std::vector<PaperMethod>& methods) {
  std::string out = "| in the tables | method and options |\n|---|---|\n";
  for (const PaperMethod& method : methods) {
    out += fmt::format("| {} | `{}` |\n", reproduction_escaped(method.name), spec_text(method.spec));
  }
  return out;
}

}  // namespace

std::string setup_markdown() {
  std::string out =
      "# How the paper's experiments are set up\n\n"
      "Written by `assay reproduce setup`; not by hand. Bhatt, Weller, Moura, \"Evaluating and Aggregating "
      "Feature-based Model Explanations\" (IJCAI 2020), leaves much open. This page declares one choice for "
      "everything, made from what the paper says and from evidence in its own numbers. It was committed before the "
      "first run. Variants change one choice at a time; all of them are run and printed, so that choosing one cannot "
      "be tuning. [reproduction.md](reproduction.md) has the results.\n\n"
      "## Choices\n\n| what | choice | why |\n|---|---|---|\n";
  for (const SetupChoice& choice : setup_choices()) {
    out += fmt::format("| {} | {} | {} |\n", reproduction_escaped(choice.topic), reproduction_escaped(choice.choice),
                       reproduction_escaped(choice.evidence));
  }
  out +=
      "\n## Options\n\nOptions of `assay reproduce`, with `-` for `_`: `--pool-rows 100`.\n\n"
      "| option | primary | range | meaning |\n|---|---|---|---|\n";
  for (const OptionInfo& option : list_options<Setup>()) {
    out += fmt::format("| `{}` | `{}` | {} | {} |\n", option.name, option.value, option.range, option.meaning);
  }
  out += "\n## Methods\n\nTables 2 to 4:\n\n" + methods_table(paper_methods());
  out += "\nTable 1, where each pixel is a feature:\n\n" + methods_table(image_methods(false));
  out += "\nAggregates:\n\n";
  std::vector<PaperMethod> aggregates = image_aggregates({});
  aggregates.push_back({"AVA", ava_spec({})});
  out += methods_table(aggregates);
  out += "\n## Variants\n\n| variant | tables | why |\n|---|---|---|\n";
  for (const Variant& variant : setup_variants()) {
    if (variant.name.empty()) continue;
    std::string tables;
    for (const PaperTable table : variant.tables) {
      tables += fmt::format("{}{}", tables.empty() ? "" : ", ", static_cast<int>(table) + 1);
    }
    out += fmt::format("| `{}` | {} | {} |\n", variant.name, tables, reproduction_escaped(variant.why));
  }
  out += "\n## Claims\n\n| section | claim |\n|---|---|\n";
  for (const Claim& claim : paper_claims()) {
    out += fmt::format("| {} | {}{} |\n", claim.section, reproduction_escaped(claim.text),
                       claim.post_hoc ? " (post hoc: asked after the two had tied in an earlier version)" : "");
  }
  return out;
}

}  // namespace assay
