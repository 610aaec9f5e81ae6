// MIMIC-III: every rule on miniature tables with answers worked out by hand, and the counts of the real demo where
// $ASSAY_DATA has it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>

#include "assay/data/sets/clinical.h"
#include "assay/data/sets/common.h"
#include "tests/data/sets/clinical_tables.h"

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Stay 100 and stay 500, 18 hours later, are of admission 10; 300 is a newborn's; 400 has no events.
Tables mini_mimic() {
  return {{"PATIENTS.csv",
           "SUBJECT_ID,DOB\n1,2100-01-02 12:00:00\n2,2080-06-01 00:00:00\n3,2150-01-01 00:00:00\n"
           "4,1850-01-01 00:00:00\n"},
          {"ADMISSIONS.csv", "HADM_ID,ADMISSION_TYPE\n10,EMERGENCY\n20,ELECTIVE\n30,NEWBORN\n40,\n"},
          {"ICUSTAYS.csv",
           "SUBJECT_ID,HADM_ID,ICUSTAY_ID,INTIME\n1,10,100,2150-01-02 12:00:00\n2,20,200,2150-01-02 00:00:00\n"
           "3,30,300,2150-01-02 00:00:00\n4,40,400,2150-01-02 00:00:00\n1,10,500,2150-01-03 06:00:00\n"},
          {"CHARTEVENTS.csv", "ICUSTAY_ID,ITEMID,CHARTTIME,VALUE,VALUENUM,ERROR\n"},
          {"LABEVENTS.csv", "HADM_ID,ITEMID,CHARTTIME,VALUE,VALUENUM\n"},
          {"OUTPUTEVENTS.csv", "ICUSTAY_ID,ITEMID,CHARTTIME,VALUE,ISERROR\n"},
          {"DIAGNOSES_ICD.csv", "HADM_ID,ICD9_CODE\n"},
          {"PROCEDURES_ICD.csv", "HADM_ID,ICD9_CODE\n"}};
}

TEST(Mimic3, OneRowPerAdultStayWithLabelLast) {
  const Table table = load_tables("mimic3", "mimic3", mini_mimic());
  EXPECT_EQ(table.id_name, "icustay_id");
  EXPECT_THAT(table.ids, ElementsAre("100", "200", "400", "500"));
  ASSERT_EQ(table.columns.size(), 18U);
  EXPECT_EQ(table.label, 17U);
  EXPECT_EQ(table.columns[17].name, "sepsis");
  EXPECT_THAT(table.columns[17].levels, ElementsAre("no", "yes"));
  EXPECT_THAT(table.columns[16].levels, ElementsAre("ELECTIVE", "EMERGENCY"));
  EXPECT_EQ(level(table, "100", "admission_type"), "EMERGENCY");
  EXPECT_EQ(level(table, "400", "admission_type"), "");
  EXPECT_EQ(level(table, "400", "sepsis"), "no");
  for (size_t j = 0; j < 12; ++j) EXPECT_TRUE(std::isnan(table.values(0, j))) << table.columns[j].name;
  EXPECT_NEAR(cell(table, "100", "age"), 18262 / 365.242, 1e-4);  // 50 years, 12 of them leap
  EXPECT_FLOAT_EQ(cell(table, "400", "age"), 91.4F);
}

TEST(Mimic3, VitalSignsRespectWindowErrorFlagRangesAndUnits) {
  Tables tables = mini_mimic();
  tables["CHARTEVENTS.csv"] +=
      "100,211,2150-01-02 12:00:00,60,60,\n"    // both ends belong to the day
      "100,211,2150-01-03 12:00:00,80,80,0\n"   //
      "100,211,2150-01-02 11:59:59,200,200,\n"  // before
      "100,211,2150-01-03 12:00:01,200,200,\n"  // after
      "100,220045,2150-01-02 13:00:00,200,200,1\n"
      "100,211,2150-01-02 13:00:00,0,0,\n"
      "100,211,2150-01-02 13:00:00,error,,\n"
      "999,211,2150-01-02 13:00:00,200,200,\n"
      ",211,2150-01-02 13:00:00,200,200,\n"
      "100,51,2150-01-02 13:00:00,120,120,\n"
      "100,455,2150-01-02 13:00:00,100,100,\n"
      "100,442,2150-01-02 13:00:00,400,400,\n"
      "100,676,2150-01-02 13:00:00,37,37,\n"
      "100,678,2150-01-02 14:00:00,100.4,100.4,\n"
      "100,678,2150-01-02 15:00:00,37,37,\n"  // Celsius in the Fahrenheit box
      "100,223762,2150-01-02 15:00:00,98.6,98.6,\n"
      "100,999999,no time,no value,no number,\n";  // other items are not looked into
  const Table table = load_tables("mimic3", "mimic3-demo", tables);
  EXPECT_FLOAT_EQ(cell(table, "100", "heart_rate"), 70);
  EXPECT_FLOAT_EQ(cell(table, "100", "systolic_pressure"), 110);
  EXPECT_FLOAT_EQ(cell(table, "100", "temperature"), 37.5F);
  EXPECT_TRUE(std::isnan(cell(table, "500", "heart_rate")));
}

