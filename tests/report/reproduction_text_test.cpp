// The paper's tables as text, Markdown and JSON, from numbers given here.
#include "assay/report/reproduction_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<Reproduction> example() {
  Reproduction table;
  table.name = "ava";
  table.title = "Table 4: AVA";
  table.protocol = {"Ten runs."};
  table.replications = {
      {"iris", "SHAP", "average, r = 0.3", 0.5, 0.125, 0.25, 0.1, {0.2, 0.3}, 10, 1},
      {"iris", "AVA", "average, r = 0.3", NAN, NAN, 0.75, 0.1, {0.7, 0.8}, 10, 0.9},
      {"adult", "SHAP", "average, r = 1", 0.5, NAN, NAN, NAN, {NAN, NAN}, 0, 0},
      {"iris", "SHAP", "complexity", NAN, NAN, 1.5, NAN, {NAN, NAN}, 1, 1},
  };
  table.findings = {{"AVA is lower.", FindingStatus::replicates, "0.1 against 0.2."},
                    {"SHAP is best.", FindingStatus::does_not_replicate, "It is not."},
                    {"MIMIC is hard.", FindingStatus::cannot_be_tested, "It is not here."}};
  table.notes = {"adult was not found"};
  return {table};
}

TEST(ReproductionText, AlignsNumbersAndListsFindings) {
  EXPECT_EQ(reproduction_text(example()),
            R"(Table 4: AVA

data   method  column                   paper  ours  95 % interval  runs  coverage
iris   SHAP    average, r = 0.3  0.5 +- 0.125  0.25     0.2 to 0.3    10     100 %
iris   AVA     average, r = 0.3             -  0.75     0.7 to 0.8    10      90 %
adult  SHAP    average, r = 1             0.5     -              -     0       0 %
iris   SHAP    complexity                   -   1.5              -     1     100 %

findings
- replicates: AVA is lower.
    0.1 against 0.2.
- does not replicate: SHAP is best.
    It is not.
- cannot be tested here: MIMIC is hard.
    It is not here.

how
- Ten runs.
note: adult was not found
)");
  EXPECT_EQ(findings_summary(example()), "3 findings: 1 replicates, 1 does not replicate, 1 cannot be tested here");
}

TEST(ReproductionText, LongSentencesAreWrappedAndFullCoverageIsNotShown) {
  std::vector<Reproduction> tables = example();
  tables[0].replications = {tables[0].replications[0]};
  tables[0].findings[0].evidence = "";
  for (int i = 0; i < 100; ++i) tables[0].findings[0].evidence += "word ";
  tables[0].findings[1].evidence = std::string(150, 'x');
  const std::string text = reproduction_text(tables);
  EXPECT_THAT(text, Not(HasSubstr("coverage")));
  std::istringstream lines(text);
  size_t words = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("xxx") == std::string::npos) {
      EXPECT_LE(line.size(), 100u) << line;
    }
    for (size_t at = line.find("word"); at != std::string::npos; at = line.find("word", at + 1)) ++words;
  }
  EXPECT_EQ(words, 100u);
}

TEST(ReproductionText, MarkdownHasTheShapeOfThePapersTables) {
  EXPECT_EQ(reproduction_markdown(example(), {"assay reproduce ava", "1.2.3", 7, false}),
            R"(# The paper's tables, run again

Written by `assay reproduce ava` (assay 1.2.3, seed 7); not by hand. Bhatt, Weller, Moura, Evaluating and Aggregating Feature-based Model Explanations, IJCAI 2020: the paper's numbers beside ours, with the 95 % interval of our mean over runs, and whether its findings hold.

3 findings: 1 replicates, 1 does not replicate, 1 cannot be tested here.

## Table 4: AVA

- **replicates**: AVA is lower. 0.1 against 0.2.
- **does not replicate**: SHAP is best. It is not.
- **cannot be tested here**: MIMIC is hard. It is not here.

How it was done:

- Ten runs.

Note: adult was not found

### iris

Means of 1 to 10 runs.

| | average, r = 0.3: paper | ours | complexity: ours |
|---|---|---|---|
| SHAP | 0.5 +- 0.125 | 0.25 (0.2 to 0.3) | 1.5 |
| AVA | - | 0.75 (0.7 to 0.8), of 90 % | - |

### adult

Means of 0 runs.

| | average, r = 1: paper | ours |
|---|---|---|
| SHAP | 0.5 | -, of 0 % |
)");
}

