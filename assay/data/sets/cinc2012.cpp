// PhysioNet / Computing in Cardiology Challenge 2012, set A: the first day of a stay, and whether the patient dies in
// hospital.
//
// 4,000 adult intensive-care stays of 48 hours or more, from MIMIC-II: the same hospital as MIMIC-III, 2001 to 2008.
// The archive has one file for each stay (Time,Parameter,Value; time as hh:mm since admission; -1 for what is not
// known). One row here per stay, of its first 24 hours; values outside the ranges of clinical.h are dropped:
//
//   glasgow_coma_scale    the lowest GCS, 3 to 15
//   systolic_pressure     the mean of SysABP and NISysABP
//   heart_rate (HR), temperature (Temp, Celsius), urea_nitrogen (BUN), white_blood_cells (WBC), bicarbonate (HCO3),
//   sodium (Na), potassium (K), bilirubin    means
//   pao2_fio2             the lowest PaO2/FiO2, each pressure with the latest fraction of the four hours before
//   urine_output          the sum, in mL
//   age
//   unit                  ICUType: coronary, cardiac_surgery, medical or surgical
//   death                 yes where Outcomes-a.txt has In-hospital_death = 1
//
// Of the seventeen variables of SAPS II it lacks AIDS, haematologic malignancy and metastatic cancer; the unit stands
// for the type of admission. Every stay is of another patient. Cost: one pass over 30 MB.
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <unordered_map>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/data/io/number.h"
#include "assay/data/io/tar.h"
#include "assay/data/sets/clinical.h"
#include "assay/data/sets/common.h"

