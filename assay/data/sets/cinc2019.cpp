// PhysioNet / Computing in Cardiology Challenge 2019, training set B: the first day of a stay, and whether sepsis
// comes.
//
// The file has one row per hour of a stay (a '|' between cells, NaN for missing), the rows of a stay together and in
// order of time. One row here per stay: means of systolic_pressure (SBP), heart_rate (HR), temperature (Temp), fio2
// (FiO2, a fraction), urea_nitrogen (BUN), white_blood_cells (WBC), bicarbonate (HCO3), potassium, bilirubin
// (Bilirubin_total) and age over the first 24 hourly rows; values outside the ranges of clinical.h are dropped. The
// label is yes when any hour of the stay has SepsisLabel = 1.
//
// So that features do not leak the label, only hours before the first one labelled 1 count (of 1,142 septic stays, 528
// are labelled within the first 24 rows). Where that is the very first row (223 stays) this row is used, since there is
// no other. The challenge labels from six hours before the onset of sepsis, so in the others features end that long
// before it.
//
// Of the seventeen variables of SAPS II it lacks the coma scale, PaO2, urine, sodium, the three comorbidities and the
// admission type. Every stay is of another patient. Cost: one pass; only the stay being read is kept. Ages over 89 are
// 100 in the file and stay so.
#include <array>
#include <unordered_set>

#include "assay/core/error.h"
#include "assay/data/sets/clinical.h"
#include "assay/data/sets/common.h"

namespace assay {
namespace {

using clinical::Mean;
using clinical::NamedRows;

constexpr size_t kHours = 24;
constexpr size_t kFeatures = 10;
constexpr size_t kFraction = 3;
constexpr clinical::Range kAge{0, 130};
// The fraction is tested where it is read as one.
constexpr std::array<clinical::Range, kFeatures> kRanges = {
    clinical::kPressure,   clinical::kHeartRate,   clinical::kCelsius,   clinical::Range{0, 2}, clinical::kUreaNitrogen,
    clinical::kWhiteCells, clinical::kBicarbonate, clinical::kPotassium, clinical::kBilirubin,  kAge};

struct SepsisStay {
  std::string id = {};
  size_t hours = 0;
  bool septic = false;
  std::array<Mean, kFeatures> means = {};
};

void add_hour(const NamedRows& rows, SepsisStay& stay) {
  for (size_t j = 0; j < kFeatures; ++j) {
    auto value = rows.number(j + 1);
    if (value && j == kFraction) value = clinical::oxygen_fraction(*value);
    if (value) stay.means[j].add_plausible(*value, kRanges[j]);
  }
}

LoadedSet load_cinc2019(const DataFiles& files, const SetOptions&) {
  auto columns = clinical::numeric_columns({"systolic_pressure", "heart_rate", "temperature", "fio2", "urea_nitrogen",
                                            "white_blood_cells", "bicarbonate", "potassium", "bilirubin", "age"});
  clinical::StayTable table("cinc2019", "PatientID", std::move(columns));
  NamedRows rows(files, "training_setB.psv",
                 {"PatientID", "SBP", "HR", "Temp", "FiO2", "BUN", "WBC", "HCO3", "Potassium", "Bilirubin_total", "Age",
                  "SepsisLabel"},
                 '|');
  constexpr size_t kLabel = 11;
  std::unordered_set<std::string> seen;
  SepsisStay stay;
  const auto finish_stay = [&] {
    if (stay.hours == 0) return;
    std::array<float, kFeatures> row;
    for (size_t j = 0; j < kFeatures; ++j) row[j] = stay.means[j].value();
    table.add(stay.id, row, stay.septic);
  };
  while (rows.next()) {
    if (rows.text(0) != stay.id) {
      finish_stay();
      stay = {std::string(rows.text(0))};
      if (!seen.insert(stay.id).second) {
        fail_input(rows.where(0), "the hours of a stay in adjacent rows", "more of stay " + in_quotes(stay.id));
      }
    }
    const auto label = rows.text(kLabel);
    if (label != "0" && label != "1") fail_input(rows.where(kLabel), "0 or 1", in_quotes(label));
    stay.septic = stay.septic || label == "1";
    if (stay.hours < kHours && (!stay.septic || stay.hours == 0)) add_hour(rows, stay);
    ++stay.hours;
  }
  finish_stay();
  return table.finish();
}

}  // namespace

DatasetSource cinc2019_set() {
  DatasetInfo info;
  info.name = "cinc2019";
  info.title = "PhysioNet/CinC Challenge 2019, set B: the first hours of a stay, before sepsis";
  info.rows = 20000;
  info.features = kFeatures;
  info.label = "sepsis";
  info.address = "https://physionet.org/content/challenge-2019/1.0.0/";
  info.citation =
      "Reyna, Josef, Jeter, et al., Early Prediction of Sepsis From Clinical Data: The PhysioNet/Computing in "
      "Cardiology Challenge 2019, Critical Care Medicine 48:210-217 (2020)";
  info.folders = {"cinc2019"};
  // Of the plain file: the 20,000 files of the challenge joined in order of name, with a first column PatientID.
  info.files = {{"training_setB.psv", "8abddfe6ba5bc96ae4b17e563ea810aaf650048062410394cb8968d4b506b88e"}};
  return {std::move(info), load_cinc2019};
}

}  // namespace assay
