// The paper's tables, run again: as text for a terminal, as a page of docs/, and as JSON.
//
// All three have the paper's numbers, ours with the 95 % interval over runs, and for each finding whether it
// replicates, with the evidence. They have no times and no paths: the same runs give the same bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/study/reproduce/reproduction.h"

namespace assay {

// What is needed to make the same tables again.
struct ReproductionOrigin {
  std::string command = {};  // "assay reproduce all"
  std::string version = {};
  uint64_t seed = 0;
  bool quick = false;
};

// "replicates", "does not replicate" or "cannot be tested here".
std::string_view finding_status_name(FindingStatus status);

// "12 findings: 8 replicate, 3 do not replicate, 1 cannot be tested here".
std::string findings_summary(const std::vector<Reproduction>& tables);

// Numbers as an aligned table; then findings, protocol and notes in lines of at most 100 characters.
std::string reproduction_text(const std::vector<Reproduction>& tables);

// Laid out like the paper's tables: for each data set one row for each method, with the paper's number beside ours in
// each column.
std::string reproduction_markdown(const std::vector<Reproduction>& tables, const ReproductionOrigin& origin);

// One object, indented, ends with a newline. Undefined is null.
std::string reproduction_json(const std::vector<Reproduction>& tables, const ReproductionOrigin& origin);

}  // namespace assay
