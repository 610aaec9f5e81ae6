// The challenge of 2012: rules on miniature stays with answers worked out by hand, and the counts of the real files
// where $ASSAY_DATA has them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/data/io/made_tar.h"
#include "tests/data/sets/clinical_tables.h"

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kStayHeader = "Time,Parameter,Value\n00:00,RecordID,1\n";
const std::string kOutcomes =
    "RecordID,SAPS-I,SOFA,Length_of_stay,Survival,In-hospital_death\n1,6,1,5,-1,0\n2,7,2,5,3,1\n";

Tables made_tables(const std::string& first, const std::string& second, const std::string& outcomes = kOutcomes) {
  return {{"set-a.tar", tar_entry("set-a/", "", '5') + tar_entry("set-a/1.txt", first) +
                            tar_entry("set-a/2.txt", second) + tar_end()},
          {"Outcomes-a.txt", outcomes}};
}

TEST(Cinc2012, FirstDayByHand) {
  const std::string first = kStayHeader +
                            "00:00,Age,54\n00:00,Gender,0\n00:00,ICUType,4\n"
                            "00:07,GCS,15\n03:00,GCS,7\n25:00,GCS,3\n"  // after a day nothing counts
                            "01:00,SysABP,100\n02:00,NISysABP,120\n"    // both ways of measuring: 110
                            "01:00,HR,80\n02:00,HR,-5\n03:00,HR,90\n"   // -5 is no heart rate: 85
                            "01:00,Urine,100\n23:59,Urine,50\n24:00,Urine,1000\n"
                            "01:00,FiO2,0.5\n02:00,PaO2,100\n10:00,PaO2,60\n";  // 100 / 0.5; at 10:00 no fraction
  const std::string second = "Time,Parameter,Value\n00:00,Age,-1\n00:00,ICUType,1\n05:00,K,4.5\n05:00,Na,140\n";
  const Table table = load_tables("cinc2012", "cinc2012", made_tables(first, second));
  EXPECT_EQ(table.id_name, "RecordID");
  EXPECT_THAT(table.ids, ElementsAre("1", "2"));
  ASSERT_EQ(table.columns.size(), 15U);
  EXPECT_EQ(table.columns[*table.label].name, "death");
  EXPECT_EQ(level(table, "1", "death"), "no");
  EXPECT_EQ(level(table, "2", "death"), "yes");
  EXPECT_EQ(cell(table, "1", "glasgow_coma_scale"), 7);
  EXPECT_EQ(cell(table, "1", "systolic_pressure"), 110);
  EXPECT_EQ(cell(table, "1", "heart_rate"), 85);
  EXPECT_EQ(cell(table, "1", "urine_output"), 150);
  EXPECT_EQ(cell(table, "1", "pao2_fio2"), 200);
  EXPECT_EQ(cell(table, "1", "age"), 54);
  EXPECT_EQ(level(table, "1", "unit"), "surgical");
  EXPECT_EQ(level(table, "2", "unit"), "coronary");
  EXPECT_EQ(cell(table, "2", "potassium"), 4.5F);
  EXPECT_EQ(cell(table, "2", "sodium"), 140);
  EXPECT_TRUE(std::isnan(cell(table, "2", "age")));  // -1: not known
  EXPECT_TRUE(std::isnan(cell(table, "2", "heart_rate")));
  EXPECT_TRUE(std::isnan(cell(table, "2", "urine_output")));
}

TEST(Cinc2012, ErrorsNameFileAndLine) {
  const auto refused = [](const std::string& stay, const std::string& outcomes = kOutcomes) {
    return load_error("cinc2012", "cinc2012", made_tables(stay, kStayHeader, outcomes));
  };
  EXPECT_THAT(refused("Hour,HR\n"), AllOf(HasSubstr("set-a/1.txt"), HasSubstr("the header Time,Parameter,Value")));
  EXPECT_THAT(refused(kStayHeader + "1,HR,80\n"), AllOf(HasSubstr("line 3"), HasSubstr("a time as in 26:37")));
  EXPECT_THAT(refused(kStayHeader + "01:60,HR,80\n"), HasSubstr("a time as in 26:37"));
  EXPECT_THAT(refused(kStayHeader + "01:00,HR,fast\n"), AllOf(HasSubstr("'Value'"), HasSubstr("'fast'")));
  EXPECT_THAT(refused(kStayHeader, "RecordID,In-hospital_death\n1,2\n"), HasSubstr("expected 0 or 1"));
  EXPECT_THAT(refused(kStayHeader, "RecordID,In-hospital_death\n1,0\n"), HasSubstr("a record of Outcomes-a.txt"));
  EXPECT_THAT(refused(kStayHeader, kOutcomes + "3,1,1,1,1,0\n"), HasSubstr("1 without one"));
}

TEST(Cinc2012, SetACounts) {
  if (!dataset_available("cinc2012")) GTEST_SKIP() << "set A of the challenge of 2012 is not in $ASSAY_DATA";
  const Table table = load_dataset("cinc2012");
  EXPECT_EQ(table.rows(), dataset_info("cinc2012").rows);
  EXPECT_EQ(table.columns.size(), dataset_info("cinc2012").features + 1);
  EXPECT_EQ(septic_rows(table), 554U);  // deaths, as the challenge says
  EXPECT_EQ(present(table, "age"), 4000U);
  EXPECT_EQ(table.ids.front(), "132539");
}

}  // namespace
}  // namespace assay
