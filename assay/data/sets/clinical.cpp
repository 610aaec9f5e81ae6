#include "assay/data/sets/clinical.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <limits>

#include "assay/core/error.h"
#include "assay/data/io/number.h"

namespace assay::clinical {
namespace {

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// Takes exactly `count` digits off the front.
std::optional<int> take_digits(std::string_view& text, size_t count) {
  if (text.size() < count) return std::nullopt;
  int value = 0;
  for (const char c : text.substr(0, count)) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  text.remove_prefix(count);
  return value;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<int64_t> parse_time_of_day(std::string_view text) {
  const auto hour = take_digits(text, 2);
  if (!hour || !take(text, ':')) return std::nullopt;
  const auto minute = take_digits(text, 2);
  int second = 0;
  if (take(text, ':')) {
    const auto digits = take_digits(text, 2);
    if (!digits) return std::nullopt;
    second = *digits;
  }
  if (!minute || !text.empty() || *hour > 23 || *minute > 59 || second > 59) return std::nullopt;
  return *hour * kSecondsPerHour + int64_t{*minute} * 60 + second;
}

}  // namespace

float plausible(std::optional<double> value, Range range) {
  return value && range.holds(*value) ? static_cast<float>(*value) : kMissing;
}

float plausible_urine(std::optional<double> total) {
  return total && *total >= 0 && *total <= kMostUrine ? static_cast<float>(*total) : kMissing;
}

std::optional<double> oxygen_fraction(double value) {
  // A hair of slack: 0.2 may have come through float32.
  if (value >= 0.2 - 1e-6 && value <= 1) return value;
  if (value >= 20 && value <= 100) return value / 100;
  return std::nullopt;
}

std::optional<int64_t> parse_time_stamp(std::string_view text) {
  const auto year = take_digits(text, 4);
  if (!year || !take(text, '-')) return std::nullopt;
  const auto month = take_digits(text, 2);
  if (!month || !take(text, '-')) return std::nullopt;
  const auto day = take_digits(text, 2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  if (!date.ok()) return std::nullopt;
  const int64_t midnight = std::chrono::sys_days(date).time_since_epoch().count() * 24 * kSecondsPerHour;
  if (text.empty()) return midnight;
  if (!take(text, ' ') && !take(text, 'T')) return std::nullopt;
  const auto time_of_day = parse_time_of_day(text);
  if (!time_of_day) return std::nullopt;
  return midnight + *time_of_day;
}

NamedRows::NamedRows(const DataFiles& files, std::string_view file, std::initializer_list<std::string_view> columns,
                     char delimiter)
    : rows_(files.open_once(file), delimiter) {
  if (!rows_.next()) fail_input(rows_.name(), "a header with the names of columns", "an empty file");
  const auto header = rows_.cells();
  for (const auto name : columns) {
    const auto found =
        std::ranges::find_if(header, [&](std::string_view cell) { return lower_case(cell) == lower_case(name); });
    if (found == header.end()) {
      std::vector<std::string> present;
      for (const auto cell : header) present.push_back(in_quotes(cell));
      fail_input(
          fmt::format("{}: there is no column {}; its columns are {}", rows_.name(), in_quotes(name), joined(present)));
    }
    names_.emplace_back(*found);
    positions_.push_back(static_cast<size_t>(found - header.begin()));
  }
}

bool NamedRows::missing(size_t column) const {
  const auto cell = text(column);
  return cell.empty() || cell == "NA" || cell == "NaN" || cell == "NULL";
}

std::optional<int64_t> NamedRows::id(size_t column) const {
  const auto cell = text(column);
  int64_t value = 0;
  const auto [stop, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error == std::errc() && stop == cell.data() + cell.size()) return value;
  if (missing(column)) return std::nullopt;
  fail_input(where(column), "a whole number", in_quotes(cell));
}

std::optional<double> NamedRows::number(size_t column) const {
  if (missing(column)) return std::nullopt;
  if (const auto parsed = parse_number(text(column))) return parsed->value;
  fail_input(where(column), "a number", in_quotes(text(column)));
}

std::optional<int64_t> NamedRows::time(size_t column) const {
  if (missing(column)) return std::nullopt;
  return required_time(column);
}

int64_t NamedRows::required_id(size_t column) const {
  if (const auto value = id(column)) return *value;
  fail_input(where(column), "a whole number", "an empty cell");
}

int64_t NamedRows::required_time(size_t column) const {
  if (const auto seconds = parse_time_stamp(text(column))) return *seconds;
  fail_input(where(column), "a time such as 2130-02-04 04:25:00", in_quotes(text(column)));
}

ItemRoles::ItemRoles(std::span<const Item> items) {
  for (const auto& [id, role] : items) {
    const auto index = static_cast<size_t>(id);
    if (index >= roles_.size()) roles_.resize(index + 1);
    roles_[index] = role;
  }
}

namespace {

constexpr int8_t kNotCharted = -1;
constexpr int8_t kTube = 0;
constexpr std::array<int8_t, 3> kNormal = {4, 5, 6};  // also the most: eyes, verbal, motor

}  // namespace

void GlasgowScores::set(int64_t seconds, Part part, int8_t score) {
  const auto at = static_cast<int32_t>(seconds);
  auto charting = std::ranges::find(chartings_, at, &Charting::seconds);
  if (charting == chartings_.end()) {
    chartings_.push_back({at, {kNotCharted, kNotCharted, kNotCharted}});
    charting = chartings_.end() - 1;
  }
  // The order of kNotCharted < kTube < scores makes the result independent of the order of rows.
  charting->parts[part] = std::max(charting->parts[part], score);
}

void GlasgowScores::add(int64_t seconds, Part part, double score) {
  if (score >= 1 && score <= kNormal[part]) set(seconds, part, static_cast<int8_t>(score));
}

void GlasgowScores::add_tube(int64_t seconds) { set(seconds, kVerbal, kTube); }

float GlasgowScores::lowest() const {
  constexpr int32_t kCarried = 6 * kSecondsPerHour;
  auto chartings = chartings_;
  std::ranges::sort(chartings, {}, &Charting::seconds);
  float lowest = kMissing;
  const Charting* before = nullptr;
  for (const auto& now : chartings) {
    if (before != nullptr && now.seconds - before->seconds >= kCarried) before = nullptr;
    const bool tube_before = before != nullptr && before->parts[kVerbal] == kTube;
    const bool tube = now.parts[kVerbal] == kTube || (now.parts[kVerbal] == kNotCharted && tube_before);
    int total = 0;
    for (size_t part = 0; part < kNormal.size(); ++part) {
      int8_t score = now.parts[part];
      if (score == kNotCharted && before != nullptr && !tube_before) score = before->parts[part];
      total += score == kNotCharted ? kNormal[part] : score;
    }
    lowest = std::fmin(lowest, tube ? 15.0F : static_cast<float>(total));
    before = &now;
  }
  return lowest;
}

Oxygenation::Gas& Oxygenation::gas_at(int64_t seconds) {
  const auto at = static_cast<int32_t>(seconds);
  const auto found = std::ranges::find(gases_, at, &Gas::seconds);
  return found == gases_.end() ? gases_.emplace_back(Gas{at}) : *found;
}

void Oxygenation::add_pressure(int64_t seconds, double pao2) {
  if (!kOxygenPressure.holds(pao2)) return;
  Gas& gas = gas_at(seconds);
  gas.pressure = std::max(gas.pressure, static_cast<float>(pao2));
}

void Oxygenation::add_measured_fraction(int64_t seconds, double value) {
  const auto fraction = oxygen_fraction(value);
  if (!fraction) return;
  Gas& gas = gas_at(seconds);
  gas.fraction = std::max(gas.fraction, static_cast<float>(*fraction));
}

void Oxygenation::add_specimen(int64_t seconds, std::string_view specimen) {
  if (!specimen.empty() && !lower_case(specimen).starts_with("art")) gas_at(seconds).arterial = false;
}

void Oxygenation::add_charted_fraction(int64_t seconds, double value) {
  if (const auto fraction = oxygen_fraction(value)) {
    charted_.push_back({static_cast<int32_t>(seconds), static_cast<float>(*fraction)});
  }
}

float Oxygenation::lowest_ratio() const {
  constexpr int32_t kValid = 4 * kSecondsPerHour;
  float lowest = kMissing;
  for (const auto& gas : gases_) {
    if (gas.pressure == 0 || !gas.arterial) continue;
    Charted used{std::numeric_limits<int32_t>::min(), gas.fraction};
    if (gas.fraction == 0) {
      for (const auto& charted : charted_) {
        if (charted.seconds > gas.seconds || gas.seconds - charted.seconds > kValid) continue;
        const bool same_time_higher = charted.seconds == used.seconds && charted.fraction > used.fraction;
        if (charted.seconds > used.seconds || same_time_higher) used = charted;
      }
    }
    if (used.fraction > 0) lowest = std::fmin(lowest, gas.pressure / used.fraction);
  }
  return lowest;
}

std::vector<Column> numeric_columns(std::initializer_list<std::string_view> names) {
  std::vector<Column> columns;
  for (const auto name : names) columns.push_back({std::string(name)});
  return columns;
}

float level_code(Column& column, std::string_view level) {
  const auto found = std::ranges::find(column.levels, level);
  if (found != column.levels.end()) return static_cast<float>(found - column.levels.begin());
  column.levels.emplace_back(level);
  return static_cast<float>(column.levels.size() - 1);
}

StayTable::StayTable(std::string source, std::string id_name, std::vector<Column> features, std::string label) {
  table_.source = std::move(source);
  table_.id_name = std::move(id_name);
  table_.columns = std::move(features);
  table_.label = table_.columns.size();
  table_.columns.push_back({std::move(label), ColumnKind::categorical, {"no", "yes"}});
  table_.values = Matrix(0, table_.columns.size());
}

void StayTable::add(std::string_view id, std::span<const float> features, bool positive) {
  const auto row = table_.values.append_row();
  std::ranges::copy(features, row.begin());
  row.back() = positive ? 1.0F : 0.0F;
  table_.ids.emplace_back(id);
}

LoadedSet StayTable::finish() {
  // The label keeps both its levels even when one does not occur: they are the classes.
  for (size_t j = 0; j + 1 < table_.columns.size(); ++j) {
    if (table_.columns[j].kind == ColumnKind::categorical) sort_levels(table_, j);
  }
  table_.values.shrink_to_fit();
  return {std::move(table_), 0};
}

}  // namespace assay::clinical
