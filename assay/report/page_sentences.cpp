#include "assay/report/page_sentences.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "assay/core/table_text.h"
#include "assay/core/text.h"
#include "assay/report/first_screen.h"
#include "assay/report/quality_text.h"
#include "assay/report/report_drivers.h"
#include "assay/study/verdict.h"

namespace assay {
namespace {

constexpr size_t kDriversInSentence = 3;
constexpr double kSeenShare = 0.005;  // smaller ones would be shown as 0 %
constexpr size_t kStepsInSentence = 2;

// The last part of a path: folders are among the inputs of the report.
std::string without_folders(std::string_view path) { return short_name(path.substr(path.find_last_of('/') + 1)); }

std::string model_name(const StudyFacts& facts) {
  const auto input = [&](std::string_view role) { return std::ranges::find(facts.inputs, role, &StudyInput::role); };
  if (input("model (trained)") == facts.inputs.end()) return without_folders(facts.model);
  auto pool = input("pool");
  if (pool == facts.inputs.end()) pool = input("pool (rows)");
  return fmt::format("the network trained on {}",
                     pool == facts.inputs.end() ? short_name(facts.pool) : without_folders(pool->name));
}

// The first letter is made large if it is ASCII.
std::string capital(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::string model_sentence(const StudyFacts& facts) {
  const std::string quality = quality_in_words(facts);
  if (quality.empty()) {
    return fmt::format("It is not known how good {} is: no labels fit it.", model_name(facts));
  }
  // The name of a file stays as it is.
  const std::string name = model_name(facts);
  const ModelQuality& found = facts.quality;
  std::string doubt;
  if (found.accuracy_interval.low <= found.majority) {
    // Of a rare class nearly every model is right about as often as a constant.
    doubt =
        found.auc_interval.low > 0.5
            ? fmt::format(
                  " By that count it may be no better, but it ranks rows: its AUC is {} (95 % interval: {} to "
                  "{}), where chance has 0.5.",
                  short_number(found.auc), short_number(found.auc_interval.low), short_number(found.auc_interval.high))
            : " It may be no better than that.";
  }
  return fmt::format("{} {}.{}", name.starts_with("the network ") ? capital(name) : name, quality, doubt);
}

// "gradient, which is not faithful": an explanation that the reader chose in place of the recommended one.
std::string chosen_words(const Study& study, const Advice& advice, size_t entry) {
  const Faithful state = advice.entries[entry].faithful;
  return fmt::format("{}{}", short_name(study.entries[entry].name),
                     state == Faithful::yes  ? ""
                     : state == Faithful::no ? ", which is not faithful"
                                             : ", which is not known to be faithful");
}

bool is_recommended(const Advice& advice, size_t entry) { return advice.overall && advice.overall->entry == entry; }

std::string drivers_sentence(const Study& study, const Advice& advice, std::optional<size_t> entry) {
  if (!entry) return "Not named: no explanation is recommended that they could be taken from.";
  std::vector<std::string> parts;
  const std::vector<Driver> drivers = drivers_of(study.entries[*entry]);
  for (const Driver& driver : drivers) {
    if (parts.size() == kDriversInSentence || driver.share < kSeenShare) break;
    const std::string_view trend = trend_words(driver.trend);
    const std::string_view of = parts.empty() ? " of the whole" : "";
    parts.push_back(fmt::format("{} ({}{}{}{}{})", short_name(study.facts.features[driver.player]),
                                whole_percent(driver.share), of, trend.empty() ? "" : "; ", trend,
                                trend.empty() ? "" : " it"));
  }
  if (parts.empty() && !drivers.empty() && drivers[0].share > 0) {
    return fmt::format("No feature stands out among {}: the largest share, of {}, is {:.2g} %.",
                       with_commas(drivers.size()), short_name(study.facts.features[drivers[0].player]),
                       100 * drivers[0].share);
  }
  if (parts.empty()) return "Nothing drives it: all attributions are 0.";
  const std::string value = explained_value(study.facts);
  if (is_recommended(advice, *entry)) return fmt::format("{} is driven most by {}.", capital(value), joined(parts));
  return fmt::format("By {}, {} is driven most by {}.", chosen_words(study, advice, *entry), value, joined(parts));
}

// How closely attributions with this faithfulness follow the model.
std::string_view closeness(double faithfulness) {
  if (faithfulness >= 0.9) return "closely";
  if (faithfulness >= 0.7) return "fairly well";
  if (faithfulness >= 0.5) return "roughly";
  return "badly";
}

// How the other entries stand: "How sure: 18 of 25 others are as faithful, and may be used as well; this one adds up to
// the prediction. 4 are not faithful, 3 are undecided or not scored."
std::string others_words(const Study& study, const Advice& advice, size_t chosen) {
  size_t yes = 0;
  size_t no = 0;
  size_t open = 0;
  for (size_t e = 0; e < study.entries.size(); e++) {
    if (e == chosen) continue;
    const Faithful state = advice.entries[e].faithful;
    (state == Faithful::yes ? yes : state == Faithful::no ? no : open)++;
  }
  const size_t others = study.entries.size() - 1;
  if (others == 0) return "It is the only one that was studied.";
  const auto are = [](size_t count) { return count == 1 ? "is" : "are"; };
  const std::string of = fmt::format("{} {}", with_commas(others), others == 1 ? "other" : "others");
  std::string text = fmt::format("How sure: none of {} is as faithful.", of);
  if (yes > 0) {
    text = fmt::format("How sure: {} of {} {} as faithful, and may be used as well{}.", with_commas(yes), of, are(yes),
                       advice.entries[chosen].complete ? "; this one adds up to the prediction" : "");
  }
  std::vector<std::string> parts;
  if (no > 0) parts.push_back(fmt::format("{} {} not faithful", with_commas(no), are(no)));
  if (open > 0) parts.push_back(fmt::format("{} {} undecided or not scored", with_commas(open), are(open)));
  return parts.empty() ? text : fmt::format("{} {}.", text, fmt::join(parts, ", "));
}

std::string explanation_sentence(const Study& study, const Assessment& assessment, std::optional<size_t> opened) {
  const Advice& advice = assessment.advice;
  if (advice.none_describes) {
    return fmt::format(
        "None is recommended: no explanation here describes the model (the best faithfulness is {:.3g}; 0 is chance, 1 "
        "is "
        "perfect).",
        study.entries[*advice.standard].scores[*first_criterion_for(study, CriterionRole::faithfulness)].mean);
  }
  if (!advice.overall) {
    return "None is recommended: without a score of faithfulness, no explanation can be told to be right.";
  }
  const size_t chosen = advice.overall->entry;
  const Scores& scores = study.entries[chosen].scores[advice.overall->criterion];
  const std::string range = std::isfinite(scores.interval.low) ? fmt::format("95 % interval {:.3g} to {:.3g}; ",
                                                                             scores.interval.low, scores.interval.high)
                                                               : std::string();
  std::string text = fmt::format(
      "Use {}: it follows the model {} (faithfulness {:.3g}; {}0 is chance, 1 is perfect). "
      "That is about following the model, not about the model being right.",
      short_name(study.entries[chosen].name), closeness(scores.mean), scores.mean, range);
  if (advice.one_number_fails) {
    text += " No list of one number for each feature describes this model well: features act together.";
  } else {
    text += fmt::format(" {}", others_words(study, advice, chosen));
  }
  if (opened && *opened != chosen) {
    text += fmt::format(" This page opens on another one: {}.", chosen_words(study, advice, *opened));
  }
  return text;
}

std::string cost_sentence(const Study& study, const Advice& advice, const StudyTimes& times,
                          std::optional<size_t> entry) {
  if (!entry) return fmt::format("The whole study took {}.", duration_words(times.total));
  const StudyEntry& chosen = study.entries[*entry];
  const uint64_t evaluations = advice.entries[*entry].evaluations;
  const size_t rows = std::max<size_t>(study.rows(), 1);
  const auto found = std::ranges::find(times.entries, chosen.name, &EntryTimes::entry);
  // The time of an aggregate is without its members.
  const bool timed = !chosen.aggregate() && found != times.entries.end() && std::isfinite(found->explaining);
  const std::string runs = evaluations == 0 ? std::string("no run of the model, whose own structure is read")
                                            : fmt::format("{} runs of the model, {} a row", with_commas(evaluations),
                                                          with_commas((evaluations + rows / 2) / rows));
  const std::string by = is_recommended(advice, *entry) ? "" : fmt::format(" by {}", short_name(chosen.name));
  return fmt::format("Explaining these {}{} takes {}{}.", plural(study.rows(), "row"), by, runs,
                     timed ? fmt::format(", and took {} here", duration_words(found->explaining)) : "");
}

std::string next_sentence(const Study& study, const Assessment& assessment) {
  const ModelQuality& quality = study.facts.quality;
  std::vector<std::string> looks;
  const size_t warnings = assessment.warnings.size();
  if (warnings > 0) {
    looks.push_back(warnings == 1 ? "read the warning below"
                                  : fmt::format("read the {} warnings below", with_commas(warnings)));
  }
  if (std::isfinite(quality.accuracy)) {
    const auto wrong =
        static_cast<uint64_t>(std::llround((1 - quality.accuracy) * static_cast<double>(quality.labelled)));
    if (wrong > 0) looks.push_back(fmt::format("look at the {} that the model gets wrong", plural(wrong, "row")));
  }
  std::string text = looks.empty() ? "" : fmt::format("{}.", capital(joined(looks)));
  size_t steps = 0;
  for (const std::string& step : assessment.advice.next) {
    if (steps++ == kStepsInSentence) break;
    text += fmt::format("{}{}", text.empty() ? "" : " ", step);
  }
  return text.empty() ? "Nothing that the numbers point to." : text;
}

}  // namespace

std::string page_title(const StudyFacts& facts) {
  return fmt::format("What drives {}, and which explanation to trust", model_name(facts));
}

std::string explained_value(const StudyFacts& facts) {
  std::string target = short_name(facts.target);
  if (facts.unit.empty() || facts.unit == "value") return target;
  if (facts.unit == "margin") return fmt::format("the score (margin) of {}", target);
  if (facts.unit == "log_odds") return fmt::format("the score (log-odds) of {}", target);
  return fmt::format("the {} of {}", one_line(facts.unit), target);
}

FactPairs page_sentences(const Study& study, const Assessment& assessment, const StudyTimes& times,
                         std::optional<size_t> entry) {
  return {{"Model", model_sentence(study.facts)},
          {"Drivers", drivers_sentence(study, assessment.advice, entry)},
          {"Explanation", explanation_sentence(study, assessment, entry)},
          {"Cost", cost_sentence(study, assessment.advice, times, entry)},
          {"Next", next_sentence(study, assessment)}};
}

}  // namespace assay
