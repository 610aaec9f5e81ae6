#include "assay/archive/io/scores_csv.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace assay {
namespace {

constexpr size_t kPiece = size_t{1} << 16;

void append_cell(std::string& out, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

template <class Number>
void append_digits(std::string& out, Number value) {
  std::array<char, 32> text = {};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
  out.append(text.data(), end.ptr);
}

// Whether the criterion scores rows. One that scores the whole data set has of_rows false wherever it has a score.
bool scores_rows(const Study& study, size_t criterion) {
  return std::ranges::all_of(study.entries, [&](const StudyEntry& entry) { return entry.scores[criterion].of_rows; });
}

void append_line(std::string& out, const StudyEntry& entry, size_t row, bool named,
                 const std::vector<size_t>& columns) {
  const Explanations& made = entry.explanations;
  append_digits(out, row + 1);
  if (named) {
    out += ',';
    if (row < made.ids.size()) append_cell(out, made.ids[row]);
  }
  out += ',';
  if (row < made.target.size()) append_cell(out, made.target_names[made.target[row]]);
  out += ',';
  append_cell(out, entry.name);
  for (const size_t criterion : columns) {
    const std::vector<double>& values = entry.scores[criterion].values;
    out += ',';
    if (row < values.size() && !std::isnan(values[row])) append_digits(out, values[row]);
  }
  out += '\n';
}

}  // namespace

void write_scores_csv(const Study& study, const std::function<void(std::string_view)>& write) {
  const bool named =
      std::ranges::any_of(study.entries, [](const StudyEntry& entry) { return !entry.explanations.ids.empty(); });
  std::string piece = named ? "row,id,target,explanation" : "row,target,explanation";
  std::vector<size_t> columns;
  for (size_t c = 0; c < study.criteria.size(); c++) {
    if (!scores_rows(study, c)) continue;
    columns.push_back(c);
    piece += ',';
    append_cell(piece, study.criteria[c]);
  }
  piece += '\n';
  for (const StudyEntry& entry : study.entries) {
    for (size_t row = 0; row < study.rows(); row++) {
      append_line(piece, entry, row, named, columns);
      if (piece.size() >= kPiece) {
        write(piece);
        piece.clear();
      }
    }
  }
  if (!piece.empty()) write(piece);
}

std::string scores_csv(const Study& study) {
  std::string whole;
  write_scores_csv(study, [&](std::string_view piece) { whole += piece; });
  return whole;
}

}  // namespace assay
