// How often simultaneous intervals hold for all pairs at once, on real scores: rows are drawn with replacement from a
// table of a study, and the table's own means are the truth. Faithfulness is skewed, has a few rows far below the
// others, and columns that are nearly the same: nothing like normal data.
//
// ASSAY_COVERAGE=full: 2,000 trials with the resamples that a study takes, for tests/long. Otherwise a shorter form.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/parallel.h"
#include "assay/core/random.h"
#include "assay/core/simultaneous.h"

namespace assay {
namespace {

using Columns = std::vector<std::vector<double>>;

Columns read_table(const std::string& name) {
  std::ifstream file(fmt::format("{}/tests/fixtures/score_tables/{}.csv", ASSAY_SOURCE_DIR, name));
  std::string line;
  std::getline(file, line);
  Columns columns(static_cast<size_t>(std::ranges::count(line, ',')) + 1);
  while (std::getline(file, line)) {
    std::istringstream cells(line);
    for (auto& column : columns) {
      std::string cell;
      std::getline(cells, cell, ',');
      column.push_back(cell.empty() ? NAN : std::stod(cell));
    }
  }
  return columns;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

struct Coverage {
  double share = 0;  // of trials in which every pair's interval holds the difference of the table
  double critical = 0;
};

Coverage coverage_of(const Columns& table, size_t rows, size_t trials, const SimultaneousOptions& options) {
  std::vector<double> truth;
  for (const auto& column : table) truth.push_back(mean_of(column));
  std::vector<double> critical(trials);
  std::vector<double> held(trials);
  parallel_blocks({}, trials, 4, [&](const Block& block) {
    for (size_t t = block.begin; t < block.end; ++t) {
      RandomStream random(11, "coverage", t);
      Columns drawn(table.size());
      for (size_t r = 0; r < rows; ++r) {
        const uint32_t row = random.below(static_cast<uint32_t>(table[0].size()));
        for (size_t c = 0; c < table.size(); ++c) drawn[c].push_back(table[c][row]);
      }
      const std::vector<std::span<const double>> views(drawn.begin(), drawn.end());
      Context own;
      own.threads = 1;
      own.seed = t;
      const SimultaneousDifferences found = simultaneous_differences(views, options, {}, own);
      critical[t] = found.critical();
      bool all = true;
      for (size_t i = 0; i < table.size(); ++i) {
        for (size_t j = i + 1; j < table.size(); ++j) {
          const Interval interval = found.between(i, j).interval;
          const double apart = truth[i] - truth[j];
          all = all && interval.low <= apart && apart <= interval.high;
        }
      }
      held[t] = all ? 1 : 0;
    }
  });
  return {mean_of(held), quantile(critical, 0.5)};
}

class SimultaneousCoverage : public ::testing::TestWithParam<std::string> {};

// With 200 trials a share of 95 % has a standard error of 1.5 points, with 2,000 of 0.5.
TEST_P(SimultaneousCoverage, OfRealScoresIsWhatItSays) {
  const char* form = std::getenv("ASSAY_COVERAGE");
  const bool full = form != nullptr && std::string_view(form) == "full";
  const Columns table = read_table(GetParam());
  ASSERT_GE(table.size(), 10U);
  ASSERT_GE(table[0].size(), 30U);
  const SimultaneousOptions options{.draws = full ? 1000U : 200U};
  for (const size_t rows : {30U, 200U}) {
    const Coverage found = coverage_of(table, rows, full ? 2000 : 200, options);
    fmt::print("{:<8} {:>3} rows: all intervals hold in {:.1f} % of the trials, median critical value {:.2f}\n",
               GetParam(), rows, 100 * found.share, found.critical);
    EXPECT_GE(found.share, full ? 0.93 : 0.90) << rows;
    EXPECT_LE(found.share, full ? 0.98 : 0.995) << rows;
    EXPECT_GT(found.critical, 1.5) << rows;
    EXPECT_LT(found.critical, 6) << rows;
  }
}

INSTANTIATE_TEST_SUITE_P(Tables, SimultaneousCoverage, ::testing::Values("iris", "german", "adult"),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace assay
