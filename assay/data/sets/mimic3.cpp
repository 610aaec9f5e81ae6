// MIMIC-III: the seventeen variables of SAPS II from the first day of an intensive-care stay, and sepsis by ICD-9
// codes.
//
// One row per stay of ICUSTAYS, in its order. Day: INTIME to INTIME + 24 h, both ends included; laboratory values from
// six hours before INTIME, since blood drawn on the way to the unit belongs to the picture at its door (the reading of
// mimic-code; without it five stays of the demo have no urea and 26 no bilirubin).
//
//   variable                  summary  from (CareVue; MetaVision)
//   glasgow_coma_scale        lowest   CHARTEVENTS 184 454 723; 220739 223901 223900 (see GlasgowScores)
//   systolic_pressure         mean     CHARTEVENTS 51 442 455 6701; 220050 220179, mmHg
//   heart_rate                mean     CHARTEVENTS 211; 220045, beats a minute
//   temperature               mean     CHARTEVENTS 676 678; 223762 223761, Celsius (678 and 223761 are Fahrenheit)
//   pao2_fio2                 lowest   LABEVENTS 50821 50816 50800, CHARTEVENTS 190 3420 3422; 223835 (see Oxygenation)
//   urine_output              sum      OUTPUTEVENTS (items below), mL; irrigant put in is subtracted
//   urea_nitrogen             mean     LABEVENTS 51006, mg/dL
//   white_blood_cells         mean     LABEVENTS 51300 51301, thousands a microlitre
//   bicarbonate               mean     LABEVENTS 50882, mmol/L
//   sodium                    mean     LABEVENTS 50824 50983, mmol/L
//   potassium                 mean     LABEVENTS 50822 50971, mmol/L
//   bilirubin                 mean     LABEVENTS 50885, mg/dL
//   age                                years at INTIME; 91.4 for those over 89, whose birth date is hidden
//   aids, haematologic_malignancy, metastatic_cancer   0 or 1, from DIAGNOSES_ICD (see AdmissionCodes)
//   admission_type                     ADMISSIONS: ELECTIVE, EMERGENCY, URGENT, ...
//
// The coma scale and the oxygenation are the worst of the day, as in SAPS II: both are bad on one side only. The others
// can be bad on both sides, so a single "worst" would mix them up, and are means. Charted values join by ICUSTAY_ID,
// laboratory values by HADM_ID. Rows marked as errors and values outside the ranges of clinical.h are dropped; what was
// not measured stays missing (of the demo's 89 stays with a blood gas, 84 have an arterial one and 54 an oxygen
// fraction to divide it by). Stays of patients under 16, newborns mostly, are left out: SAPS II is for adults. Option
// sepsis=explicit|martin|angus: the rule that labels the admission. Codes are given at discharge, so the label and the
// three comorbidities say "during this admission", not "by the end of this day". The stays of one patient are separate
// rows; a split puts them on one side.
//
// Deviations from SAPS II: admission type is the hospital's, not scheduled surgical / unscheduled surgical / medical.
// Cost: one pass over CHARTEVENTS, LABEVENTS and OUTPUTEVENTS; memory for each stay, not for each event.
#include <array>
#include <unordered_map>

#include "assay/core/error.h"
#include "assay/data/sets/clinical.h"
#include "assay/data/sets/common.h"

