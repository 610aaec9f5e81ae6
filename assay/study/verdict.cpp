#include "assay/study/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "assay/core/statistics.h"
#include "assay/core/table_text.h"
#include "assay/core/text.h"
#include "assay/evaluate/criteria.h"

namespace assay {
namespace {

// Short ways to read a study and its assessment.
struct Reader {
  const Study& study;
  const Assessment& assessment;

  const Scores& scores(size_t entry, size_t criterion) const { return study.entries[entry].scores[criterion]; }
  std::string name(size_t entry) const { return short_name(study.entries[entry].name); }
  std::string value(size_t entry, size_t criterion) const {
    return mean_with_error(scores(entry, criterion).mean, scores(entry, criterion).mean_error, 1);
  }
  const CriterionRanking* ranking(CriterionRole role) const {
    const auto found = first_criterion_for(study, role);
    return found && assessment.rankings[*found].ranks ? &assessment.rankings[*found] : nullptr;
  }
};

std::vector<size_t> top_of(const CriterionRanking& ranking) {
  std::vector<size_t> top;
  for (const size_t e : ranking.order) {
    if (ranking.standing[e] != Standing::worse) top.push_back(e);
  }
  return top;
}

// "use x (0.93 +- 0.01): significantly better than all 7 others". No full stop: the caller may add a remark.
std::string choice(const Reader& read, const CriterionRanking& ranking, std::string_view measure) {
  const std::vector<size_t>& order = ranking.order;
  const std::vector<size_t> top = top_of(ranking);
  const std::string best = read.name(order[0]);
  const std::string value =
      fmt::format("{}{}{}", measure, measure.empty() ? "" : " ", read.value(order[0], ranking.criterion));
  if (order.size() == 1) return fmt::format("only {} has a score ({})", best, value);
  if (top.size() == 1) {
    const std::string others =
        order.size() == 2 ? "the other one" : fmt::format("all {} others", with_commas(order.size() - 1));
    return fmt::format("use {} ({}): significantly better than {}{}", best, value, others,
                       order.size() < read.study.entries.size() ? " that has a score" : "");
  }
  if (top.size() == order.size()) {
    return fmt::format(
        "the numbers do not choose: {} ({}) comes first, not significantly better than {}", best, value,
        top.size() == 2 ? read.name(order[1]) : fmt::format("any of the {} others", with_commas(order.size() - 1)));
  }
  const std::vector<size_t> rest(top.begin() + 1, top.end());
  const size_t worse = order.size() - top.size();
  return fmt::format("use {} ({}) or {}: not distinguishable at the top, and {} is significantly better than {}", best,
                     value, entry_names(read.study, rest, 4, "or"), best,
                     worse == 1 ? "the other one" : fmt::format("the {} others", with_commas(worse)));
}

// Says so if another entry is best by the largest change than by the mean change.
std::string stability_remark(const Reader& read, const CriterionRanking& average) {
  const CriterionRanking* largest = read.ranking(CriterionRole::largest_change);
  if (largest == nullptr) return {};
  const size_t best = average.order[0];
  const Standing standing = largest->standing[best];
  if (standing == Standing::best || standing == Standing::tied) return {};
  const size_t other = largest->order[0];
  const std::string of_best = standing == Standing::undefined ? "no score" : read.value(best, largest->criterion);
  return fmt::format("; by the largest change ({}) {} comes first: {} against {}",
                     read.study.criterion_names[largest->criterion], read.name(other),
                     read.value(other, largest->criterion), of_best);
}

std::string simplicity_remark(const Reader& read, const CriterionRanking& complexity) {
  const size_t simplest = complexity.order[0];
  const CriterionRanking* faithfulness = read.ranking(CriterionRole::faithfulness);
  const std::string start = "; complexity says nothing about truth: the faithfulness of";
  if (faithfulness == nullptr || faithfulness->standing[simplest] == Standing::undefined) {
    return fmt::format("{} {} is not known", start, read.name(simplest));
  }
  const size_t best = faithfulness->order[0];
  const std::string value = read.value(simplest, faithfulness->criterion);
  if (best == simplest) return fmt::format("{} {} is {}, the best here", start, read.name(simplest), value);
  return fmt::format("{} {} is {}, the best is {}", start, read.name(simplest), value,
                     read.value(best, faithfulness->criterion));
}

std::string aim_sentence(const Reader& read, const StudyAim& aim, const CriterionRanking& ranking) {
  std::string sentence = fmt::format("When {} matters most, {}", aim.word, choice(read, ranking, aim.measure));
  if (aim.role == CriterionRole::stability) sentence += stability_remark(read, ranking);
  if (aim.role == CriterionRole::simplicity) sentence += simplicity_remark(read, ranking);
  return fmt::format("{}.", sentence);
}

// The best aggregate against the best single method. The same data chose both, so the p-value is multiplied by the
// number of pairs of an aggregate and a method (Bonferroni).
std::string gain(const Reader& read, const StudyAim& aim, const CriterionRanking& ranking) {
  const auto is_aggregate = [&](size_t e) { return read.study.entries[e].aggregate(); };
  const auto method = std::ranges::find_if_not(ranking.order, is_aggregate);
  const auto aggregate = std::ranges::find_if(ranking.order, is_aggregate);
  if (method == ranking.order.end() || aggregate == ranking.order.end()) return {};
  const size_t criterion = ranking.criterion;
  const EntryComparison test = entry_comparison(read.scores(*aggregate, criterion), read.scores(*method, criterion));
  const auto aggregates = static_cast<double>(std::ranges::count_if(ranking.order, is_aggregate));
  const double pairs = aggregates * (static_cast<double>(ranking.order.size()) - aggregates);
  const bool better = read.study.directions[criterion] == Direction::lower ? test.difference < 0 : test.difference > 0;
  const std::string outcome = !(pairs * test.p_value < kSignificance) ? "no significant difference"
                              : better                                ? "significantly better"
                                                                      : "significantly worse";
  return fmt::format("{} {} ({}: {}; {}: {})", aim.word, outcome, read.name(*aggregate),
                     read.value(*aggregate, criterion), read.name(*method), read.value(*method, criterion));
}

// The ranks of some entries by one criterion; equal ones share their mean rank.
double rank_among(const Reader& read, const std::vector<size_t>& entries, size_t entry, size_t criterion) {
  const double sign = direction_sign(read.study.directions[criterion]);
  const double own = sign * read.scores(entry, criterion).mean;
  double rank = 1;
  for (const size_t other : entries) {
    if (other == entry) continue;
    const double value = sign * read.scores(other, criterion).mean;
    if (above_rounding(value, own)) {
      rank += 1;
    } else if (!above_rounding(own, value)) {
      rank += 0.5;
    }
  }
  return rank;
}

std::vector<size_t> with_all(const Reader& read, const std::vector<size_t>& aims) {
  std::vector<size_t> entries;
  for (size_t e = 0; e < read.study.entries.size(); ++e) {
    if (std::ranges::all_of(aims, [&](size_t aim) { return std::isfinite(read.scores(e, aim).mean); })) {
      entries.push_back(e);
    }
  }
  return entries;
}

std::string words_of(const Reader& read, const std::vector<size_t>& aims) {
  std::vector<std::string> words;
  for (const size_t aim : aims) {
    const auto known = std::ranges::find(kStudyAims, role_of(read.study.criterion_names[aim]), &StudyAim::role);
    words.emplace_back(known->word);
  }
  return joined(words);
}

std::string balance(const Reader& read, const std::vector<size_t>& aims, const std::vector<size_t>& entries) {
  size_t chosen = 0;
  double least = std::numeric_limits<double>::infinity();
  for (const size_t e : entries) {
    if (read.assessment.dominated[e]) continue;
    double sum = 0;
    for (const size_t aim : aims) sum += rank_among(read, entries, e, aim);
    const double rank = sum / static_cast<double>(aims.size());
    if (rank >= least) continue;
    chosen = e;
    least = rank;
  }
  return fmt::format(
      "As a balance, {}: its mean rank by {} is the best ({:.1f} among {}). This is a rule of thumb, not a test.",
      read.name(chosen), words_of(read, aims), least, with_commas(entries.size()));
}

std::string domination(const Reader& read, const std::vector<size_t>& aims, size_t compared) {
  constexpr size_t kMostListed = 8;
  std::vector<std::string> dominated;
  size_t count = 0;
  for (size_t e = 0; e < read.study.entries.size(); ++e) {
    if (!read.assessment.dominated[e] || ++count > kMostListed) continue;
    dominated.push_back(fmt::format("{} (by {})", read.name(e), read.name(read.assessment.dominated_by[e])));
  }
  const std::string words = words_of(read, aims);
  if (count == 0) {
    return fmt::format("None of the {} is dominated: whichever you choose, you trade {}.", with_commas(compared),
                       words);
  }
  if (count > kMostListed) dominated.push_back(fmt::format("{} more", with_commas(count - kMostListed)));
  return fmt::format("Dominated: {}. The other one has means at least as good by {}, and one that is better.",
                     joined(dominated), words);
}

}  // namespace

bool above_rounding(double a, double b) { return a - b > kTieRounding * std::max(std::fabs(a), std::fabs(b)); }

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
  if (error < 1e-12 * std::fabs(mean)) error = 0;  // only rounding
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

std::vector<std::string> verdict_sentences(const Study& study, const Assessment& assessment) {
  const Reader read{study, assessment};
  std::vector<std::string> sentences;
  std::vector<std::string> gains;
  for (const StudyAim& aim : kStudyAims) {
    const CriterionRanking* ranking = read.ranking(aim.role);
    if (ranking == nullptr) continue;
    sentences.push_back(aim_sentence(read, aim, *ranking));
    if (auto found = gain(read, aim, *ranking); !found.empty()) gains.push_back(std::move(found));
  }
  const std::vector<size_t> aims = ranked_aims(study, assessment.rankings);
  if (aims.empty()) {
    // Without the usual aims, the user chooses by the criteria that were asked for.
    constexpr size_t kMostOthers = 4;
    for (const CriterionRanking& ranking : assessment.rankings) {
      if (!ranking.ranks || sentences.size() == kMostOthers) continue;
      sentences.push_back(
          fmt::format("By {}, {}.", criterion_label(study, ranking.criterion), choice(read, ranking, "")));
    }
    if (sentences.empty()) sentences.emplace_back("No criterion here says which explanation is better.");
    return sentences;
  }
  if (!gains.empty()) {
    sentences.push_back(fmt::format("The best aggregate against the best single method: {}.", joined(gains)));
  }
  const std::vector<size_t> compared = with_all(read, aims);
  if (aims.size() > 1 && compared.size() > 1) {
    sentences.push_back(balance(read, aims, compared));
    sentences.push_back(domination(read, aims, compared.size()));
  }
  return sentences;
}

}  // namespace assay
