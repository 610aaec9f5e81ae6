// eICU: the APACHE variables of the first intensive-care day, and whether the admission diagnosis is sepsis.
//
// One row per stay of apacheapsvar (2,205 of the demo's 2,520 stays), joined with patient and apachepredvar on
// patientunitstayid. Of the seventeen variables of SAPS II it has fifteen in some form: mean pressure stands for
// systolic, PaO2 and FiO2 are apart (both as APACHE chose them, so they need not be of one sample), and there is no
// potassium and no bicarbonate. Values are the day's worst as APACHE IV defines it (Zimmerman, Kramer, McNair, Malila,
// Critical Care Medicine 34:1297-1310, 2006); -1 and values outside the ranges of clinical.h are missing.
//
//   glasgow_coma_scale       eyes + motor + verbal; missing when one is (also when drugs made it untestable)
//   mean_pressure, heart_rate, temperature (Celsius), pao2 (mmHg), fio2 (a fraction), urine_output (mL in the day),
//   urea_nitrogen, white_blood_cells, sodium, bilirubin: apacheapsvar
//   age                      patient; "> 89" is 90, the least it can mean
//   aids, haematologic_malignancy (lymphoma or leukemia), metastatic_cancer    apachepredvar
//   admission_type           "elective surgery" where apachepredvar's electivesurgery is 1, else "other"
//   sepsis                   yes where patient's apacheadmissiondx starts with "Sepsis"
//
// An empty apacheadmissiondx (76 of the 2,205) counts as no: nobody wrote sepsis down. The stays of one patient
// (uniquepid, where patient.csv has that column) stay together in a split.
#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/data/sets/clinical.h"
#include "assay/data/sets/common.h"

