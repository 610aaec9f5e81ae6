// What the paper claims, as comparisons of measured cells, and what the numbers say about it.
//
// A claim is a list of comparisons (ClaimPart). A comparison holds when the 95 % interval of the difference, run by
// run, is on the claim's side. Verdicts, in this order:
//   holds by construction   a theorem, and no value broke it
//   paper_disagrees         the means of the paper's own cells contradict the sentence
//   cannot be tested        no comparison has numbers, or none has an interval that leaves 0 out
//   holds, fails, partly    all comparisons hold, none does, some do
// tests/study/verdicts.py computes all verdicts again from the JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "assay/study/reproduce/reproduction.h"

namespace assay {

// The claims, without numbers.
std::vector<Claim> paper_claims();
// The comparisons of a claim under one variant, of the cells that were measured.
std::vector<ClaimPart> claim_parts(std::string_view id, const Reproduction& made, std::string variant);
// Fills parts, verdict and evidence of all claims, under the primary set-up and under every variant that was run.
void judge_claims(Reproduction& made);

}  // namespace assay