TEST(ReproductionText, ManyColumnsAreSeveralTables) {
  std::vector<Reproduction> tables(1);
  for (const char* column : {"a", "b", "c", "d"}) {
    tables[0].replications.push_back({"iris", "SHAP", column, 1, NAN, 2, NAN, {NAN, NAN}, 3, 1});
  }
  tables[0].replications.push_back({"iris", "IG", "d", 1, NAN, 4, NAN, {NAN, NAN}, 3, 1});
  const std::string page = reproduction_markdown(tables, {});
  EXPECT_THAT(page, HasSubstr("| | a: paper | ours | b: paper | ours | c: paper | ours |\n"
                              "|---|---|---|---|---|---|---|\n"
                              "| SHAP | 1 | 2 | 1 | 2 | 1 | 2 |\n\n"
                              "| | d: paper | ours |\n"));
  EXPECT_THAT(page, HasSubstr("| SHAP | 1 | 2 |\n| IG | 1 | 4 |\n"));
}

TEST(ReproductionText, TextIsNeverMarkup) {
  std::vector<Reproduction> tables = example();
  tables[0].replications[0].data = "a|b\n# x";
  tables[0].replications[0].row = "G*I";
  tables[0].replications[0].column = "|S| = 2 <script>";
  tables[0].findings[0].evidence = "`x` _y_ [z](w) a & b";
  tables[0].notes = {"\x1b[31mred \xff"};
  const std::string page = reproduction_markdown(tables, {});
  EXPECT_THAT(page, HasSubstr("### a\\|b\\\\x0a\\# x\n"));
  EXPECT_THAT(page, HasSubstr("| | \\|S\\| = 2 &lt;script&gt;: paper | ours |\n"));
  EXPECT_THAT(page, HasSubstr("| G\\*I |"));
  EXPECT_THAT(page, HasSubstr("\\`x\\` \\_y\\_ \\[z\\](w) a &amp; b"));
  EXPECT_THAT(page, Not(HasSubstr("\x1b")));
  EXPECT_THAT(reproduction_text(tables), Not(HasSubstr("\x1b")));
  EXPECT_FALSE(nlohmann::json::parse(reproduction_json(tables, {})).empty());
}

TEST(ReproductionText, JsonHasEverythingAndNullForWhatIsUndefined) {
  const auto found = nlohmann::json::parse(reproduction_json(example(), {"assay reproduce ava", "1.2.3", 7, true}));
  EXPECT_EQ(found["command"], "assay reproduce ava");
  EXPECT_EQ(found["version"], "1.2.3");
  EXPECT_EQ(found["seed"], 7);
  EXPECT_EQ(found["quick"], true);
  ASSERT_EQ(found["tables"].size(), 1u);
  const auto& table = found["tables"][0];
  EXPECT_EQ(table["name"], "ava");
  EXPECT_EQ(table["notes"], nlohmann::json({"adult was not found"}));
  EXPECT_EQ(table["protocol"], nlohmann::json({"Ten runs."}));
  const auto& numbers = table["numbers"];
  ASSERT_EQ(numbers.size(), 4u);
  EXPECT_EQ(numbers[0], nlohmann::json::parse(R"({"data": "iris", "row": "SHAP", "column": "average, r = 0.3",
      "paper": 0.5, "paper_spread": 0.125, "ours": 0.25, "deviation": 0.1, "interval": [0.2, 0.3], "runs": 10,
      "coverage": 1.0})"));
  EXPECT_TRUE(numbers[1]["paper"].is_null());
  EXPECT_TRUE(numbers[2]["interval"].is_null());
  EXPECT_EQ(table["findings"][1], nlohmann::json::parse(R"({"claim": "SHAP is best.",
      "status": "does not replicate", "evidence": "It is not."})"));
}

}  // namespace
}  // namespace assay
