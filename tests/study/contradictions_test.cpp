// Random tables of scores, searched for advice that contradicts itself: between recommendations, marks, intervals and
// sentences.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "assay/core/random.h"
#include "assay/study/assess.h"
#include "assay/study/verdict.h"
#include "tests/explain/toys.h"
#include "tests/study/hand_study.h"

namespace assay::testing {
namespace {

// Means from a few values, so that ties are frequent; spreads from none to large; missing rows and entries; aliases,
// ranks, sampled and incomplete entries; margins and ties from nothing to everything.
Study random_table(RandomStream& random) {
  const size_t rows = 1 + random.below(random.below(3) == 0 ? 6 : 60);
  Study study = study_of_aims(rows);
  if (random.below(12) == 0) study.criterion_names[0] = study.criteria[0] = "sparseness";
  constexpr std::array<double, 5> kMargins = {0.05, 0.05, 0, 0.3, 1};
  constexpr std::array<double, 4> kTies = {0.002, 0.002, 0, 0.1};
  study.advice = {kMargins[random.below(5)], kTies[random.below(4)]};
  study.facts.seed = random.below(1000);
  constexpr std::array<double, 6> kOffsets = {0, 0.001, 0.02, 0.05, 0.2, 0.6};
  constexpr std::array<double, 4> kSpreads = {0, 0.001, 0.05, 0.3};
  const double top = random.below(4) == 0 ? 0.4 : 0.95;
  const size_t count = 1 + random.below(8);
  const size_t shapley = random.below(2) == 0 ? 0 : count;  // which entry has Shapley values
  for (size_t e = 0; e < count; ++e) {
    const EntryKind kind = e > count / 2 ? EntryKind::aggregate : EntryKind::method;
    std::vector<std::vector<double>> values;
    for (size_t c = 0; c < 3; ++c) {
      const double offset = kOffsets[random.below(6)];
      const double mean = c == 0 ? top - offset : 1 + offset;
      const double spread = kSpreads[random.below(4)];
      const uint32_t missing = random.below(4) == 0 ? 3 : 0;
      const bool none = random.below(20) == 0;
      values.emplace_back();
      for (size_t r = 0; r < rows; ++r) {
        const bool hole = none || (missing > 0 && random.below(missing) == 0);
        values.back().push_back(hole ? NAN : mean + spread * random.normal());
      }
    }
    const bool ranks = kind == EntryKind::aggregate && random.below(5) == 0;
    if (ranks) values[0] = values[1] = std::vector<double>(rows, NAN);  // these two read signs
    StudyEntry& entry = add_entry(study, fmt::format("e{}", e), kind, values);
    Explanations& made = entry.explanations;
    made.values = matrix_of({{1, static_cast<float>(random.normal())}, {static_cast<float>(e), 1}});
    made.evaluations = random.below(3);
    made.combination.relative = random.below(3) == 0;
    if (random.below(3) == 0) made.standard_error = matrix_of({{0.5F, 0}, {0, 0}});
    if (ranks) made.provenance.method = "borda";
    if (e == shapley) {
      entry.name = entry.stem = made.provenance.method = "exact_shapley";
      made.combination.relative = false;
    }
    if (e > 0 && !ranks && random.below(4) == 0) {
      const StudyEntry& other = study.entries[random.below(static_cast<uint32_t>(e))];
      made.values = other.explanations.values;
      made.provenance.method = other.explanations.provenance.method;
      for (float& v : made.values.values()) v *= 2;
      entry.scores = other.scores;
    }
  }
  return study;
}

class Search {
 public:
  explicit Search(const Study& study) : study_(study), found_(assess(study)), advice_(found_.advice) {
    for (size_t c = 0; c < study.criteria.size(); ++c) {
      std::vector<size_t> entries;
      for (size_t e = 0; e < study.entries.size(); ++e) {
        if (advice_.entries[e].alias_of == e && std::isfinite(mean(e, c))) entries.push_back(e);
      }
      std::ranges::stable_sort(entries, [&](size_t a, size_t b) { return mean(a, c) > mean(b, c); });
      compared_.emplace_back(study, c, entries, Context{});
    }
  }

