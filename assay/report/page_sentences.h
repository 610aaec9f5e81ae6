// The first words of a report: its title, and five plain sentences for people who did not make the study.
//
// They are about the model and its quality, what drives it, which explanation to use and how sure that is, what it
// costs, and what to look at next.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "assay/report/report_facts.h"
#include "assay/study/assess.h"
#include "assay/study/study.h"

namespace assay {

// "What drives the network trained on iris, and which explanation to trust"
std::string page_title(const StudyFacts& facts);

// What is explained, with its unit: "the score (margin) of bad", "the probability of bad", "price".
std::string explained_value(const StudyFacts& facts);

// A label and a sentence each: Model, Drivers, Explanation, Cost, Next. entry: the explanation that the page opens on;
// nothing if there is none.
FactPairs page_sentences(const Study& study, const Assessment& assessment, const StudyTimes& times,
                         std::optional<size_t> entry);

}  // namespace assay
