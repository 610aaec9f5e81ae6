// What the clinical sets share, eICU and the challenge of 2019: rules on miniature tables with answers worked out by
// hand, and the counts of the real files where $ASSAY_DATA has them. MIMIC-III is in mimic3_test.cpp.
#include "assay/data/sets/clinical.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/data/sets/clinical_tables.h"

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Clinical, TimeStamps) {
  using clinical::parse_time_stamp;
  EXPECT_EQ(parse_time_stamp("1970-01-01"), 0);
  EXPECT_EQ(parse_time_stamp("1970-01-02 01:02:03"), 86400 + 3723);
  EXPECT_EQ(parse_time_stamp("1970-01-02T01:02"), 86400 + 3720);
  EXPECT_EQ(parse_time_stamp("1969-12-31 23:59:59"), -1);
  EXPECT_EQ(parse_time_stamp("2000-03-01 00:00:00").value() - parse_time_stamp("2000-02-28 00:00:00").value(), 172800);
  for (const char* bad : {"", "1970", "1970-1-1", "1970-13-01", "1970-02-29", "1970-01-01 24:00:00",
                          "1970-01-01 10:60:00", "1970-01-01 10", "1970-01-01 10:00:00.5", "1970-01-01x10:00:00"}) {
    EXPECT_FALSE(parse_time_stamp(bad)) << bad;
  }
}

TEST(Clinical, OxygenFractions) {
  using clinical::oxygen_fraction;
  EXPECT_EQ(oxygen_fraction(0.21), 0.21);
  EXPECT_EQ(oxygen_fraction(1), 1);
  EXPECT_EQ(oxygen_fraction(21), 0.21);
  EXPECT_EQ(oxygen_fraction(100), 1);
  for (const double bad : {-50.0, 0.0, 0.05, 1.2, 5.0, 19.0, 101.0, 4000.0}) EXPECT_FALSE(oxygen_fraction(bad)) << bad;
}

TEST(Clinical, CodeRules) {
  using clinical::AdmissionCodes;
  using clinical::SepsisRule;
  const auto codes = [](std::initializer_list<const char*> diagnoses) {
    AdmissionCodes out;
    for (const char* code : diagnoses) out.add_diagnosis(code);
    return out;
  };
  EXPECT_TRUE(codes({"78552"}).septic(SepsisRule::explicit_codes));
  EXPECT_TRUE(codes({"995.92"}).septic(SepsisRule::explicit_codes));
  EXPECT_FALSE(codes({"99591"}).septic(SepsisRule::explicit_codes));
  for (const char* code : {"0380", "03849", "0202", "7907", "1179", "1125", "11281"}) {
    EXPECT_TRUE(codes({code}).septic(SepsisRule::martin)) << code;
  }
  for (const char* code : {"0200", "11282", "99592"}) EXPECT_FALSE(codes({code}).septic(SepsisRule::martin)) << code;
  EXPECT_TRUE(codes({"5990", "5849"}).septic(SepsisRule::angus));
  EXPECT_TRUE(codes({"56211", "2875"}).septic(SepsisRule::angus));
  EXPECT_FALSE(codes({"5990"}).septic(SepsisRule::angus));
  EXPECT_FALSE(codes({"5849"}).septic(SepsisRule::angus));
  EXPECT_FALSE(codes({"5991", "5849"}).septic(SepsisRule::angus));
  auto ventilated = codes({"486"});
  ventilated.add_procedure("9673");
  EXPECT_FALSE(ventilated.septic(SepsisRule::angus));
  ventilated.add_procedure("96.72");
  EXPECT_TRUE(ventilated.septic(SepsisRule::angus));

  EXPECT_TRUE(codes({"042"}).aids());
  EXPECT_FALSE(codes({"0450"}).aids());
  EXPECT_FALSE(codes({"V08"}).aids());
  for (const char* code : {"20000", "20280", "20300", "20500", "20510", "20890", "2386", "2733"}) {
    EXPECT_TRUE(codes({code}).haematologic_malignancy()) << code;
  }
  for (const char* code : {"1991", "20530", "20710", "2090", "2387"}) {
    EXPECT_FALSE(codes({code}).haematologic_malignancy()) << code;
  }
  for (const char* code : {"1960", "19889", "1991", "20972", "20979", "78951"}) {
    EXPECT_TRUE(codes({code}).metastatic_cancer()) << code;
  }
  for (const char* code : {"1959", "1992", "20976", "78959"}) EXPECT_FALSE(codes({code}).metastatic_cancer()) << code;
}