TEST(Mimic3, GlasgowCarriesPartsForSixHoursAndIsFifteenWithATube) {
  Tables tables = mini_mimic();
  tables["CHARTEVENTS.csv"] +=
      "100,454,2150-01-02 21:00:00,5,5,\n"  // seven hours after the last: 4 + 5 + 5
      "100,184,2150-01-02 14:00:00,2,2,\n"  // 2 + 4 + 6, carried
      "100,184,2150-01-02 13:00:00,3,3,\n"
      "100,723,2150-01-02 13:00:00,4,4,\n"
      "100,454,2150-01-02 13:00:00,6,6,\n"
      "100,454,2150-01-02 13:30:00,1,1,1\n"  // an error
      "100,184,2150-01-02 15:00:00,9,9,\n"   // not on the scale
      "200,220739,2150-01-02 01:00:00,None,1,0\n"
      "200,223901,2150-01-02 01:00:00,No response,1,0\n"
      "200,223900,2150-01-02 01:00:00,No Response-ETT,1,0\n"
      "200,223900,2150-01-02 02:00:00,Confused,4,0\n"  // motor is not carried from the tube: 3 + 4 + 6
      "200,220739,2150-01-02 02:00:00,To Speech,3,0\n"
      "500,723,2150-01-03 07:00:00,1.0 ET/Trach,1,\n"
      "500,184,2150-01-03 08:00:00,1,1,\n";  // still the tube
  const Table table = load_tables("mimic3", "mimic3", tables);
  EXPECT_EQ(cell(table, "100", "glasgow_coma_scale"), 12);
  EXPECT_EQ(cell(table, "200", "glasgow_coma_scale"), 13);
  EXPECT_EQ(cell(table, "500", "glasgow_coma_scale"), 15);
}

TEST(Mimic3, OxygenationMatchesFractionsInTimeAndUnit) {
  Tables tables = mini_mimic();
  tables["LABEVENTS.csv"] +=
      "10,50821,2150-01-02 14:00:00,90,90\n"  // 90 / 0.5 = 180, with its own fraction
      "10,50816,2150-01-02 14:00:00,50,50\n"
      "10,50800,2150-01-02 14:00:00,ART,\n"
      "10,50821,2150-01-02 16:00:00,80,80\n"  // 80 / 0.5 = 160, charted at 15:00
      "10,50821,2150-01-02 17:00:00,20,20\n"
      "10,50800,2150-01-02 17:00:00,VEN,\n"
      "10,50821,2150-01-02 22:00:00,30,30\n"  // no fraction in the four hours before
      "20,50821,2150-01-02 10:00:00,100,100\n"
      "20,50821,2150-01-02 11:00:00,900,900\n";
  tables["CHARTEVENTS.csv"] +=
      "100,190,2150-01-02 15:00:00,.5,.5,\n"
      "100,190,2150-01-02 13:00:00,.4,.4,\n"
      "100,190,2150-01-02 16:00:01,1,1,\n"        // after the gas
      "200,223835,2150-01-02 06:00:00,40,40,0\n"  // percent, exactly four hours before: 250
      "200,223835,2150-01-02 07:00:00,5,5,0\n"    // litres
      "200,223835,2150-01-02 05:59:59,80,80,0\n";
  const Table table = load_tables("mimic3", "mimic3", tables);
  EXPECT_FLOAT_EQ(cell(table, "100", "pao2_fio2"), 160);
  EXPECT_FLOAT_EQ(cell(table, "200", "pao2_fio2"), 250);
  EXPECT_TRUE(std::isnan(cell(table, "500", "pao2_fio2")));
}

