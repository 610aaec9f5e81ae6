// Table 2 of the paper: faithfulness of six explanation functions, against a zero and a training-average baseline.
//
// Three forms (Setup::form):
//   printed     the experiment as section 7.1 describes it. One random subset for each row; over rows, the correlation
//               of the mean attribution in the subset with the value of the modified row. Higher counts as more
//               faithful, as the paper's table reads. The mean over ten draws of subsets
//   loss        the same with what the value loses, f(x) - f(modified x)
//   definition  Definition 3. For a row, over subsets of one size: the correlation of the attribution in the subset
//   with
//               the loss; then the mean over rows
//
// Cost: pooled, ten predictions of each row, method, baseline and size; definition: all subsets if there are at most
// 4,096, else 1,000 sampled ones.
// Deviation from the paper: its subsets of 20 exceed the 17 clinical features it lists. We take 5, 10 and 15 of 17, and
// the same shares of the features of stand-ins.
#include <fmt/format.h>

#include <array>

#include "assay/evaluate/criterion.h"
#include "assay/study/reproduce/bench.h"

namespace assay {
namespace {

struct SubsetSize {
  size_t size = 0;
  std::string label;
};

std::vector<SubsetSize> printed_sizes(std::string_view data, size_t features) {
  if (paper_set(data) != PaperSet::mimic) return {{2, "|S| = 2"}};
  const auto share = [&](size_t of_seventeen) { return (of_seventeen * features * 2 + 17) / 34; };
  return {{share(5), "5 of 17"}, {share(10), "10 of 17"}, {share(15), "15 of 17"}};
}

// Sizes for the claim that faithfulness rises with the size.
std::vector<SubsetSize> growing_sizes(size_t features) {
  return {{1, "one"}, {features / 2, "half"}, {features * 3 / 4, "three quarters"}};
}

double faithfulness_score(const Setup& setup, const EvaluateTask& task, size_t size, double& coverage,
                          const Context& context) {
  const std::string_view form = setup.form == "definition" ? "per_row" : "pooled";
  const Spec spec = parse_spec(
      "reproduce", fmt::format("faithfulness:subset={}:budget=4096:samples=1000:form={}:runs=10", size, form));
  const Scores scores = evaluate(spec, task, {.draws = 0}, context);
  coverage = scores.coverage;
  if (setup.form == "definition") return scores.mean;
  if (scores.tables.empty()) return NAN;
  RunningMoments moments;
  for (const std::vector<double>& run : scores.tables[0].rows) moments.add(run[setup.form == "printed" ? 1 : 2]);
  return moments.mean();
}

}  // namespace

void measure_faithfulness(const Bench& bench, const Setup& setup, const CellKey& where, Results& results,
                          const Context& context) {
  const std::vector<SubsetSize> growing = growing_sizes(bench.features());
  for (const auto& [name, replaced] : {std::pair{"zero", &bench.zero}, std::pair{"average", &bench.mean}}) {
    std::vector<double> sums(growing.size(), 0.0);
    for (const PaperMethod& method : paper_methods()) {
      context.check_cancelled();
      const Explanations made = explain(method.spec, bench.against(bench.explained_against(setup, replaced)), context);
      const EvaluateTask task{.explanations = made, .subject = bench.against(*replaced)};
      double coverage = 0;
      CellKey key = where;
      key.row = method.name;
      for (const SubsetSize& size : printed_sizes(where.data, bench.features())) {
        key.column = fmt::format("{}, {}", name, size.label);
        const double score = faithfulness_score(setup, task, size.size, coverage, context);
        results.add(key, score, coverage);
      }
      for (size_t i = 0; i < growing.size(); i++) {
        sums[i] += faithfulness_score(setup, task, growing[i].size, coverage, context);
      }
    }
    for (size_t i = 0; i < growing.size(); i++) {
      CellKey key = where;
      key.row = "mean of six";
      key.column = fmt::format("{}, {}", name, growing[i].label);
      results.add(key, sums[i] / static_cast<double>(paper_methods().size()));
    }
  }
}

}  // namespace assay