TEST(Eicu, JoinsThreeTables) {
  const Tables tables = {
      {"apacheapsvar.csv",
       "patientunitstayid,eyes,motor,verbal,urine,wbc,temperature,sodium,heartrate,meanbp,pao2,bun,bilirubin,fio2\n"
       "1,4,6,5,1200.5,10.2,36.2,139,88,108,80,28,0.4,40\n"
       "2,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1\n"
       "3,3,5,1,0,,36.6,140,90,60,-1,20,1,-1\n"},
      {"apachepredvar.csv",
       "patientunitstayid,aids,lymphoma,metastaticcancer,leukemia,electivesurgery\n"
       "1,1,0,0,1,1\n2,0,0,1,0,\n"},
      {"patient.csv",
       "patientunitstayid,age,apacheadmissiondx\n3,,\n2,> 89,\"Sepsis, pulmonary\"\n1,87,\"Rhythm (atrial, sepsis)\"\n"
       "7,30,\"Sepsis, GI\"\n"}};
  const Table table = load_tables("eicu", "eicu", tables);
  EXPECT_EQ(table.id_name, "patientunitstayid");
  EXPECT_THAT(table.ids, ElementsAre("1", "2", "3"));
  ASSERT_EQ(table.columns.size(), 17U);
  EXPECT_EQ(table.label, 16U);
  EXPECT_EQ(cell(table, "1", "glasgow_coma_scale"), 15);
  EXPECT_EQ(cell(table, "1", "mean_pressure"), 108);
  EXPECT_EQ(cell(table, "1", "urine_output"), 1200.5F);
  EXPECT_FLOAT_EQ(cell(table, "1", "fio2"), 0.4F);
  EXPECT_EQ(cell(table, "1", "pao2"), 80);
  EXPECT_EQ(cell(table, "1", "age"), 87);
  EXPECT_EQ(cell(table, "1", "aids"), 1);
  EXPECT_EQ(cell(table, "1", "haematologic_malignancy"), 1);
  EXPECT_EQ(cell(table, "1", "metastatic_cancer"), 0);
  EXPECT_EQ(level(table, "1", "admission_type"), "elective surgery");
  EXPECT_EQ(level(table, "1", "sepsis"), "no");
  for (size_t j = 0; j < 11; ++j) EXPECT_TRUE(std::isnan(table.values(1, j))) << table.columns[j].name;
  EXPECT_EQ(cell(table, "2", "age"), 90);
  EXPECT_EQ(level(table, "2", "admission_type"), "other");
  EXPECT_EQ(level(table, "2", "sepsis"), "yes");
  EXPECT_EQ(cell(table, "3", "glasgow_coma_scale"), 9);
  EXPECT_EQ(cell(table, "3", "urine_output"), 0);
  EXPECT_TRUE(std::isnan(cell(table, "3", "white_blood_cells")));
  EXPECT_TRUE(std::isnan(cell(table, "3", "aids")));
  EXPECT_TRUE(std::isnan(cell(table, "3", "age")));

  Tables lacking = tables;
  lacking["patient.csv"] = "patientunitstayid,age,apacheadmissiondx\n1,87,\n";
  EXPECT_THAT(load_error("eicu", "eicu", lacking),
              AllOf(HasSubstr("apacheapsvar.csv, line 3"), HasSubstr("patient.csv"), HasSubstr("'2'")));
}

constexpr char kHourlyHeader[] =
    "PatientID|HR|Temp|SBP|HCO3|FiO2|BUN|Potassium|Bilirubin_total|WBC|Age|ICULOS|SepsisLabel\n";

std::string hour(const std::string& id, int hour, const std::string& heart_rate, int label) {
  return id + "|" + heart_rate + "|NaN|NaN|NaN|0.5|NaN|NaN|NaN|NaN|60|" + std::to_string(hour) + "|" +
         std::to_string(label) + "\n";
}

