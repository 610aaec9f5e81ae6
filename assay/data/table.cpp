#include "assay/data/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "assay/core/error.h"
#include "assay/core/text.h"

namespace assay {

std::optional<bool> truth_of(std::string_view text) {
  const std::string word = lower_case(std::string(text));
  if (word != "true" && word != "false") return {};
  return word == "true";
}

std::vector<std::string> truth_words(const std::vector<std::string>& levels) {
  std::vector<std::string> words(2);
  for (const std::string& level : levels) {
    const std::optional<bool> truth = truth_of(level);
    if (!truth || !words[*truth ? 1 : 0].empty()) return {};
    words[*truth ? 1 : 0] = level;
  }
  const std::string& known = words[0].empty() ? words[1] : words[0];
  if (known.empty()) return {};
  const auto is_upper = [](char letter) { return letter >= 'A' && letter <= 'Z'; };
  const bool shouted = std::ranges::all_of(known, is_upper);
  for (std::string& word : words) {
    if (!word.empty()) continue;
    const bool truth = &word == &words[1];
    word = shouted              ? truth ? "TRUE" : "FALSE"
           : is_upper(known[0]) ? truth ? "True" : "False"
           : truth              ? "true"
                                : "false";
  }
  return words;
}

size_t find_column(std::string_view where, const std::vector<std::string>& names, std::string_view name_or_position) {
  if (const auto found = std::ranges::find(names, name_or_position); found != names.end()) {
    return static_cast<size_t>(found - names.begin());
  }
  int64_t position = 0;
  const char* end = name_or_position.data() + name_or_position.size();
  const auto [stop, error] = std::from_chars(name_or_position.data(), end, position);
  const auto count = static_cast<int64_t>(names.size());
  if (error == std::errc() && stop == end) {
    if (position >= 1 && position <= count) return static_cast<size_t>(position - 1);
    if (position <= -1 && position >= -count) return static_cast<size_t>(count + position);
    fail_input(where, fmt::format("a column from 1 to {} or -1 to -{}", count, count), fmt::format("{}", position));
  }
  constexpr size_t kListed = 20;
  std::vector<std::string> listed;
  for (const auto& name : names) {
    if (listed.size() < kListed) listed.push_back(in_quotes(name));
  }
  if (names.size() > kListed) listed.push_back(fmt::format("{} more", names.size() - kListed));
  fail_input(fmt::format("{}: there is no column {}{}; the columns are {}", where, in_quotes(name_or_position),
                         suggestion(name_or_position, names), joined(listed)));
}

std::vector<std::string> column_names(const Table& table) {
  std::vector<std::string> names;
  for (const auto& column : table.columns) names.push_back(column.name);
  return names;
}

std::vector<double> defined_values(const Matrix& values, size_t column) {
  std::vector<double> out;
  out.reserve(values.rows());
  for (size_t i = 0; i < values.rows(); ++i) {
    if (const float v = values(i, column); !std::isnan(v)) out.push_back(v);
  }
  return out;
}

Table select_rows(const Table& table, const std::vector<size_t>& rows) {
  Table out;
  out.source = table.source;
  out.part = table.part;
  out.columns = table.columns;
  out.label = table.label;
  out.id_name = table.id_name;
  out.item_shape = table.item_shape;
  out.values = Matrix(rows.size(), table.values.cols());
  for (size_t i = 0; i < rows.size(); ++i) {
    std::ranges::copy(table.values.row(rows[i]), out.values.row(i).begin());
    if (!table.ids.empty()) out.ids.push_back(table.ids[rows[i]]);
  }
  return out;
}

void set_part(Table& table, const std::string& part) {
  table.part = part;
  if (part != "all") table.source = fmt::format("{} ({} part)", table.source, part);
}

Table stacked(const Table& top, const Table& bottom) {
  if (column_names(top) != column_names(bottom)) {
    fail_input(bottom.source, fmt::format("the columns of {}", top.source), "others");
  }
  Table out = top;
  const size_t first = top.rows();
  for (size_t i = 0; i < bottom.rows(); ++i) std::ranges::copy(bottom.values.row(i), out.values.append_row().begin());
  out.ids.insert(out.ids.end(), bottom.ids.begin(), bottom.ids.end());
  for (size_t j = 0; j < out.columns.size(); ++j) {
    if (top.columns[j].kind != bottom.columns[j].kind) {
      fail_input(fmt::format("{}, column {}", bottom.source, in_quotes(bottom.columns[j].name)),
                 fmt::format("numbers or categories, as in {}", top.source), "the other");
    }
    out.columns[j].rounded += bottom.columns[j].rounded;
    auto& levels = out.columns[j].levels;
    // By their text in either table, neither of which changes meanwhile.
    std::unordered_map<std::string_view, size_t> codes;
    for (size_t code = 0; code < levels.size(); ++code) codes.emplace(top.columns[j].levels[code], code);
    std::vector<float> code_above;
    for (const auto& level : bottom.columns[j].levels) {
      const auto [known, fresh] = codes.try_emplace(level, levels.size());
      code_above.push_back(static_cast<float>(known->second));
      if (fresh) levels.push_back(level);
    }
    for (size_t i = first; i < out.rows() && !levels.empty(); ++i) {
      float& code = out.values(i, j);
      if (!std::isnan(code)) code = code_above[static_cast<size_t>(code)];
    }
    sort_levels(out, j);
  }
  return out;
}

void sort_levels(Table& table, size_t column) {
  auto& levels = table.columns[column].levels;
  if (levels.empty()) return;
  std::vector<bool> used(levels.size());
  for (size_t i = 0; i < table.rows(); ++i) {
    if (const float code = table.values(i, column); !std::isnan(code)) used[static_cast<size_t>(code)] = true;
  }
  std::vector<size_t> order;
  for (size_t code = 0; code < levels.size(); ++code) {
    if (used[code]) order.push_back(code);
  }
  std::ranges::sort(order, [&](size_t a, size_t b) { return levels[a] < levels[b]; });
  std::vector<float> new_code(levels.size());
  std::vector<std::string> sorted;
  for (size_t rank = 0; rank < order.size(); ++rank) {
    new_code[order[rank]] = static_cast<float>(rank);
    sorted.push_back(std::move(levels[order[rank]]));
  }
  levels = std::move(sorted);
  for (size_t i = 0; i < table.rows(); ++i) {
    float& code = table.values(i, column);
    if (!std::isnan(code)) code = new_code[static_cast<size_t>(code)];
  }
}

}  // namespace assay
