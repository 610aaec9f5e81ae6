#include "assay/study/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "assay/core/table_text.h"
#include "assay/core/text.h"
#include "assay/evaluate/criteria.h"
#include "assay/explain/methods.h"

namespace assay {
namespace {

// An error below this share of its mean is not printed: it is below the digits that anybody reads.
constexpr double kUnseenError = 1e-6;
// More rows than anybody studies.
constexpr double kManyRows = 1e6;

// Short ways to read a study and its assessment.
struct Reader {
  const Study& study;
  const Assessment& assessment;

  const Scores& scores(size_t entry, size_t criterion) const { return study.entries[entry].scores[criterion]; }
  std::string name(size_t entry) const { return short_name(study.entries[entry].name); }
  std::string value(size_t entry, size_t criterion) const {
    return mean_with_error(scores(entry, criterion).mean, scores(entry, criterion).mean_error, 1);
  }
  // "a (also b and c)": the entry and those it speaks for.
  std::string voice(size_t entry) const {
    const std::vector<size_t> others = aliases_of(assessment.advice, entry);
    return others.empty() ? name(entry) : fmt::format("{} (also {})", name(entry), entry_names(study, others, 3));
  }
};

// Such numbers need no error: they say how large a difference is.
std::string plain(double value) {
  if (!std::isfinite(value)) return "unknown";
  const double rounded = std::round(value * 1000) / 1000;
  return fmt::format("{}", rounded == 0 ? 0.0 : rounded);
}

std::string range_text(const Interval& interval) {
  return fmt::format("{} to {}", plain(interval.low), plain(interval.high));
}

// Whether drawn rows of a background are in the entry or, for an aggregate, may be.
bool uses_background(const Reader& read, size_t index) {
  const std::string& method = read.study.entries[index].explanations.provenance.method;
  const auto known = std::ranges::find(methods(), method, &MethodInfo::name);
  if (known != methods().end() && !known->uses_reference) return false;
  const auto draw_of = [](const StudyEntry& entry) -> std::string_view { return entry.explanations.provenance.draw; };
  if (std::ranges::any_of(read.study.entries, [&](const StudyEntry& each) { return !draw_of(each).empty(); })) {
    return std::ranges::find(read.study.entries, kDrawnBackground, draw_of) != read.study.entries.end();
  }
  // Explanations of older studies do not say it.
  const ReferenceFacts& reference = read.study.facts.reference_facts;
  return reference.background() && reference.rows != read.study.facts.pool_rows_available;
}

// What the entry is like, beside its scores: "it adds up to the prediction, and nothing in it is sampled".
std::string qualities(const Reader& read, size_t index) {
  const EntryAdvice& entry = read.assessment.advice.entries[index];
  std::string sum =
      entry.complete ? "it adds up to the prediction" : "its values are relative: they do not add up to the prediction";
  if (!entry.exact) return sum;
  return fmt::format("{}, and nothing {} is sampled", sum,
                     uses_background(read, index) ? "but the background" : "in it");
}

std::string cost(const Reader& read, size_t entry) {
  return fmt::format("{} model evaluations", with_commas(read.assessment.advice.entries[entry].evaluations));
}

// Below this share of rows with a score, the sentence says on how many it rests.
constexpr double kGoodCoverage = 0.9;

std::string overall_sentence(const Reader& read) {
  const Advice& advice = read.assessment.advice;
  const Recommendation& chosen = *advice.overall;
  const EntryAdvice& entry = advice.entries[chosen.entry];
  std::string place = "the best here";
  if (*advice.most_faithful != chosen.entry) {
    const EntryAdvice& best = advice.entries[*advice.most_faithful];
    const std::string_view why = entry.complete && !best.complete       ? ", which does not add up to the prediction"
                                 : best.faithful != Faithful::yes       ? ", which is not known to be faithful"
                                 : best.behind < -advice.options.margin ? ", which is above what Shapley values reach"
                                 : entry.exact && !best.exact           ? ", which is sampled"
                                 : entry.evaluations < best.evaluations ? ", which takes more evaluations"
                                                                        : "";
    const std::string other = read.name(*advice.most_faithful);
    const double apart =
        read.scores(*advice.most_faithful, chosen.criterion).mean - read.scores(chosen.entry, chosen.criterion).mean;
    const std::string lost = plain(std::fabs(apart));
    place = lost == "0" ? fmt::format("to three digits that of {}{}", other, why)
                        : fmt::format("{} less than that of {}{}", lost, other, why);
  }
  const Scores& scores = read.scores(chosen.entry, chosen.criterion);
  const auto defined = std::ranges::count_if(scores.values, [](double value) { return std::isfinite(value); });
  const std::string rows = scores.of_rows && scores.coverage < kGoodCoverage
                               ? fmt::format(" on the {} of {} rows that have one", defined, scores.values.size())
                               : std::string();
  return fmt::format("Use {}: faithfulness {}{}, {}; {}; {}.", read.voice(chosen.entry),
                     read.value(chosen.entry, chosen.criterion), rows, place, qualities(read, chosen.entry),
                     cost(read, chosen.entry));
}

// What it costs to choose this entry in place of the one that is recommended overall.
std::string against_overall(const Reader& read, size_t entry) {
  const Advice& advice = read.assessment.advice;
  const EntryAdvice& own = advice.entries[entry];
  const double lost = own.behind - advice.entries[advice.overall->entry].behind;
  const std::string size = plain(std::fabs(lost));
  const std::string most =
      std::isfinite(own.behind_interval.high)
          ? fmt::format("; it is at most {} behind {}", plain(own.behind_interval.high), read.name(*advice.standard))
          : std::string();
  return fmt::format("Against {} it {} faithfulness{}; it takes {}", read.name(advice.overall->entry),
                     size == "0" ? "costs no" : fmt::format("{} {} of", lost > 0 ? "costs" : "gains", size), most,
                     cost(read, entry));
}

std::string aim_sentence(const Reader& read, const StudyAim& aim, const Recommendation& chosen) {
  const Advice& advice = read.assessment.advice;
  const std::string value =
      fmt::format("{}{}{}", aim.measure, aim.measure.empty() ? "" : " ", read.value(chosen.entry, chosen.criterion));
  const bool same = chosen.entry == advice.overall->entry;
  std::string sentence =
      same ? fmt::format("When {} matters most, use {} as well: {}", aim.word, read.name(chosen.entry), value)
           : fmt::format("When {} matters most, use {}: {}", aim.word, read.voice(chosen.entry), value);
  if (!chosen.tied.empty()) {
    sentence += fmt::format("; the rows do not tell it from {}", entry_names(read.study, chosen.tied, 3));
  }
  sentence += ".";
  if (!same) sentence += fmt::format(" {}.", against_overall(read, chosen.entry));
  if (!chosen.unfaithful.empty() && aim.role != CriterionRole::faithfulness) {
    sentence += fmt::format(" Ahead by {}, but not known to be faithful: {}.", aim.word,
                            entry_names(read.study, chosen.unfaithful, 3));
  }
  return sentence;
}

// Whether aggregates are worth their cost, by each aim.
std::string gains_sentence(const Reader& read) {
  const Advice& advice = read.assessment.advice;
  bool any = false;
  bool faithful = false;
  bool faithful_method = false;
  for (size_t e = 0; e < read.study.entries.size(); ++e) {
    const bool aggregate = read.study.entries[e].aggregate();
    any = any || aggregate;
    if (advice.entries[e].faithful == Faithful::yes) (aggregate ? faithful : faithful_method) = true;
  }
  if (!any) return {};
  if (!faithful) return "No aggregate is known to be faithful here: use single methods.";
  if (!faithful_method) return "Only aggregates are known to be faithful here, no single method.";
  if (advice.gains.empty()) {
    bool alike = true;
    for (size_t e = 0; e < read.study.entries.size(); ++e) {
      const bool counts = read.study.entries[e].aggregate() && advice.entries[e].faithful == Faithful::yes;
      alike = alike && (!counts || !read.study.entries[advice.entries[e].alias_of].aggregate());
    }
    return fmt::format("No aggregate gains over the best method{}.",
                       alike ? ": the faithful ones say what a method says" : "");
  }
  std::vector<std::string> better;
  std::vector<std::string> others;
  for (const Gain& gain : advice.gains) {
    const auto aim =
        std::ranges::find(kStudyAims, role_of(read.study.criterion_names[gain.criterion]), &StudyAim::role);
    if (gain.interval.low > 0) {
      better.push_back(fmt::format("{} over {} in {}, by {} ({})", read.name(gain.aggregate), read.name(gain.method),
                                   aim->word, plain(gain.difference), range_text(gain.interval)));
    } else {
      others.emplace_back(aim->word);
    }
  }
  if (better.empty()) return fmt::format("No aggregate gains over the best method, in {}.", joined(others, "or"));
  const std::string none = others.empty() ? "" : fmt::format(" None gains in {}.", joined(others, "or"));
  return fmt::format("Aggregates gain over the best faithful method: {}.{}", fmt::join(better, "; "), none);
}

std::string undecided_sentence(const Reader& read) {
  const Advice& advice = read.assessment.advice;
  std::vector<size_t> found;
  double most = 0;
  for (size_t e = 0; e < advice.entries.size(); ++e) {
    const EntryAdvice& entry = advice.entries[e];
    if (entry.faithful != Faithful::undecided || entry.alias_of != e) continue;
    found.push_back(e);
    if (!(entry.rows_to_decide <= most)) most = std::isnan(most) ? most : entry.rows_to_decide;
  }
  if (found.empty()) return {};
  const std::string rows = std::isnan(most)   ? std::string("more of them")
                           : most < kManyRows ? fmt::format("about {} rows", with_commas(static_cast<uint64_t>(most)))
                                              : std::string("more rows than are practical");
  return fmt::format("Undecided: the rows do not say whether {} within {} of the faithfulness of {}; {} would.",
                     found.size() == 1 ? fmt::format("{} is", read.name(found[0]))
                                       : fmt::format("{} are", entry_names(read.study, found, 4)),
                     plain(advice.options.margin), read.name(*advice.standard), rows);
}

std::string one_number_sentence(const Reader& read) {
  const Advice& advice = read.assessment.advice;
  if (!advice.none_describes && !advice.one_number_fails) return {};
  const size_t criterion = *first_criterion_for(read.study, CriterionRole::faithfulness);
  if (advice.none_describes) {
    return fmt::format(
        "None of these explanations describes the model at these rows: the best faithfulness, that of {}, is {}, at "
        "most {}. Shapley values are not among them: add kernel_shap or shapley_sampling.",
        read.name(*advice.standard), read.value(*advice.standard, criterion), plain(advice.best_upper));
  }
  return fmt::format(
      "One number for each feature does not describe this model at these rows: the faithfulness of {} is {}, at most "
      "{}. What features do together matters more than what each does alone.",
      read.name(*advice.standard), read.value(*advice.standard, criterion), plain(advice.best_upper));
}

// Where nothing is recommended: who is best by each of the first criteria that rank.
std::vector<std::string> by_criterion(const Reader& read) {
  constexpr size_t kMostCriteria = 4;
  const auto voice = [&](size_t e) { return read.assessment.advice.entries[e].alias_of; };
  std::vector<std::string> sentences;
  for (const CriterionRanking& ranking : read.assessment.rankings) {
    if (!ranking.ranks || sentences.size() == kMostCriteria) continue;
    const size_t best = ranking.order[0];
    std::vector<size_t> tied;
    for (const size_t e : ranking.order) {
      if (voice(e) != voice(best) && voice(e) == e && ranking.standing[e] != Standing::worse) tied.push_back(e);
    }
    sentences.push_back(
        fmt::format("By {}, {} comes first ({}){}.", criterion_label(read.study, ranking.criterion), read.name(best),
                    read.value(best, ranking.criterion),
                    tied.empty() ? std::string()
                                 : fmt::format("; the rows do not tell it from {}", entry_names(read.study, tied, 4))));
  }
  if (sentences.empty()) return {"No criterion here says which explanation is better."};
  const bool scored = first_criterion_for(read.study, CriterionRole::faithfulness).has_value();
  sentences.push_back(fmt::format("Nothing is recommended: {}, and the best by another criterion may be wrong.",
                                  read.assessment.advice.none_describes ? "none describes the model"
                                  : scored                              ? "no explanation has a faithfulness"
                                                                        : "faithfulness was not scored"));
  if (std::string first = one_number_sentence(read); !first.empty()) {
    sentences.insert(sentences.begin(), std::move(first));
  }
  return sentences;
}

}  // namespace

std::optional<size_t> first_criterion_for(const Study& study, CriterionRole role) {
  const auto found =
      std::ranges::find(study.criterion_names, role, [](const std::string& name) { return role_of(name); });
  if (found == study.criterion_names.end()) return {};
  return static_cast<size_t>(found - study.criterion_names.begin());
}

std::vector<size_t> ranked_aims(const Study& study, const std::vector<CriterionRanking>& rankings) {
  std::vector<size_t> aims;
  for (const StudyAim& aim : kStudyAims) {
    const auto criterion = first_criterion_for(study, aim.role);
    if (criterion && rankings[*criterion].ranks) aims.push_back(*criterion);
  }
  return aims;
}

std::string criterion_label(const Study& study, size_t criterion) {
  const std::string& name = study.criterion_names[criterion];
  return short_name(std::ranges::count(study.criterion_names, name) == 1 ? name : study.criteria[criterion]);
}

std::string mean_with_error(double mean, double error, int digits) {
  if (std::isnan(error) || !std::isfinite(mean)) return number_text(mean);
  if (error <= kUnseenError * std::fabs(mean)) return number_text(mean);
  constexpr int kMostDecimals = 6;
  constexpr double kLongest = 1e4;  // from here on, number_text() is easier to read
  if (error > 0 && std::isfinite(error) && std::fabs(mean) < kLongest) {
    const int decimals = std::max(0, digits - 1 - static_cast<int>(std::floor(std::log10(error))));
    const double unit = std::pow(10.0, -decimals);
    const double shown = std::fabs(mean) < unit / 2 ? 0 : mean;  // no minus before zero
    if (decimals <= kMostDecimals) return fmt::format("{:.{}f} +- {:.{}f}", shown, decimals, error, decimals);
  }
  return fmt::format("{} +- {}", number_text(mean),
                     std::isfinite(error) ? fmt::format("{:.{}g}", error, digits) : "inf");
}

std::string whole_percent(double share) {
  const double percent = std::round(share * 100);
  return fmt::format("{:.0f} %", share > 0 && share < 1 ? std::clamp(percent, 1.0, 99.0) : percent);
}

std::string entry_names(const Study& study, const std::vector<size_t>& entries, size_t most, std::string_view last) {
  std::vector<std::string> names;
  // One name instead of "1 more".
  const size_t shown = entries.size() > most + 1 ? most : entries.size();
  for (size_t i = 0; i < shown; ++i) names.push_back(short_name(study.entries[entries[i]].name));
  if (shown < entries.size()) names.push_back(fmt::format("{} more", with_commas(entries.size() - shown)));
  return joined(names, last);
}

std::vector<std::string> main_sentences(const Study& study, const Assessment& assessment) {
  const Reader read{study, assessment};
  if (!assessment.advice.overall) return by_criterion(read);
  std::vector<std::string> sentences = {one_number_sentence(read), overall_sentence(read), gains_sentence(read)};
  std::erase_if(sentences, [](const std::string& sentence) { return sentence.empty(); });
  return sentences;
}

std::vector<std::string> next_steps(const Study& study, const Advice& advice) {
  if (advice.none_describes) return {"Study a Shapley method as well: kernel_shap or shapley_sampling."};
  if (!advice.overall) return {"Score faithfulness, so that an explanation can be recommended."};
  std::vector<std::string> steps = {fmt::format("Explain the rows that you need by {}, against the study's reference.",
                                                short_name(study.entries[advice.overall->entry].name))};
  double rows = 0;
  for (const EntryAdvice& entry : advice.entries) {
    if (entry.faithful == Faithful::undecided) rows = std::max(rows, entry.rows_to_decide);
  }
  if (rows > 0 && rows < kManyRows) {
    steps.push_back(
        fmt::format("Study about {} rows, if what is undecided matters.", with_commas(static_cast<uint64_t>(rows))));
  }
  if (advice.one_number_fails)
    steps.emplace_back("Look at what features do together before you trust any attribution.");
  return steps;
}

std::vector<std::string> verdict_sentences(const Study& study, const Assessment& assessment) {
  const Reader read{study, assessment};
  const Advice& advice = assessment.advice;
  if (!advice.overall) return by_criterion(read);
  std::vector<std::string> sentences;
  const auto add = [&](std::string sentence) {
    if (!sentence.empty()) sentences.push_back(std::move(sentence));
  };
  add(one_number_sentence(read));
  add(overall_sentence(read));
  for (const StudyAim& aim : kStudyAims) {
    const auto& chosen = aim.role == CriterionRole::faithfulness ? advice.faithfulness
                         : aim.role == CriterionRole::stability  ? advice.stability
                                                                 : advice.simplicity;
    const bool said = aim.role == CriterionRole::faithfulness && chosen && chosen->entry == advice.overall->entry;
    if (chosen && !said) add(aim_sentence(read, aim, *chosen));
  }
  add(gains_sentence(read));
  add(undecided_sentence(read));
  return sentences;
}

}  // namespace assay
