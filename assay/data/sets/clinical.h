// What the clinical data sets share: tables read by column name, time stamps, plausible ranges, the summaries of one
// intensive-care stay, and ICD-9 code rules.
//
// Everything here is streaming: a table is read row by row, and what is kept is per stay, never per event (the full
// MIMIC-III CHARTEVENTS has 330 million rows). The exceptions are the Glasgow chartings and blood gases of a stay's
// first day, a few dozen small records that have to be put in order of time.
//
// Sources. Variables: Le Gall, Lemeshow, Saulnier, "A new Simplified Acute Physiology Score (SAPS II)", JAMA
// 270:2957-2963 (1993). Which codes and values count: the public MIMIC concepts of MIT-LCP/mimic-code (Johnson, Stone,
// Celi, Pollard, JAMIA 25:32-39, 2018), whose rules are stated here and written anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/data/io/csv_rows.h"
#include "assay/data/sets/common.h"
#include "assay/data/table.h"

namespace assay::clinical {

inline constexpr int64_t kSecondsPerHour = 3600;

// A value is plausible when it lies strictly between the two; others are typing errors or codes for "none" and are
// dropped. Ranges are wide on purpose: they refuse the impossible, not the extreme.
struct Range {
  double low;
  double high;
  bool holds(double value) const { return value > low && value < high; }
};
inline constexpr Range kHeartRate{0, 300};       // beats a minute
inline constexpr Range kPressure{0, 400};        // mmHg, systolic or mean
inline constexpr Range kCelsius{10, 50};         // body temperature
inline constexpr Range kFahrenheit{70, 120};     // tested before it is converted
inline constexpr Range kOxygenPressure{0, 800};  // PaO2, mmHg
inline constexpr Range kUreaNitrogen{0, 300};    // mg/dL
inline constexpr Range kWhiteCells{0, 1000};     // thousands a microlitre
inline constexpr Range kBicarbonate{0, 100};     // mmol/L
inline constexpr Range kSodium{0, 200};          // mmol/L
inline constexpr Range kPotassium{0, 30};        // mmol/L
inline constexpr Range kBilirubin{0, 150};       // mg/dL
// The most of one day, in mL; beyond it the volume is bladder irrigation, not urine. 0 is anuria and counts.
inline constexpr double kMostUrine = 20000;

// The value where there is one and it is plausible, else missing.
float plausible(std::optional<double> value, Range range);
// A day's urine, missing when it is negative or more than kMostUrine.
float plausible_urine(std::optional<double> total);
// The inspired oxygen fraction from a number that is a fraction (0.2 to 1) or a percentage (20 to 100); nothing for
// others, which are litres a minute or slips.
std::optional<double> oxygen_fraction(double value);

// Seconds since 1970 of "2164-10-23 21:09:00" (seconds, or the whole time of day, may be absent; T for the blank);
// nothing when it is not a time.
std::optional<int64_t> parse_time_stamp(std::string_view text);

// One table of a data set, row by row. Columns are asked for by name, whatever the case of the header (the full
// MIMIC-III has upper case, its demo lower case), and then numbered in the order asked. Only the cells asked for are
// parsed, and only when they are. A cell is missing when it is empty, NA, NaN or NULL.
class NamedRows {
 public:
  NamedRows(const DataFiles& files, std::string_view file, std::initializer_list<std::string_view> columns,
            char delimiter = ',');

  bool next() { return rows_.next(); }
  std::string_view text(size_t column) const { return rows_.cells()[positions_[column]]; }
  bool missing(size_t column) const;
  // Nothing when the cell is missing; an input error that names file, line and column when it is something else.
  std::optional<int64_t> id(size_t column) const;
  std::optional<double> number(size_t column) const;
  std::optional<int64_t> time(size_t column) const;
  // The same where a missing cell is an error too.
  int64_t required_id(size_t column) const;
  int64_t required_time(size_t column) const;

  // "file, line 7, column 3 ('INTIME')"
  std::string where(size_t column) const { return rows_.where(positions_[column], names_[column]); }

 private:
  CsvRows rows_;
  std::vector<std::string> names_;  // as in the header
  std::vector<size_t> positions_;
};

// Item ids and what each stands for, looked up once for every row of the largest tables: an array, not a tree.
class ItemRoles {
 public:
  struct Item {
    int64_t id;
    uint8_t role;  // 1 or more
  };
  explicit ItemRoles(std::span<const Item> items);
  // 0 when the item is of no interest.
  uint8_t of(std::optional<int64_t> id) const {
    return id && *id >= 0 && static_cast<size_t>(*id) < roles_.size() ? roles_[static_cast<size_t>(*id)] : uint8_t{0};
  }

