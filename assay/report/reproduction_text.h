// The paper's experiments, run again: as text for a terminal, as a page of docs/, as JSON, and the declared set-up.
//
// All have the paper's numbers, ours with the 95 % interval over runs, and the verdict about each claim. They have no
// times and no paths: the same runs give the same bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/study/reproduce/reproduction.h"

namespace assay {

// What is needed to make the same page again.
struct ReproductionOrigin {
  std::string command = {};  // "assay reproduce all"
  std::string version = {};
  uint64_t seed = 0;
  bool quick = false;
};

// One line for each verdict that some claim has: "- **holds** (2): AVA lowers ...; ...". At most six lines.
std::string verdict_lines(const std::vector<Claim>& claims);

// Claims with verdict and evidence, then numbers as an aligned table, then notes.
std::string reproduction_text(const Reproduction& made);

// The page: claims, Tables 1 to 4 in the paper's layout, contradictions, open questions, a map of other criteria, and
// an annex with all variants. pictures: what the names of pictures begin with, as in "reproduction-".
std::string reproduction_markdown(const Reproduction& made, const ReproductionOrigin& origin,
                                  std::string_view pictures);
std::string reproduction_annex(const Reproduction& made);
// The sections of the page that no run changes; defined in reproduction_words.cpp.
std::string contradictions_markdown();
std::string other_criteria_markdown();

// One object that ends with a newline; undefined is null. tests/study/verdicts.py recomputes the verdicts from it.
std::string reproduction_json(const Reproduction& made, const ReproductionOrigin& origin);

// The declared set-up, as docs/reproduction-setup.md: choices with their evidence, methods, variants and claims.
std::string setup_markdown();

// Escapes text for Markdown: no markup, no HTML, no end of a table cell.
std::string reproduction_escaped(std::string_view text);
// "0.31 +- 0.04" in units of 1 / factor, or "-" without such a cell.
std::string our_number(const Results& results, const CellKey& key, double factor, int digits);

}  // namespace assay
