// The paper's tables, run again, as people and programs read them: for a terminal, as a page of docs/, and as JSON.
//
// All three hold the same numbers: the paper's, ours with the 95 % interval over runs, and for each finding whether it
// replicates, with the evidence. No clock times, no paths: the same runs give the same bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/study/reproduce/reproduction.h"

namespace assay {

// What makes the same tables again.
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

// Numbers in aligned columns, a line each; then findings, protocol and notes in lines of at most 100 characters.
std::string reproduction_text(const std::vector<Reproduction>& tables);

// In the shape of the paper's tables: for each data set its methods as rows, and of each column the paper's number
// beside ours.
std::string reproduction_markdown(const std::vector<Reproduction>& tables, const ReproductionOrigin& origin);

// One object, indented, ends with a newline. What is undefined is null.
std::string reproduction_json(const std::vector<Reproduction>& tables, const ReproductionOrigin& origin);

}  // namespace assay