namespace assay {
namespace {

constexpr size_t kFeatures2012 = 14;
constexpr int64_t kDaySeconds = 24 * clinical::kSecondsPerHour;
constexpr std::string_view kArchive2012 = "set-a.tar";
constexpr std::string_view kOutcomes2012 = "Outcomes-a.txt";

// What a parameter adds to: the mean of a feature.
struct MeanOf {
  std::string_view parameter;
  size_t feature;
  clinical::Range range;
};
constexpr std::array<MeanOf, 10> kMeans2012 = {{{"SysABP", 1, clinical::kPressure},
                                                {"NISysABP", 1, clinical::kPressure},
                                                {"HR", 2, clinical::kHeartRate},
                                                {"Temp", 3, clinical::kCelsius},
                                                {"BUN", 6, clinical::kUreaNitrogen},
                                                {"WBC", 7, clinical::kWhiteCells},
                                                {"HCO3", 8, clinical::kBicarbonate},
                                                {"Na", 9, clinical::kSodium},
                                                {"K", 10, clinical::kPotassium},
                                                {"Bilirubin", 11, clinical::kBilirubin}}};
constexpr std::array<std::string_view, 4> kUnits2012 = {"coronary", "cardiac_surgery", "medical", "surgical"};

struct Stay2012 {
  std::array<clinical::Mean, kFeatures2012> means = {};
  clinical::Oxygenation oxygen = {};
  double lowest_coma = NAN;
  std::optional<double> urine = {};
  double age = NAN;
  std::string_view unit = {};
};

// Seconds of "26:37"; nothing for anything else.
std::optional<int64_t> seconds_of(std::string_view time) {
  const size_t colon = time.find(':');
  if (colon == std::string_view::npos) return {};
  int64_t parts[2] = {0, 0};
  const std::string_view texts[2] = {time.substr(0, colon), time.substr(colon + 1)};
  for (size_t i = 0; i < 2; i++) {
    const char* end = texts[i].data() + texts[i].size();
    const auto read = std::from_chars(texts[i].data(), end, parts[i]);
    if (read.ec != std::errc() || read.ptr != end || parts[i] < 0 || parts[i] > (i == 0 ? 9999 : 59)) return {};
  }
  return parts[0] * clinical::kSecondsPerHour + parts[1] * 60;
}

void add_value(std::string_view parameter, int64_t seconds, double value, Stay2012& stay) {
  for (const MeanOf& mean : kMeans2012) {
    if (mean.parameter == parameter) stay.means[mean.feature].add_plausible(value, mean.range);
  }
  if (parameter == "GCS" && value >= 3 && value <= 15) stay.lowest_coma = std::fmin(stay.lowest_coma, value);
  if (parameter == "PaO2" && clinical::kOxygenPressure.holds(value)) stay.oxygen.add_pressure(seconds, value);
  if (parameter == "FiO2") stay.oxygen.add_charted_fraction(seconds, value);
  if (parameter == "Urine" && value >= 0) stay.urine = stay.urine.value_or(0) + value;
  if (parameter == "Age" && value > 0) stay.age = value;
  if (parameter == "ICUType" && value >= 1 && value <= 4 && value == std::trunc(value)) {
    stay.unit = kUnits2012[static_cast<size_t>(value) - 1];
  }
}

// The stay in one file of the archive.
Stay2012 read_stay(const std::string& where, const TarFile& file) {
  CsvRows rows(memory_bytes(fmt::format("{} in {}", file.name, where), file.bytes), ',');
  if (!rows.next() || rows.cells().size() != 3 || rows.cells()[0] != "Time" || rows.cells()[1] != "Parameter") {
    fail_input(rows.where(), "the header Time,Parameter,Value", "something else");
  }
  Stay2012 stay;
  while (rows.next()) {
    if (rows.cells().size() != 3) fail_input(rows.where(), "3 cells", fmt::format("{}", rows.cells().size()));
    const auto seconds = seconds_of(rows.cells()[0]);
    if (!seconds) fail_input(rows.where(0, "Time"), "a time as in 26:37", in_quotes(rows.cells()[0]));
    const auto value = parse_number(rows.cells()[2]);
    if (!value) fail_input(rows.where(2, "Value"), "a number", in_quotes(rows.cells()[2]));
    if (*seconds < kDaySeconds) add_value(rows.cells()[1], *seconds, value->value, stay);
  }
  return stay;
}

// "132539" of "set-a/132539.txt".
std::string_view record_of(std::string_view name) {
  name = name.substr(name.rfind('/') + 1);
  return name.substr(0, name.find('.'));
}

LoadedSet load_cinc2012(const DataFiles& files, const SetOptions&) {
  std::unordered_map<std::string, bool> deaths;
  clinical::NamedRows outcomes(files, kOutcomes2012, {"RecordID", "In-hospital_death"});
  while (outcomes.next()) {
    const auto death = outcomes.text(1);
    if (death != "0" && death != "1") fail_input(outcomes.where(1), "0 or 1", in_quotes(death));
    if (!deaths.emplace(outcomes.text(0), death == "1").second) {
      fail_input(outcomes.where(0), "every record once", in_quotes(outcomes.text(0)));
    }
  }
  auto columns = clinical::numeric_columns({"glasgow_coma_scale", "systolic_pressure", "heart_rate", "temperature",
                                            "pao2_fio2", "urine_output", "urea_nitrogen", "white_blood_cells",
                                            "bicarbonate", "sodium", "potassium", "bilirubin", "age"});
  columns.push_back({"unit", ColumnKind::categorical});
  clinical::StayTable table("cinc2012", "RecordID", std::move(columns), "death");
  TarReader archive(files.open_once(kArchive2012));
  TarFile file;
  while (archive.next(file)) {
    const std::string record(record_of(file.name));
    const auto known = deaths.find(record);
    if (known == deaths.end()) {
      fail_input(fmt::format("{}, file {}", files.path(kArchive2012), in_quotes(file.name)),
                 fmt::format("a record of {}", kOutcomes2012), in_quotes(record));
    }
    const Stay2012 stay = read_stay(files.path(kArchive2012), file);
    std::array<float, kFeatures2012> row;
    for (size_t j = 0; j < kFeatures2012; ++j) row[j] = stay.means[j].value();
    row[0] = static_cast<float>(stay.lowest_coma);
    row[4] = stay.oxygen.lowest_ratio();
    row[5] = clinical::plausible_urine(stay.urine);
    row[12] = static_cast<float>(stay.age);
    row[13] = stay.unit.empty() ? kMissing : clinical::level_code(table.column(13), stay.unit);
    table.add(record, row, known->second);
    deaths.erase(known);
  }
  if (!deaths.empty()) {
    fail_input(files.path(kArchive2012), fmt::format("a file for every record of {}", kOutcomes2012),
               fmt::format("{} without one", deaths.size()));
  }
  return table.finish();
}

}  // namespace

DatasetSource cinc2012_set() {
  DatasetInfo info;
  info.name = "cinc2012";
  info.title = "PhysioNet/CinC Challenge 2012, set A: the first day of a stay, and death in hospital";
  info.rows = 4000;
  info.features = kFeatures2012;
  info.label = "death";
  info.address = "https://physionet.org/content/challenge-2012/1.0.0/";
  info.citation =
      "Silva, Moody, Scott, Celi, Mark, Predicting In-Hospital Mortality of ICU Patients: The PhysioNet/Computing in "
      "Cardiology Challenge 2012, Computing in Cardiology 39:245-248 (2012)";
  info.folders = {"cinc2012"};
  // The archive is of the plain files in order of name; its bytes depend on how it was packed.
  info.files = {{std::string(kArchive2012), "0db3674adc2bd227328af2cc53679b84d1602a075a4c09126e26cf03a01713aa"},
                {std::string(kOutcomes2012), "2613ea60ccda29f87571a7d6b09ad130858a8ccd66325bd073365925026883c2"}};
  return {std::move(info), load_cinc2012};
}

}  // namespace assay
