// Why a request cannot be met, and which input would help: front ends name the argument to give.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace assay {

// Inputs that a method, criterion or aggregator may need.
enum class Need {
  none,   // nothing the caller could give helps
  model,  // the model, with the rows that were explained
  reference,
  pool,
  pool_explanations,
  pool_members,
  labels,
  pool_labels,
  others,
  members,
  data_folder,  // that holds the files of a data set
};

struct Refusal {
  std::string reason;  // a sentence, or the part of one after the name of what refuses
  Need need = Need::none;

  Refusal(std::string why, Need what = Need::none) : reason(std::move(why)), need(what) {}
  Refusal(const char* why, Need what = Need::none) : reason(why), need(what) {}
  friend bool operator==(const Refusal& a, std::string_view b) { return a.reason == b; }
};

}  // namespace assay