  void run() {
    states();
    marks();
    if (!advice_.overall) {
      RC_ASSERT(((!advice_.most_faithful || advice_.none_describes) && !advice_.faithfulness && !advice_.stability &&
                 !advice_.simplicity));
      for (const std::string& sentence : found_.verdict) RC_ASSERT(!sentence.starts_with("Use "));
      return;
    }
    recommendations();
    gains();
    sentences();
  }

 private:
  double mean(size_t e, size_t c) const {
    return direction_sign(study_.directions[c]) * study_.entries[e].scores[c].mean;
  }
  const EntryAdvice& of(size_t e) const { return advice_.entries[e]; }
  const std::string& name(size_t e) const { return study_.entries[e].name; }

  // Above the standard by more than the margin.
  bool fitted(size_t e) const { return of(e).behind < -advice_.options.margin; }
  bool may_be_recommended(size_t e) const { return of(e).faithful == Faithful::yes && of(e).has_signs && !fitted(e); }

  // Whoever is faithful, or not, or undecided, is so by its interval; aliases are what their speaker is.
  void states() const {
    for (size_t e = 0; e < study_.entries.size(); ++e) {
      const EntryAdvice& entry = of(e);
      RC_ASSERT(of(entry.alias_of).alias_of == entry.alias_of);
      RC_ASSERT(entry.faithful == of(entry.alias_of).faithful);
      RC_ASSERT(entry.has_signs == of(entry.alias_of).has_signs);
      const Interval behind = entry.behind_interval;
      const bool best = advice_.standard && entry.alias_of == *advice_.standard;
      const double margin = advice_.options.margin;
      const bool tie = entry.behind <= advice_.options.tie;
      if (entry.faithful == Faithful::yes) RC_ASSERT((best || tie || behind.high <= margin));
      if (advice_.none_describes) {
        RC_ASSERT(entry.faithful != Faithful::yes && entry.faithful != Faithful::undecided);
        continue;
      }
      if (entry.faithful == Faithful::no) RC_ASSERT((!best && behind.low > margin));
      if (entry.faithful == Faithful::undecided) {
        RC_ASSERT((!best && !(behind.low > margin) && !(behind.high <= margin)));
        RC_ASSERT(!(entry.rows_to_decide < 2));
      } else {
        RC_ASSERT(std::isnan(entry.rows_to_decide));
      }
      if (std::isnan(advice_.critical) && !best) RC_ASSERT((std::isnan(behind.low) && std::isnan(behind.high)));
      if (!entry.has_signs) RC_ASSERT(entry.faithful == Faithful::unknown);
    }
    RC_ASSERT(advice_.overall.has_value() == (advice_.most_faithful && !advice_.none_describes));
    if (!advice_.most_faithful) return;
    RC_ASSERT((of(*advice_.standard).faithful == Faithful::yes) == !advice_.none_describes);
    const size_t c = *first_criterion_for(study_, CriterionRole::faithfulness);
    if (*advice_.standard != *advice_.most_faithful) RC_ASSERT(of(*advice_.standard).shapley);
    for (const size_t e : compared_[c].entries()) {
      if (of(e).has_signs) RC_ASSERT(mean(e, c) <= mean(*advice_.most_faithful, c));
      if (of(e).has_signs && of(e).shapley) RC_ASSERT(mean(e, c) <= mean(*advice_.standard, c));
    }
    const bool attributes = of(*advice_.standard).complete && of(*advice_.standard).shapley;
    RC_ASSERT(advice_.one_number_fails == (attributes && advice_.best_upper < 0.5));
    RC_ASSERT(advice_.none_describes == (!attributes && advice_.best_upper < 0.5));
  }