TEST(Mimic3, LaboratoryValuesBelongToTheAdmissionFromSixHoursBefore) {
  Tables tables = mini_mimic();
  tables["LABEVENTS.csv"] +=
      "10,51006,2150-01-02 06:00:00,10,10\n"
      "10,51006,2150-01-02 05:59:59,99,99\n"
      "10,51006,2150-01-03 00:00:00,30,30\n"  // in both stays' windows
      "10,51006,2150-01-03 12:00:01,50,50\n"  // in the second's only
      ",51006,2150-01-02 13:00:00,99,99\n"
      "10,50971,2150-01-02 13:00:00,0,0\n"
      "10,50822,2150-01-02 13:00:00,4,4\n"
      "10,50824,2150-01-02 13:00:00,138,138\n"
      "10,50983,2150-01-02 14:00:00,142,142\n"
      "10,50882,2150-01-02 13:00:00,24,24\n"
      "10,51301,2150-01-02 13:00:00,12,12\n"
      "10,51300,2150-01-02 13:00:00,10,10\n"
      "10,50885,2150-01-02 13:00:00,151,151\n";
  const Table table = load_tables("mimic3", "mimic3", tables);
  EXPECT_FLOAT_EQ(cell(table, "100", "urea_nitrogen"), 20);
  EXPECT_FLOAT_EQ(cell(table, "500", "urea_nitrogen"), 40);
  EXPECT_FLOAT_EQ(cell(table, "100", "potassium"), 4);
  EXPECT_FLOAT_EQ(cell(table, "100", "sodium"), 140);
  EXPECT_FLOAT_EQ(cell(table, "100", "bicarbonate"), 24);
  EXPECT_FLOAT_EQ(cell(table, "100", "white_blood_cells"), 11);
  EXPECT_TRUE(std::isnan(cell(table, "100", "bilirubin")));
}

TEST(Mimic3, UrineIsSummedWithoutIrrigant) {
  Tables tables = mini_mimic();
  tables["OUTPUTEVENTS.csv"] +=
      "100,40055,2150-01-02 13:00:00,500,\n"
      "100,227489,2150-01-03 12:00:00,700,\n"
      "100,227488,2150-01-02 13:00:00,200,\n"
      "100,226559,2150-01-02 13:00:00,900,1\n"
      "100,40055,2150-01-03 12:00:01,900,\n"
      "100,40055,2150-01-02 14:00:00,,\n"
      "200,227488,2150-01-02 13:00:00,300,\n"  // in, and nothing out: no urine can be told
      "400,40055,2150-01-02 13:00:00,20001,\n"
      "500,226559,2150-01-03 07:00:00,0,\n";
  const Table table = load_tables("mimic3", "mimic3", tables);
  EXPECT_FLOAT_EQ(cell(table, "100", "urine_output"), 1000);
  EXPECT_TRUE(std::isnan(cell(table, "200", "urine_output")));
  EXPECT_TRUE(std::isnan(cell(table, "400", "urine_output")));
  EXPECT_EQ(cell(table, "500", "urine_output"), 0);
}

TEST(Mimic3, CodesLabelEveryStayOfTheirAdmission) {
  Tables tables = mini_mimic();
  tables["DIAGNOSES_ICD.csv"] += "10,99592\n10,042\n20,4829\n40,0389\n40,1985\n40,20280\n,99592\n20,\n";
  tables["PROCEDURES_ICD.csv"] += "20,9671\n";
  const auto labels = [&](const std::string& spec) {
    const Table table = load_tables(spec, "mimic3", tables);
    return level(table, "100", "sepsis") + level(table, "500", "sepsis") + level(table, "200", "sepsis") +
           level(table, "400", "sepsis");
  };
  EXPECT_EQ(labels("mimic3"), "yesyesnono");
  EXPECT_EQ(labels("mimic3:sepsis=explicit"), "yesyesnono");
  EXPECT_EQ(labels("mimic3:sepsis=martin"), "nononoyes");
  EXPECT_EQ(labels("mimic3:sepsis=angus"), "yesyesyesno");
  const Table table = load_tables("mimic3", "mimic3", tables);
  EXPECT_EQ(cell(table, "500", "aids"), 1);
  EXPECT_EQ(cell(table, "400", "aids"), 0);
  EXPECT_EQ(cell(table, "400", "metastatic_cancer"), 1);
  EXPECT_EQ(cell(table, "400", "haematologic_malignancy"), 1);
  EXPECT_EQ(cell(table, "200", "haematologic_malignancy"), 0);
}