 private:
  std::vector<uint8_t> roles_;
};

struct Mean {
  double sum = 0;
  uint32_t count = 0;
  void add(double value) {
    sum += value;
    ++count;
  }
  void add_plausible(double value, Range range) {
    if (range.holds(value)) add(value);
  }
  float value() const { return count == 0 ? kMissing : static_cast<float>(sum / count); }
};

// The lowest Glasgow Coma Scale total of a stay's first day.
//
// A total belongs to one charting time. A part not charted then is taken from the charting before, if that was less
// than six hours ago; else it is normal (eyes 4, verbal 5, motor 6). While a tube makes speech untestable the total is
// 15. The same holds if speech is not charted and the charting before had the tube. Nothing is carried over from a
// charting with a tube. SAPS II asks for the score before sedation, which is not recorded; 15 is the convention of
// mimic-code.
class GlasgowScores {
 public:
  enum Part : uint8_t { kEyes, kVerbal, kMotor };
  // Scores that are not of this part's scale are dropped.
  void add(int64_t seconds, Part part, double score);
  void add_tube(int64_t seconds);
  float lowest() const;

 private:
  struct Charting {
    int32_t seconds;
    int8_t parts[3];
  };
  void set(int64_t seconds, Part part, int8_t score);
  std::vector<Charting> chartings_;
};

// The lowest PaO2/FiO2 of a stay's first day, in mmHg.
//
// Each blood gas is divided by the fraction measured with it, else by the latest one charted in the four hours up to
// it; without either it counts for nothing. Samples said to be other than arterial (VEN, MIX, ...) are left out, those
// that do not say are taken as arterial. Of two values at one time the higher counts.
// Deviations: SAPS II scores ventilated patients only, here every patient counts; mimic-code guesses the specimen of
// unlabelled samples with a regression.
class Oxygenation {
 public:
  void add_pressure(int64_t seconds, double pao2);
  void add_measured_fraction(int64_t seconds, double value);
  void add_specimen(int64_t seconds, std::string_view specimen);
  void add_charted_fraction(int64_t seconds, double value);
  float lowest_ratio() const;

 private:
  struct Gas {
    int32_t seconds;
    float pressure = 0;  // 0: none
    float fraction = 0;
    bool arterial = true;
  };
  struct Charted {
    int32_t seconds;
    float fraction;
  };
  Gas& gas_at(int64_t seconds);
  std::vector<Gas> gases_;
  std::vector<Charted> charted_;
};

enum class SepsisRule { explicit_codes, martin, angus };

// What the ICD-9-CM codes of one admission say.
//
// Explicit: severe sepsis (995.92) or septic shock (785.52). Martin: septicaemia, bacteraemia and disseminated fungal
// infection (Martin, Mannino, Eaton, Moss, NEJM 348:1546-1554, 2003; 020.2, not the 020.0 printed there, is septicaemic
// plague), without its separate grading by organ failure. Angus: explicit, or an infection with acute organ
// dysfunction or mechanical ventilation (Angus et al., Critical Care Medicine 29:1303-1310, 2001).
// AIDS: 042 to 044. Haematologic malignancy: lymphoma, myeloma and leukaemia. Metastatic cancer: 196 to 199.1 and
// the codes for metastatic carcinoid and malignant ascites.
class AdmissionCodes {
 public:
  // With or without the dot.
  void add_diagnosis(std::string_view code);
  void add_procedure(std::string_view code);

  bool septic(SepsisRule rule) const;
  bool aids() const { return aids_; }
  bool haematologic_malignancy() const { return haematologic_; }
  bool metastatic_cancer() const { return metastatic_; }

 private:
  bool explicit_ = false;
  bool martin_ = false;
  bool infection_ = false;
  bool organ_dysfunction_ = false;
  bool ventilated_ = false;
  bool aids_ = false;
  bool haematologic_ = false;
  bool metastatic_ = false;
};

std::vector<Column> numeric_columns(std::initializer_list<std::string_view> names);
// The code of a level of a categorical column. A new level is added.
float level_code(Column& column, std::string_view level);

// The table of a set: one row per stay, its features, and last the label with the levels "no" and "yes".
class StayTable {
 public:
  StayTable(std::string source, std::string id_name, std::vector<Column> features, std::string label = "sepsis");
  Column& column(size_t index) { return table_.columns[index]; }
  // features: one for each column.
  void add(std::string_view id, std::span<const float> features, bool positive);
  LoadedSet finish();

 private:
  Table table_;
};

}  // namespace assay::clinical