  // Marks of the table against the intervals, and against those of the advice.
  void marks() const {
    for (const CriterionRanking& ranking : found_.rankings) {
      if (!ranking.ranks) continue;
      const size_t c = ranking.criterion;
      const size_t first = of(ranking.order[0]).alias_of;
      size_t best = 0;
      size_t rivals = 0;
      size_t worse = 0;
      for (const size_t e : ranking.order) {
        const size_t voice = of(e).alias_of;
        const Standing standing = ranking.standing[e];
        RC_ASSERT((standing != Standing::undefined && mean(e, c) <= mean(ranking.order[0], c)));
        RC_ASSERT(standing == ranking.standing[voice]);
        best += standing == Standing::best;
        if (voice == first) continue;
        rivals++;
        worse += standing == Standing::worse;
        RC_ASSERT((standing == (compared_[c].better(first, voice) ? Standing::worse : Standing::tied)));
        RC_ASSERT((standing != Standing::worse || ranking.behind_interval[e].low > 0));
        const bool same_family =
            advice_.overall && advice_.overall->criterion == c && *advice_.standard == first && of(e).has_signs;
        if (same_family) {
          RC_ASSERT((std::isnan(of(e).behind_interval.low)
                         ? std::isnan(ranking.behind_interval[e].low)
                         : of(e).behind_interval.low == ranking.behind_interval[e].low));
        }
      }
      RC_ASSERT(((best > 0) == (rivals > 0 && worse == rivals)));
    }
  }

  void recommendations() const {
    const double tie = advice_.options.tie;
    for (const auto* made : {&advice_.overall, &advice_.faithfulness, &advice_.stability, &advice_.simplicity}) {
      if (!*made) continue;
      const Recommendation& chosen = **made;
      const size_t c = chosen.criterion;
      const CriterionComparison& compared = compared_[c];
      RC_ASSERT(of(chosen.entry).faithful == Faithful::yes);
      RC_ASSERT((of(chosen.entry).alias_of == chosen.entry && of(chosen.entry).has_signs));
      std::vector<int> listed(study_.entries.size(), 0);
      for (const auto* list : {&chosen.tied, &chosen.better, &chosen.ahead, &chosen.unfaithful}) {
        for (const size_t e : *list) {
          listed[e]++;
          RC_ASSERT((e != chosen.entry && of(e).alias_of == e && of(e).has_signs));
          RC_ASSERT((of(e).faithful == Faithful::yes) == (list != &chosen.unfaithful));
        }
      }
      RC_ASSERT(*std::ranges::max_element(listed) <= 1);
      for (const size_t e : compared.entries()) {  // nobody is forgotten
        const bool counts = e != chosen.entry && of(e).has_signs && of(e).faithful == Faithful::yes;
        RC_ASSERT((!counts || listed[e] == 1));
      }
      for (const size_t e : chosen.tied) {
        RC_ASSERT((!compared.better(chosen.entry, e) && !compared.better(e, chosen.entry)));
      }
      for (const size_t e : chosen.better) RC_ASSERT(compared.between(chosen.entry, e).interval.low > 0);
      for (const size_t e : chosen.unfaithful) RC_ASSERT(mean(e, c) > mean(chosen.entry, c));
      const bool overall = made == &advice_.overall;
      for (const size_t e : chosen.ahead) RC_ASSERT(compared.between(e, chosen.entry).interval.low > 0);
      if (made == &advice_.stability || made == &advice_.simplicity) {
        best_for_aim(chosen);
        continue;
      }
      // Whoever is ahead lacks completeness, or is ahead by no more than the tie.
      for (const size_t e : chosen.ahead) {
        const bool incomplete = overall && of(chosen.entry).complete && !of(e).complete;
        RC_ASSERT((incomplete || fitted(e) || mean(e, c) - mean(chosen.entry, c) <= tie));
      }
      // The choice itself, by the rule: nobody in the same class has a mean better by more than the tie, and nobody
      // within the tie of the best is better made.
      std::vector<size_t> candidates;
      for (const size_t e : compared.entries()) {
        if (may_be_recommended(e)) candidates.push_back(e);
      }
      const bool some_complete = std::ranges::any_of(candidates, [&](size_t e) { return of(e).complete; });
      if (overall && some_complete) std::erase_if(candidates, [&](size_t e) { return !of(e).complete; });
      RC_ASSERT(std::ranges::count(candidates, chosen.entry) == 1);
      const double most = mean(candidates[0], c);
      RC_ASSERT(most - mean(chosen.entry, c) <= tie);
      for (const size_t e : candidates) {
        if (most - mean(e, c) > tie) continue;
        const EntryAdvice& a = of(e);
        const EntryAdvice& b = of(chosen.entry);
        RC_ASSERT((overall || b.complete || !a.complete));
        if (!overall && a.complete != b.complete) continue;
        RC_ASSERT((b.exact || !a.exact));
        if (a.exact == b.exact) RC_ASSERT(b.evaluations <= a.evaluations);
      }
    }
    if (some_driver()) {
      double sum = 0;
      for (const Driver& driver : advice_.drivers) sum += driver.share;
      RC_ASSERT(std::fabs(sum - 1) < 1e-9);
      RC_ASSERT(std::ranges::is_sorted(advice_.drivers, std::greater<>(), &Driver::size));
    }
  }
  // A method that nothing faithful is better than, if there is one, and none such is better made. An aggregate only if
  // it is better than every faithful method; then it is also said to gain.
  void best_for_aim(const Recommendation& chosen) const {
    const CriterionComparison& compared = compared_[chosen.criterion];
    std::vector<size_t> methods;
    std::vector<size_t> candidates;
    for (const size_t e : compared.entries()) {
      if (!may_be_recommended(e)) continue;
      candidates.push_back(e);
      if (!study_.entries[e].aggregate()) methods.push_back(e);
    }
    std::vector<size_t> not_beaten = methods;
    std::erase_if(not_beaten, [&](size_t e) {
      return std::ranges::any_of(candidates, [&](size_t other) { return other != e && compared.better(other, e); });
    });
    if (!not_beaten.empty()) {
      RC_ASSERT(std::ranges::count(not_beaten, chosen.entry) == 1);
      for (const size_t e : chosen.ahead) RC_ASSERT(fitted(e));
      const auto made = [&](size_t e) { return std::tuple(!of(e).complete, !of(e).exact, of(e).evaluations); };
      for (const size_t e : not_beaten) RC_ASSERT(made(chosen.entry) <= made(e));
    }
    if (!study_.entries[chosen.entry].aggregate() || methods.empty()) return;
    for (const size_t m : methods) RC_ASSERT(compared.better(chosen.entry, m));
    const auto gain = std::ranges::find(advice_.gains, chosen.criterion, &Gain::criterion);
    RC_ASSERT((gain != advice_.gains.end() && gain->aggregate == chosen.entry && gain->interval.low > 0));
  }