TEST(Mimic3, ErrorsNameFileLineAndColumn) {
  Tables tables = mini_mimic();
  EXPECT_THAT(load_error("mimic3:sepsis=sofa", "mimic3", tables),
              AllOf(HasSubstr("mimic3"), HasSubstr("explicit, martin or angus"), HasSubstr("'sofa'")));

  tables["CHARTEVENTS.csv"] = "ICUSTAY_ID,ITEMID,VALUE,VALUENUM,ERROR\n";
  EXPECT_THAT(load_error("mimic3", "mimic3", tables),
              AllOf(HasSubstr("CHARTEVENTS.csv"), HasSubstr("'CHARTTIME'"), HasSubstr("'VALUENUM'")));

  tables = mini_mimic();
  tables["CHARTEVENTS.csv"] += "100,999,,,,\n100,211,2150-02-30 12:00:00,60,60,\n";
  EXPECT_THAT(load_error("mimic3", "mimic3", tables),
              AllOf(HasSubstr("CHARTEVENTS.csv, line 3"), HasSubstr("'CHARTTIME'"), HasSubstr("2150-02-30 12:00:00")));

  tables = mini_mimic();
  tables["CHARTEVENTS.csv"] += "100,211,2150-01-02 12:00:00,60,sixty,\n";
  EXPECT_THAT(load_error("mimic3", "mimic3", tables),
              AllOf(HasSubstr("line 2"), HasSubstr("'VALUENUM'"), HasSubstr("a number"), HasSubstr("'sixty'")));

  tables = mini_mimic();
  tables["ICUSTAYS.csv"] += "9,10,600,2150-01-02 12:00:00\n";
  EXPECT_THAT(load_error("mimic3", "mimic3", tables),
              AllOf(HasSubstr("ICUSTAYS.csv, line 7"), HasSubstr("PATIENTS.csv"), HasSubstr("'9'")));

  tables = mini_mimic();
  tables["ICUSTAYS.csv"] += "1,10,100,2150-01-02 12:00:00\n";
  EXPECT_THAT(load_error("mimic3", "mimic3", tables), HasSubstr("a second row of stay '100'"));

  tables = mini_mimic();
  tables["LABEVENTS.csv"] = "";
  EXPECT_THAT(load_error("mimic3", "mimic3", tables), AllOf(HasSubstr("LABEVENTS.csv"), HasSubstr("an empty file")));
}

TEST(Mimic3, DemoCounts) {
  if (!dataset_available("mimic3")) GTEST_SKIP() << "the MIMIC-III demo is not in $ASSAY_DATA";
  const Table table = load_dataset("mimic3");
  if (table.rows() != dataset_info("mimic3").rows) GTEST_SKIP() << "another MIMIC-III than the demo is in $ASSAY_DATA";
  EXPECT_EQ(table.columns.size(), dataset_info("mimic3").features + 1);
  for (const char* column : {"glasgow_coma_scale", "systolic_pressure", "heart_rate", "temperature"}) {
    EXPECT_EQ(present(table, column), 132U) << column;
  }
  for (const char* column : {"urea_nitrogen", "white_blood_cells", "bicarbonate", "sodium", "potassium", "age", "aids",
                             "haematologic_malignancy", "metastatic_cancer", "admission_type"}) {
    EXPECT_EQ(present(table, column), 136U) << column;
  }
  EXPECT_EQ(present(table, "urine_output"), 130U);
  EXPECT_EQ(present(table, "bilirubin"), 70U);
  EXPECT_EQ(present(table, "pao2_fio2"), 54U);  // of 89 with a PaO2, 84 of them arterial

  const DatasetInfo known = dataset_info("mimic3");
  clinical::NamedRows stays(DataFiles(known, {}), "ICUSTAYS.csv", {"icustay_id", "hadm_id"});
  std::map<std::string, std::string> admission_of;
  std::set<std::string> admissions;
  while (stays.next()) {
    admission_of[std::string(stays.text(0))] = stays.text(1);
    admissions.emplace(stays.text(1));
  }
  EXPECT_EQ(admissions.size(), 129U);
  const auto septic_admissions = [&](const std::string& spec) {
    const Table labelled = load_dataset(spec);
    std::set<std::string> septic;
    for (const auto& id : labelled.ids) {
      if (level(labelled, id, "sepsis") == "yes") septic.insert(admission_of.at(id));
    }
    return septic.size();
  };
  EXPECT_EQ(septic_admissions("mimic3"), 26U);
  EXPECT_EQ(septic_admissions("mimic3:sepsis=martin"), 44U);
  EXPECT_EQ(septic_admissions("mimic3:sepsis=angus"), 61U);
}

}  // namespace
}  // namespace assay
