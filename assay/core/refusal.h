// Why something cannot be done with what there is, as data: front ends say which of their arguments would help.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace assay {

// What methods, criteria and aggregators cannot do without.
enum class Need {
  none,   // nothing that could be given helps
  model,  // with the rows that were explained
  reference,
  pool,
  pool_explanations,
  pool_members,
  labels,
  pool_labels,
  others,
  members,
};

struct Refusal {
  std::string reason;  // a sentence, or the end of one that begins with the name of what refuses
  Need need = Need::none;

  Refusal(std::string why, Need what = Need::none) : reason(std::move(why)), need(what) {}
  Refusal(const char* why, Need what = Need::none) : reason(why), need(what) {}
  operator const std::string&() const { return reason; }
  friend bool operator==(const Refusal& a, std::string_view b) { return a.reason == b; }
};

}  // namespace assay