namespace assay {
namespace {

using clinical::NamedRows;

constexpr float kOver89 = 90;

struct Patient {
  float age;
  bool septic;
  size_t person;  // the same for all stays of one
};

struct History {
  float aids = kMissing;
  float haematologic_malignancy = kMissing;
  float metastatic_cancer = kMissing;
  bool elective = false;
};

float age_of(const NamedRows& rows, size_t column) {
  if (rows.text(column).starts_with(">")) return kOver89;
  return static_cast<float>(rows.number(column).value_or(kMissing));
}

// 0 or 1; -1 and an empty cell are missing.
float flag(const NamedRows& rows, size_t column) {
  const auto value = rows.number(column);
  if (!value || *value == -1) return kMissing;
  if (*value != 0 && *value != 1) fail_input(rows.where(column), "0 or 1", in_quotes(rows.text(column)));
  return static_cast<float>(*value);
}

float either(float a, float b) {
  if (a == 1 || b == 1) return 1;
  return a + b;  // 0, or missing when one is
}

bool names_people(const DataFiles& files) {
  CsvRows rows(files.open_once("patient.csv"), ',');
  return rows.next() &&
         std::ranges::any_of(rows.cells(), [](auto name) { return lower_case(std::string(name)) == "uniquepid"; });
}

std::unordered_map<int64_t, Patient> read_patients(const DataFiles& files) {
  std::unordered_map<int64_t, Patient> patients;
  std::unordered_map<std::string, size_t> people;
  // Without names the id of the stay stands for the person's.
  NamedRows rows(
      files, "patient.csv",
      {"patientunitstayid", "age", "apacheadmissiondx", names_people(files) ? "uniquepid" : "patientunitstayid"});
  while (rows.next()) {
    const int64_t stay = rows.required_id(0);
    const std::string name(rows.missing(3) ? rows.text(0) : rows.text(3));
    const size_t person = people.emplace(name, people.size()).first->second;
    patients[stay] = {age_of(rows, 1), rows.text(2).starts_with("Sepsis"), person};
  }
  return patients;
}

std::unordered_map<int64_t, History> read_histories(const DataFiles& files) {
  std::unordered_map<int64_t, History> histories;
  NamedRows rows(files, "apachepredvar.csv",
                 {"patientunitstayid", "aids", "lymphoma", "leukemia", "metastaticcancer", "electivesurgery"});
  while (rows.next()) {
    histories[rows.required_id(0)] = {flag(rows, 1), either(flag(rows, 2), flag(rows, 3)), flag(rows, 4),
                                      flag(rows, 5) == 1};
  }
  return histories;
}

float glasgow(const NamedRows& rows, size_t eyes, size_t motor, size_t verbal) {
  double total = 0;
  for (const size_t part : {eyes, motor, verbal}) {
    const auto score = rows.number(part);
    if (!score || *score < 1) return kMissing;
    total += *score;
  }
  return total <= 15 ? static_cast<float>(total) : kMissing;
}

float fraction(std::optional<double> value) {
  if (!value) return kMissing;
  return static_cast<float>(clinical::oxygen_fraction(*value).value_or(kMissing));
}

LoadedSet load_eicu(const DataFiles& files, const SetOptions&) {
  const auto patients = read_patients(files);
  const auto histories = read_histories(files);
  auto columns =
      clinical::numeric_columns({"glasgow_coma_scale", "mean_pressure", "heart_rate", "temperature", "pao2", "fio2",
                                 "urine_output", "urea_nitrogen", "white_blood_cells", "sodium", "bilirubin", "age",
                                 "aids", "haematologic_malignancy", "metastatic_cancer"});
  columns.push_back({"admission_type", ColumnKind::categorical, {"elective surgery", "other"}});
  clinical::StayTable table("eicu", "patientunitstayid", std::move(columns));
  std::vector<size_t> people;
  NamedRows rows(files, "apacheapsvar.csv",
                 {"patientunitstayid", "eyes", "motor", "verbal", "meanbp", "heartrate", "temperature", "pao2", "fio2",
                  "urine", "bun", "wbc", "sodium", "bilirubin"});
  while (rows.next()) {
    const auto patient = patients.find(rows.required_id(0));
    if (patient == patients.end()) fail_input(rows.where(0), "a stay of patient.csv", in_quotes(rows.text(0)));
    const auto found = histories.find(patient->first);
    const History history = found == histories.end() ? History{} : found->second;
    const std::array<float, 16> row = {glasgow(rows, 1, 2, 3),
                                       clinical::plausible(rows.number(4), clinical::kPressure),
                                       clinical::plausible(rows.number(5), clinical::kHeartRate),
                                       clinical::plausible(rows.number(6), clinical::kCelsius),
                                       clinical::plausible(rows.number(7), clinical::kOxygenPressure),
                                       fraction(rows.number(8)),
                                       clinical::plausible_urine(rows.number(9)),
                                       clinical::plausible(rows.number(10), clinical::kUreaNitrogen),
                                       clinical::plausible(rows.number(11), clinical::kWhiteCells),
                                       clinical::plausible(rows.number(12), clinical::kSodium),
                                       clinical::plausible(rows.number(13), clinical::kBilirubin),
                                       patient->second.age,
                                       history.aids,
                                       history.haematologic_malignancy,
                                       history.metastatic_cancer,
                                       history.elective ? 0.0F : 1.0F};
    table.add(rows.text(0), row, patient->second.septic);
    people.push_back(patient->second.person);
  }
  LoadedSet set = table.finish();
  set.groups = std::move(people);
  return set;
}

}  // namespace

DatasetSource eicu_set() {
  DatasetInfo info;
  info.name = "eicu";
  info.title = "eICU (open demo): APACHE variables of the first intensive-care day";
  info.rows = 2205;
  info.features = 16;
  info.label = "sepsis";
  info.address = "https://physionet.org/content/eicu-crd-demo/2.0/";
  info.citation =
      "Pollard, Johnson, Raffa, Celi, Mark, Badawi, The eICU Collaborative Research Database, Scientific Data 5:180178 "
      "(2018)";
  info.folders = {"eicu", "eicu-demo"};
  // Of the .csv.xz copies these tables were read from; PhysioNet's own sums were not at hand.
  info.files = {
      {"apacheapsvar.csv", "fa99379ef8d255094fb1e4ba9d97ea04d1725ca7d3c3810accb9bd91f691d608", "apacheapsvar.csv.xz"},
      {"apachepredvar.csv", "7e9d2b5708823829f99d1e3cd3a51889ebfca4f95e2b0de949cb12c805be9713", "apachepredvar.csv.xz"},
      {"patient.csv", "bb8f4e06dc6b228e5bf8a81607f432abe4e58e552341f0c8b689d8aaaf884b6c", "patient.csv.xz"},
  };
  return {std::move(info), load_eicu};
}

}  // namespace assay
