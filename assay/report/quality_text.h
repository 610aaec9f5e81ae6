// The model's quality on the studied rows, as a sentence.
#pragma once

#include <string>

#include "assay/study/study.h"

namespace assay {

// "accuracy 0.93 (95 % 0.79 to 0.98; always the largest class: 0.33), AUC 0.99 (95 % ...), log-loss 0.21, calibration
// error 0.04 (by chance 0.05) on 30 rows", or "RMSE 3.1 (always the mean: 9.2), R2 0.88 (95 % 0.79 to 0.93) on 100
// rows". Numbers have the digits that their intervals allow. Empty without labels.
std::string quality_sentence(const StudyFacts& facts);

// The same for people who know none of these measures, as the end of a sentence: "predicts 77 % of 200 rows right (95
// %: 70 to 82 %), where always naming the largest class would get 70 %". Empty without labels.
std::string quality_in_words(const StudyFacts& facts);

}  // namespace assay