TEST(Cinc2019, MeansEndBeforeTheFirstLabelledHour) {
  std::string text = kHourlyHeader;
  for (int h = 1; h <= 30; ++h) text += hour("healthy", h, h <= 24 ? "80" : "200", 0);  // only the first 24 rows
  text += hour("early", 1, "90", 1) + hour("early", 2, "150", 1);                       // nothing but its first row
  text += hour("later", 1, "70", 0) + hour("later", 2, "NaN", 0) + hour("later", 3, "90", 0) +
          hour("later", 4, "200", 1) + hour("later", 5, "200", 0);
  for (int h = 1; h <= 26; ++h) text += hour("late", h, "60", h == 26 ? 1 : 0);
  text += "other|NaN|60|500|NaN|2|NaN|NaN|NaN|0|NaN|1|0\n";
  const Table table = load_tables("cinc2019", "cinc2019", {{"training_setB.psv", text}});
  EXPECT_EQ(table.id_name, "PatientID");
  EXPECT_THAT(table.ids, ElementsAre("healthy", "early", "later", "late", "other"));
  ASSERT_EQ(table.columns.size(), 11U);
  EXPECT_EQ(table.label, 10U);
  EXPECT_EQ(cell(table, "healthy", "heart_rate"), 80);
  EXPECT_EQ(cell(table, "early", "heart_rate"), 90);
  EXPECT_EQ(cell(table, "later", "heart_rate"), 80);
  EXPECT_EQ(cell(table, "late", "heart_rate"), 60);
  EXPECT_EQ(cell(table, "late", "fio2"), 0.5F);
  EXPECT_EQ(cell(table, "late", "age"), 60);
  EXPECT_EQ(level(table, "healthy", "sepsis"), "no");
  EXPECT_EQ(level(table, "early", "sepsis"), "yes");
  EXPECT_EQ(level(table, "later", "sepsis"), "yes");
  EXPECT_EQ(level(table, "late", "sepsis"), "yes");
  for (size_t j = 0; j < 10; ++j) EXPECT_TRUE(std::isnan(table.values(4, j))) << table.columns[j].name;
}

TEST(Cinc2019, ErrorsNameLineAndColumn) {
  const std::string header = kHourlyHeader;
  EXPECT_THAT(load_error("cinc2019", "cinc2019",
                         {{"training_setB.psv",
                           header + hour("a", 1, "80", 0) + hour("b", 1, "80", 0) + hour("a", 2, "80", 0)}}),
              AllOf(HasSubstr("training_setB.psv, line 4"), HasSubstr("more of stay 'a'")));
  EXPECT_THAT(load_error("cinc2019", "cinc2019", {{"training_setB.psv", header + hour("a", 1, "80", 2)}}),
              AllOf(HasSubstr("line 2"), HasSubstr("'SepsisLabel'"), HasSubstr("0 or 1")));
  EXPECT_THAT(load_error("cinc2019", "cinc2019", {{"training_setB.psv", "PatientID|HR\na|1\n"}}),
              AllOf(HasSubstr("training_setB.psv"), HasSubstr("'SBP'")));
}

TEST(Eicu, DemoCounts) {
  if (!dataset_available("eicu")) GTEST_SKIP() << "the eICU demo is not in $ASSAY_DATA";
  const Table table = load_dataset("eicu");
  if (table.rows() != dataset_info("eicu").rows) GTEST_SKIP() << "another eICU than the demo is in $ASSAY_DATA";
  EXPECT_EQ(table.columns.size(), dataset_info("eicu").features + 1);
  EXPECT_EQ(septic_rows(table), 284U);  // 288 of all 2,520 stays; four have no APACHE variables
  EXPECT_EQ(present(table, "glasgow_coma_scale"), 2105U);
  EXPECT_EQ(present(table, "age"), 2202U);
  EXPECT_EQ(present(table, "fio2"), 405U);
}

TEST(Cinc2019, SetBCounts) {
  if (!dataset_available("cinc2019")) GTEST_SKIP() << "set B of the challenge of 2019 is not in $ASSAY_DATA";
  const Table table = load_dataset("cinc2019");
  EXPECT_EQ(table.rows(), dataset_info("cinc2019").rows);
  EXPECT_EQ(table.columns.size(), dataset_info("cinc2019").features + 1);
  EXPECT_EQ(septic_rows(table), 1142U);
  EXPECT_EQ(present(table, "age"), 20000U);
  EXPECT_EQ(table.ids.front(), "p100001");
  EXPECT_EQ(table.ids.back(), "p120000");
}

}  // namespace
}  // namespace assay