  bool some_driver() const { return !advice_.drivers.empty() && advice_.drivers[0].size > 0; }

  void gains() const {
    for (const Gain& gain : advice_.gains) {
      RC_ASSERT((study_.entries[gain.aggregate].aggregate() && !study_.entries[gain.method].aggregate()));
      RC_ASSERT((of(gain.aggregate).faithful == Faithful::yes && of(gain.method).faithful == Faithful::yes));
      RC_ASSERT((!(gain.interval.low > 0) || gain.difference > 0));
      for (const size_t e : compared_[gain.criterion].entries()) {
        if (!may_be_recommended(e)) continue;
        const bool recommended =
            std::ranges::any_of(std::array{&advice_.faithfulness, &advice_.stability, &advice_.simplicity},
                                [&](const auto* made) { return *made && (*made)->entry == gain.aggregate; });
        if (study_.entries[e].aggregate() && recommended) continue;
        RC_ASSERT((mean(e, gain.criterion) <=
                   mean(study_.entries[e].aggregate() ? gain.aggregate : gain.method, gain.criterion)));
      }
    }
  }

  static std::string first_name(const std::string& sentence, const std::string& before) {
    const size_t at = sentence.find(before);
    if (at == std::string::npos) return {};
    const size_t from = at + before.size();
    return sentence.substr(from, sentence.find_first_of(" :,;.(", from) - from);
  }
  std::optional<size_t> entry_called(const std::string& called) const {
    const auto found = std::ranges::find(study_.entries, called, &StudyEntry::name);
    if (found == study_.entries.end()) return {};
    return static_cast<size_t>(found - study_.entries.begin());
  }
  bool any_faithful(bool aggregate) const {
    for (size_t e = 0; e < study_.entries.size(); ++e) {
      if (of(e).faithful == Faithful::yes && study_.entries[e].aggregate() == aggregate) return true;
    }
    return false;
  }

