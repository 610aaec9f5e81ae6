#include "assay/explain/reasons/write_reasons.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/data/table_io.h"
#include "assay/explain/reasons/reason_texts.h"
#include "tests/explain/reasons/some_explanations.h"
#include "tests/message.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using testing::made_of;

std::string temporary(const std::string& extension) {
  return ::testing::TempDir() + "reasons_" + ::testing::UnitTest::GetInstance()->current_test_info()->name() +
         extension;
}

// A feature whose name tries everything, and one that may not be named.
Reasons some_reasons() {
  Explanations made = made_of({{-3, -2, -1}, {-3, 1, 1}}, {-5, 0});
  made.features = {"=cmd|'/c calc'!A1", "<img src=x onerror=alert(1)>,\"\n", "sex"};
  Reasons reasons = find_reasons(made, {}, {.top = 2, .exclude = {"=cmd|'/c calc'!A1"}}, {});
  add_texts(reasons, {}, ReasonTemplates());
  return reasons;
}

TEST(WriteReasons, TablesReadBackAsTheyWere) {
  const Reasons reasons = some_reasons();
  const std::string path = temporary(".csv");
  write_reasons(reasons, path, {});
  TableOptions options;
  options.id = "row";
  options.categorical = {"feature", "text", "withheld", "direction"};
  const Table read = read_table(path, options);
  EXPECT_THAT(column_names(read), ElementsAre("rank", "feature", "value", "direction", "attribution", "share",
                                              "certainty", "order_certainty", "agreement", "withheld", "text"));
  EXPECT_THAT(read.ids, ElementsAre("1", "1", "2"));
  const auto text = [&](size_t row, size_t column) {
    return read.columns[column].levels.at(static_cast<size_t>(read.values(row, column)));
  };
  EXPECT_EQ(text(0, 1), "<img src=x onerror=alert(1)>,\"\n");
  EXPECT_EQ(text(0, 9), "=cmd|'/c calc'!A1");
  EXPECT_EQ(text(1, 1), "sex");
  EXPECT_EQ(read.values(0, 4), -2);
  EXPECT_EQ(read.values(2, 0), 0) << "rank 0: nothing may be named";
  EXPECT_TRUE(std::isnan(read.values(2, 1)));
  EXPECT_EQ(text(2, 9), "=cmd|'/c calc'!A1");
  EXPECT_TRUE(std::isnan(read.values(0, 8))) << "no agreement";
}

TEST(WriteReasons, JsonHasNotesAndNulls) {
  const std::string path = temporary(".json");
  write_reasons(some_reasons(), path, {});
  std::ifstream file(path);
  const auto document = nlohmann::json::parse(std::string(std::istreambuf_iterator<char>(file), {}));
  EXPECT_EQ(document["direction"], "against");
  EXPECT_EQ(document["top"], 2);
  EXPECT_GE(document["notes"].size(), 2U);
  const auto& first = document["reasons"][0];
  EXPECT_EQ(first["row"], 1);
  EXPECT_EQ(first["feature"], "<img src=x onerror=alert(1)>,\"\n");
  EXPECT_TRUE(first["agreement"].is_null());
  EXPECT_EQ(first["certainty"], 1.0);
  EXPECT_TRUE(document["reasons"][2]["feature"].is_null());
}

TEST(WriteReasons, RowsHaveTheirIds) {
  Explanations made = made_of({{-3, -2, -1}}, {-5});
  made.ids = {"A-17"};
  made.id_name = "applicant";
  const Reasons named = find_reasons(made, {}, {.top = 1}, {});
  EXPECT_EQ(reasons_table(named).id_name, "id");
  EXPECT_THAT(reasons_table(named).ids, ElementsAre("A-17"));
  made.id_name = "row";  // the user's column of this name
  EXPECT_EQ(reasons_table(find_reasons(made, {}, {.top = 1}, {})).id_name, "id");
  made.row_numbers = true;  // the number in the table that rows were sampled from
  made.ids = {"17"};
  EXPECT_EQ(reasons_table(find_reasons(made, {}, {.top = 1}, {})).id_name, "row");
}

TEST(WriteReasons, NothingIsLeftOfAFileThatCannotBeWritten) {
  Reasons reasons = some_reasons();
  reasons.list[0].text = "\xFF";
  const std::string path = temporary(".json");
  std::filesystem::remove(path);
  EXPECT_EQ(sentence([&] { write_reasons(reasons, path, {}); }),
            path + ": expected UTF-8 text in names and values, found other bytes");
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_EQ(sentence([] { check_reasons_output("a.npz"); }),
            "a.npz: expected a name that ends in .csv, .tsv, .parquet, .feather or .json, found '.npz'");
  EXPECT_THAT(sentence([] { check_reasons_output("a.txt.docx"); }), ::testing::HasSubstr("found '.docx'"));
}

}  // namespace
}  // namespace assay
