// One sentence for each reason, from templates: "{feature} of {value} is above {reference}".
//
// Templates are JSON: {"against": TEXTS, "for": TEXTS, "features": {"age": TEXTS, ...}, "values": {"housing": {"A151":
// "rented", ...}, ...}}. TEXTS is one text for all
// kinds of values, or an object with a text for some of them. What "features" says about a feature or group comes
// first, then the direction, then the built-in text. The kinds:
//
//   above, below   a number above or below the mean of the reference's rows
//   number         a number that equals the mean, or whose mean is not known
//   level          a category that is not the most frequent one of the reference's rows
//   common_level   a category that is, or whose most frequent one is not known
//   missing        a missing value
//   group          a group of several columns
//   unknown        a feature whose value is not known
//
// "values" says what levels are called in sentences. Placeholders: {feature}, {value}, {reference}, {share} (in
// percent), {rank}. "{{" and "}}" are braces.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "assay/explain/reasons/reasons.h"
#include "assay/explain/reasons/shown_values.h"

namespace assay {

class ReasonTemplates {
 public:
  // The built-in texts.
  ReasonTemplates();
  // `where` names the file. The text is not trusted: unknown keys, kinds and placeholders are input errors. features:
  // those that may be named in "features".
  static ReasonTemplates from_json(std::string_view where, std::string_view text,
                                   const std::vector<std::string>& features);

  // A text as it was written, with its placeholders.
  const std::string& find(ReasonDirection direction, const std::string& feature, const std::string& kind) const;
  // What a value of a feature is called; the value itself if nothing says it.
  std::string called(const std::string& feature, const std::string& value) const;

 private:
  using Texts = std::map<std::string, std::string, std::less<>>;  // by kind
  Texts usual_;
  std::map<ReasonDirection, Texts> by_direction_;
  std::map<std::string, Texts, std::less<>> by_feature_;
  std::map<std::string, Texts, std::less<>> values_;  // by feature, then by value
};

// Fills value and text of each reason. shown: one for each of the reasons' features, or none if no values are known.
void add_texts(Reasons& reasons, const std::vector<ShownFeature>& shown, const ReasonTemplates& templates);

}  // namespace assay