namespace assay {
namespace {

using clinical::GlasgowScores;
using clinical::ItemRoles;
using clinical::kSecondsPerHour;
using clinical::Mean;
using clinical::NamedRows;

constexpr int64_t kDay = 24 * kSecondsPerHour;
constexpr int64_t kLabsBefore = 6 * kSecondsPerHour;
constexpr double kSecondsPerYear = 365.242 * 24 * 3600;
constexpr double kAdult = 16;
// Birth dates of those over 89 are moved back so that they seem to be 300; 91.4 is their median age (MIMIC-III's page).
constexpr double kHiddenAge = 120;
constexpr float kMedianHiddenAge = 91.4F;

enum ChartRole : uint8_t {
  kEyes = 1,
  kVerbal,
  kMotor,
  kHeartRate,
  kSystolic,
  kTemperatureC,
  kTemperatureF,
  kChartedFraction
};
constexpr ItemRoles::Item kChartItems[] = {{184, kEyes},
                                           {220739, kEyes},
                                           {723, kVerbal},
                                           {223900, kVerbal},
                                           {454, kMotor},
                                           {223901, kMotor},
                                           {211, kHeartRate},
                                           {220045, kHeartRate},
                                           {51, kSystolic},
                                           {442, kSystolic},
                                           {455, kSystolic},
                                           {6701, kSystolic},
                                           {220050, kSystolic},
                                           {220179, kSystolic},
                                           {676, kTemperatureC},
                                           {223762, kTemperatureC},
                                           {678, kTemperatureF},
                                           {223761, kTemperatureF},
                                           {190, kChartedFraction},
                                           {3420, kChartedFraction},
                                           {3422, kChartedFraction},
                                           {223835, kChartedFraction}};

enum LabRole : uint8_t {
  kUrea = 1,
  kWhiteCells,
  kBicarbonate,
  kSodium,
  kPotassium,
  kBilirubin,
  kGasOxygen,
  kGasFraction,
  kGasSpecimen
};
constexpr ItemRoles::Item kLabItems[] = {{51006, kUrea},        {51300, kWhiteCells},  {51301, kWhiteCells},
                                         {50882, kBicarbonate}, {50824, kSodium},      {50983, kSodium},
                                         {50822, kPotassium},   {50971, kPotassium},   {50885, kBilirubin},
                                         {50821, kGasOxygen},   {50816, kGasFraction}, {50800, kGasSpecimen}};

enum UrineRole : uint8_t { kUrine = 1, kIrrigantIn };
constexpr ItemRoles::Item kUrineItems[] = {
    {40055, kUrine},  {43175, kUrine},      {40069, kUrine},  {40094, kUrine},  {40715, kUrine},  {40473, kUrine},
    {40085, kUrine},  {40057, kUrine},      {40056, kUrine},  {40405, kUrine},  {40428, kUrine},  {40086, kUrine},
    {40096, kUrine},  {40651, kUrine},      {226559, kUrine}, {226560, kUrine}, {226561, kUrine}, {226584, kUrine},
    {226563, kUrine}, {226564, kUrine},     {226565, kUrine}, {226567, kUrine}, {226557, kUrine}, {226558, kUrine},
    {227489, kUrine}, {227488, kIrrigantIn}};

struct Stay {
  std::string id;
  int64_t patient;
  int64_t admission;
  int64_t in_time;
  float age;
  GlasgowScores glasgow = {};
  clinical::Oxygenation oxygenation = {};
  Mean systolic = {}, heart_rate = {}, temperature = {};
  Mean urea = {}, white_cells = {}, bicarbonate = {}, sodium = {}, potassium = {}, bilirubin = {};
  std::optional<double> urine = {};
};

struct Admission {
  std::string type;
  clinical::AdmissionCodes codes = {};
  std::vector<size_t> stays = {};
};

// Everything that is kept while the tables stream by.
struct Unit {
  std::unordered_map<int64_t, Admission> admissions;
  std::vector<Stay> stays;
  std::unordered_map<int64_t, size_t> stay_of;  // by ICUSTAY_ID
};

float years(int64_t seconds) {
  const double age = static_cast<double>(seconds) / kSecondsPerYear;
  return age > kHiddenAge ? kMedianHiddenAge : static_cast<float>(age);
}

void read_admissions(const DataFiles& files, Unit& unit) {
  NamedRows rows(files, "ADMISSIONS.csv", {"HADM_ID", "ADMISSION_TYPE"});
  while (rows.next()) {
    unit.admissions[rows.required_id(0)].type = rows.missing(1) ? "" : std::string(rows.text(1));
  }
}

void read_stays(const DataFiles& files, Unit& unit) {
  std::unordered_map<int64_t, int64_t> birth;
  NamedRows patients(files, "PATIENTS.csv", {"SUBJECT_ID", "DOB"});
  while (patients.next()) birth[patients.required_id(0)] = patients.required_time(1);

  NamedRows rows(files, "ICUSTAYS.csv", {"ICUSTAY_ID", "SUBJECT_ID", "HADM_ID", "INTIME"});
  while (rows.next()) {
    const int64_t id = rows.required_id(0);
    const auto born = birth.find(rows.required_id(1));
    if (born == birth.end()) fail_input(rows.where(1), "a patient of PATIENTS.csv", in_quotes(rows.text(1)));
    const auto admission = unit.admissions.find(rows.required_id(2));
    if (admission == unit.admissions.end()) {
      fail_input(rows.where(2), "an admission of ADMISSIONS.csv", in_quotes(rows.text(2)));
    }
    const int64_t in_time = rows.required_time(3);
    const float age = years(in_time - born->second);
    if (age < kAdult) continue;
    if (!unit.stay_of.emplace(id, unit.stays.size()).second) {
      fail_input(rows.where(0), "each stay once", "a second row of stay " + in_quotes(rows.text(0)));
    }
    admission->second.stays.push_back(unit.stays.size());
    unit.stays.push_back({std::string(rows.text(0)), born->first, admission->first, in_time, age});
  }
}

void read_codes(const DataFiles& files, bool procedures, Unit& unit) {
  NamedRows rows(files, procedures ? "PROCEDURES_ICD.csv" : "DIAGNOSES_ICD.csv", {"HADM_ID", "ICD9_CODE"});
  while (rows.next()) {
    const auto admission = unit.admissions.find(rows.id(0).value_or(-1));
    if (admission == unit.admissions.end() || rows.missing(1)) continue;
    auto& codes = admission->second.codes;
    procedures ? codes.add_procedure(rows.text(1)) : codes.add_diagnosis(rows.text(1));
  }
}

void add_charted(Stay& stay, uint8_t role, int64_t seconds, double value, std::string_view text) {
  switch (role) {
    case kEyes: stay.glasgow.add(seconds, GlasgowScores::kEyes, value); break;
    case kMotor: stay.glasgow.add(seconds, GlasgowScores::kMotor, value); break;
    case kVerbal:
      // The two systems' words for "cannot speak, has a tube"; their number is 1, like no response.
      if (text == "1.0 ET/Trach" || text == "No Response-ETT") {
        stay.glasgow.add_tube(seconds);
      } else {
        stay.glasgow.add(seconds, GlasgowScores::kVerbal, value);
      }
      break;
    case kHeartRate: stay.heart_rate.add_plausible(value, clinical::kHeartRate); break;
    case kSystolic: stay.systolic.add_plausible(value, clinical::kPressure); break;
    case kTemperatureC: stay.temperature.add_plausible(value, clinical::kCelsius); break;
    case kTemperatureF:
      if (clinical::kFahrenheit.holds(value)) stay.temperature.add((value - 32) / 1.8);
      break;
    case kChartedFraction: stay.oxygenation.add_charted_fraction(seconds, value); break;
    default: break;
  }
}

void read_charts(const DataFiles& files, Unit& unit) {
  const ItemRoles items(kChartItems);
  NamedRows rows(files, "CHARTEVENTS.csv", {"ITEMID", "ICUSTAY_ID", "CHARTTIME", "VALUENUM", "VALUE", "ERROR"});
  while (rows.next()) {
    const uint8_t role = items.of(rows.id(0));
    if (role == 0 || rows.text(5) == "1") continue;
    const auto found = unit.stay_of.find(rows.id(1).value_or(-1));
    if (found == unit.stay_of.end()) continue;
    Stay& stay = unit.stays[found->second];
    const auto time = rows.time(2);
    if (!time || *time < stay.in_time || *time > stay.in_time + kDay) continue;
    if (const auto value = rows.number(3)) add_charted(stay, role, *time - stay.in_time, *value, rows.text(4));
  }
}

void add_lab(Stay& stay, uint8_t role, int64_t seconds, double value) {
  switch (role) {
    case kUrea: stay.urea.add_plausible(value, clinical::kUreaNitrogen); break;
    case kWhiteCells: stay.white_cells.add_plausible(value, clinical::kWhiteCells); break;
    case kBicarbonate: stay.bicarbonate.add_plausible(value, clinical::kBicarbonate); break;
    case kSodium: stay.sodium.add_plausible(value, clinical::kSodium); break;
    case kPotassium: stay.potassium.add_plausible(value, clinical::kPotassium); break;
    case kBilirubin: stay.bilirubin.add_plausible(value, clinical::kBilirubin); break;
    case kGasOxygen: stay.oxygenation.add_pressure(seconds, value); break;
    case kGasFraction: stay.oxygenation.add_measured_fraction(seconds, value); break;
    default: break;
  }
}

void read_labs(const DataFiles& files, Unit& unit) {
  const ItemRoles items(kLabItems);
  NamedRows rows(files, "LABEVENTS.csv", {"ITEMID", "HADM_ID", "CHARTTIME", "VALUENUM", "VALUE"});
  while (rows.next()) {
    const uint8_t role = items.of(rows.id(0));
    if (role == 0) continue;
    const auto found = unit.admissions.find(rows.id(1).value_or(-1));
    if (found == unit.admissions.end() || found->second.stays.empty()) continue;
    const auto time = rows.time(2);
    if (!time) continue;
    for (const size_t index : found->second.stays) {
      Stay& stay = unit.stays[index];
      const int64_t seconds = *time - stay.in_time;
      if (seconds < -kLabsBefore || seconds > kDay) continue;
      if (role == kGasSpecimen) {
        stay.oxygenation.add_specimen(seconds, rows.text(4));
      } else if (const auto value = rows.number(3)) {
        add_lab(stay, role, seconds, *value);
      }
    }
  }
}

void read_urine(const DataFiles& files, Unit& unit) {
  const ItemRoles items(kUrineItems);
  NamedRows rows(files, "OUTPUTEVENTS.csv", {"ITEMID", "ICUSTAY_ID", "CHARTTIME", "VALUE", "ISERROR"});
  while (rows.next()) {
    const uint8_t role = items.of(rows.id(0));
    if (role == 0 || rows.text(4) == "1") continue;
    const auto found = unit.stay_of.find(rows.id(1).value_or(-1));
    if (found == unit.stay_of.end()) continue;
    Stay& stay = unit.stays[found->second];
    const auto time = rows.time(2);
    if (!time || *time < stay.in_time || *time > stay.in_time + kDay) continue;
    const auto volume = rows.number(3);
    if (!volume || *volume < 0) continue;
    stay.urine = stay.urine.value_or(0) + (role == kIrrigantIn ? -*volume : *volume);
  }
}

clinical::SepsisRule sepsis_rule(const SetOptions& options) {
  const auto chosen = options.find("sepsis");
  if (chosen == options.end() || chosen->second == "explicit") return clinical::SepsisRule::explicit_codes;
  if (chosen->second == "martin") return clinical::SepsisRule::martin;
  if (chosen->second == "angus") return clinical::SepsisRule::angus;
  fail_input("mimic3, option sepsis", "explicit, martin or angus", in_quotes(chosen->second));
}

LoadedSet load_mimic3(const DataFiles& files, const SetOptions& options) {
  const auto rule = sepsis_rule(options);
  Unit unit;
  read_admissions(files, unit);
  read_stays(files, unit);
  read_codes(files, false, unit);
  if (rule == clinical::SepsisRule::angus) read_codes(files, true, unit);
  read_charts(files, unit);
  read_labs(files, unit);
  read_urine(files, unit);

  auto columns = clinical::numeric_columns({"glasgow_coma_scale", "systolic_pressure", "heart_rate", "temperature",
                                            "pao2_fio2", "urine_output", "urea_nitrogen", "white_blood_cells",
                                            "bicarbonate", "sodium", "potassium", "bilirubin", "age", "aids",
                                            "haematologic_malignancy", "metastatic_cancer"});
  columns.push_back({"admission_type", ColumnKind::categorical});
  clinical::StayTable table("mimic3", "icustay_id", std::move(columns));
  constexpr size_t kAdmissionType = 16;
  for (const auto& stay : unit.stays) {
    const auto& [type, codes, stays] = unit.admissions.at(stay.admission);
    const std::array<float, 17> row = {
        stay.glasgow.lowest(),
        stay.systolic.value(),
        stay.heart_rate.value(),
        stay.temperature.value(),
        stay.oxygenation.lowest_ratio(),
        clinical::plausible_urine(stay.urine),
        stay.urea.value(),
        stay.white_cells.value(),
        stay.bicarbonate.value(),
        stay.sodium.value(),
        stay.potassium.value(),
        stay.bilirubin.value(),
        stay.age,
        codes.aids() ? 1.0F : 0.0F,
        codes.haematologic_malignancy() ? 1.0F : 0.0F,
        codes.metastatic_cancer() ? 1.0F : 0.0F,
        type.empty() ? kMissing : clinical::level_code(table.column(kAdmissionType), type)};
    table.add(stay.id, row, codes.septic(rule));
  }
  LoadedSet set = table.finish();
  for (const auto& stay : unit.stays) set.groups.push_back(static_cast<size_t>(stay.patient));
  return set;
}

}  // namespace

DatasetSource mimic3_set() {
  DatasetInfo info;
  info.name = "mimic3";
  info.title = "MIMIC-III (open demo): SAPS II variables of the first intensive-care day";
  info.rows = 136;
  info.features = 17;
  info.label = "sepsis";
  info.address = "https://physionet.org/content/mimiciii-demo/1.4/";
  info.citation =
      "Johnson, Pollard, Shen, et al., MIMIC-III, a freely accessible critical care database, Scientific Data "
      "3:160035 (2016); Johnson, Pollard, Mark, MIMIC-III Clinical Database Demo 1.4, PhysioNet (2019), "
      "doi:10.13026/C2HM2Q";
  info.folders = {"mimic3", "mimic3-demo"};
  // PhysioNet's own list for the plain files of the demo; the full database has the same names and other sums.
  info.files = {
      {"ADMISSIONS.csv", "487e0b87cc81472cc2eb9ee911b3493c39e15d32e8230cec559907060c009b1c"},
      {"PATIENTS.csv", "f65803a46bcb88127574bfd0b70d78d4123783d05bb411e70d4c9629edd7b703"},
      {"ICUSTAYS.csv", "455cd8fd014bd75d9d26ddf8cb116c77ecccee2fe35fea342801a631d94b387b"},
      {"CHARTEVENTS.csv", "734387d583daa9c339f9744ce6e58ed7387b99672898139c910f9aa3e40c31ec"},
      {"LABEVENTS.csv", "bca32a7242e739c0cbf1690270db83c10e38a27dbfa915eeb14f5a31a1e898fa"},
      {"OUTPUTEVENTS.csv", "f8819ce33479da16b72c4e785ada17341e22ec9217d07bd5de94f1d09429f389"},
      {"DIAGNOSES_ICD.csv", "74dc979906bc2172f0cf025271dcd44c7cd52506b297e4b36e63dd40dce923da"},
      {"PROCEDURES_ICD.csv", "0a1474dcb7e1bc083cc7b329257e5e85305f3e54ee5b0bedd325b3772806d655"},
  };
  info.options = {"sepsis=explicit|martin|angus"};
  return {std::move(info), load_mimic3};
}

}  // namespace assay