  void sentences() const {
    size_t uses = 0;
    bool fails = false;
    for (const std::string& sentence : found_.verdict) {
      RC_ASSERT((sentence.find("nan") == std::string::npos && sentence.find("unknown") == std::string::npos));
      fails = fails || sentence.starts_with("One number for each feature does not");
      if (sentence.starts_with("Use ")) {
        uses++;
        RC_ASSERT(first_name(sentence, "Use ") == name(advice_.overall->entry));
        const bool best = sentence.find("the best here") != std::string::npos;
        RC_ASSERT(best == (advice_.overall->entry == *advice_.most_faithful));
        for (const char* words : {" less than that of ", "three digits that of ", "no less than that of "}) {
          const auto other = entry_called(first_name(sentence, words));
          if (!other) continue;
          RC_ASSERT(*other == *advice_.most_faithful);
          RC_ASSERT(mean(*other, advice_.overall->criterion) >=
                    mean(advice_.overall->entry, advice_.overall->criterion));
        }
        // The reason for passing over the best mean is true.
        const EntryAdvice& own = of(advice_.overall->entry);
        const EntryAdvice& top = of(*advice_.most_faithful);
        if (sentence.find(", which does not add up") != std::string::npos) RC_ASSERT((own.complete && !top.complete));
        if (sentence.find(", which is above what") != std::string::npos) RC_ASSERT(fitted(*advice_.most_faithful));
        if (sentence.find(", which is not known") != std::string::npos) RC_ASSERT(top.faithful != Faithful::yes);
        if (sentence.find(", which is sampled") != std::string::npos) RC_ASSERT((own.exact && !top.exact));
        if (sentence.find(", which takes more") != std::string::npos) RC_ASSERT(own.evaluations < top.evaluations);
        if (sentence.find("it adds up to") != std::string::npos) RC_ASSERT(own.complete);
      }
      if (sentence.starts_with("When stability")) {
        RC_ASSERT(first_name(sentence, "most, use ") == name(advice_.stability->entry));
      }
      if (sentence.starts_with("When simplicity")) {
        RC_ASSERT(first_name(sentence, "most, use ") == name(advice_.simplicity->entry));
      }
      if (sentence.starts_with("No aggregate is known")) RC_ASSERT(!any_faithful(true));
      if (sentence.starts_with("Only aggregates are")) RC_ASSERT((any_faithful(true) && !any_faithful(false)));
      const bool gain = std::ranges::any_of(advice_.gains, [](const Gain& each) { return each.interval.low > 0; });
      if (sentence.starts_with("No aggregate gains")) RC_ASSERT(!gain);
      if (sentence.starts_with("Aggregates gain over the best faithful method")) RC_ASSERT(gain);
      if (sentence.starts_with("Undecided:")) {
        for (size_t e = 0; e < study_.entries.size(); ++e) {
          const bool named = sentence.find(fmt::format(" {} ", name(e))) != std::string::npos ||
                             sentence.find(fmt::format(" {},", name(e))) != std::string::npos;
          RC_ASSERT((!named || of(e).faithful == Faithful::undecided));
        }
      }
    }
    RC_ASSERT(uses == 1U);
    RC_ASSERT(fails == advice_.one_number_fails);
  }

  const Study& study_;
  Assessment found_;
  const Advice& advice_;
  std::vector<CriterionComparison> compared_;
};

RC_GTEST_PROP(Contradictions, AreNotFoundInRandomTables, (uint64_t seed)) {
  RandomStream random(seed, "table");
  for (int i = 0; i < 4; ++i) {
    const Study study = random_table(random);
    Search(study).run();
  }
}

}  // namespace
}  // namespace assay::testing
