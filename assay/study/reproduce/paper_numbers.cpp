// Tables 1 to 4 of the paper, as printed.
#include <algorithm>
#include <array>

#include "assay/study/reproduce/reproduction.h"

namespace assay {
namespace {

constexpr std::array<std::string_view, 6> kPaperRows = {"SHAP", "SS", "Grad", "G*I", "IG", "DL"};

// [method][zero, average], in hundredths.
using FaithfulnessColumn = std::array<std::array<double, 2>, 6>;
constexpr FaithfulnessColumn kAdult2 = {{{62, 60}, {46, 27}, {30, 53}, {38, 39}, {47, 33}, {58, 43}}};
constexpr FaithfulnessColumn kIris2 = {{{67, 68}, {32, 36}, {14, 16}, {27, 30}, {60, 57}, {46, 48}}};
constexpr FaithfulnessColumn kMimic10 = {{{31, 36}, {59, 58}, {37, 41}, {54, 48}, {66, 51}, {84, 54}}};
constexpr FaithfulnessColumn kMimic20 = {{{37, 47}, {38, 45}, {28, 63}, {59, 43}, {68, 51}, {43, 45}}};

// [method][PaperSet][maximum, average], in thousandths.
constexpr std::array<std::array<std::array<double, 2>, 3>, 6> kSensitivity = {{{{{60, 54}, {310, 287}, {6, 5}}},
                                                                               {{{191, 168}, {477, 345}, {83, 81}}},
                                                                               {{{60, 50}, {68, 66}, {28, 28}}},
                                                                               {{{86, 71}, {298, 279}, {77, 50}}},
                                                                               {{{19, 17}, {495, 462}, {19, 15}}},
                                                                               {{{74, 74}, {850, 820}, {135, 111}}}}};

// [average, maximum, complexity][SHAP, AVA][PaperSet]
constexpr std::array<std::array<std::array<PaperCell, 3>, 2>, 3> kAvaTable = {
    {{{{{{0.16, 0.11}, {0.22, 0.25}, {0.47, 0.12}}}, {{{0.07, 0.07}, {0.13, 0.18}, {0.31, 0.13}}}}},
     {{{{{0.68, 0.13}, {1.20, 0.36}, {0.83, 0.17}}}, {{{0.52, 0.11}, {1.18, 0.28}, {0.72, 0.22}}}}},
     {{{{{1.94, 0.26}, {1.36, 0.36}, {2.33, 0.23}}}, {{{1.93, 0.24}, {1.24, 0.32}, {2.61, 0.29}}}}}}};

PaperCell faithfulness_cell(const CellKey& key, size_t method) {
  const bool zero = key.column.starts_with("zero, ");
  const std::string size = key.column.substr(key.column.find(", ") + 2);
  const FaithfulnessColumn* column = nullptr;
  const PaperSet set = paper_set(key.data);
  if (set == PaperSet::adult && size == "|S| = 2") column = &kAdult2;
  if (set == PaperSet::iris && size == "|S| = 2") column = &kIris2;
  if (set == PaperSet::mimic && size == "10 of 17") column = &kMimic10;
  if (set == PaperSet::mimic && size == "15 of 17") column = &kMimic20;
  return column == nullptr ? PaperCell{} : PaperCell{(*column)[method][zero ? 0 : 1] / 100};
}

PaperCell ava_cell(const CellKey& key) {
  constexpr std::array<std::string_view, 3> kColumns = {"avg at r", "max at r", "complexity"};
  const auto column = std::ranges::find(kColumns, key.column);
  if (column == kColumns.end() || (key.row != "SHAP" && key.row != "AVA")) return {};
  return kAvaTable[static_cast<size_t>(column - kColumns.begin())][key.row == "AVA" ? 1 : 0]
                  [static_cast<size_t>(paper_set(key.data))];
}

PaperCell image_cell(const CellKey& key) {
  constexpr std::array<std::pair<std::string_view, double>, 4> kCells = {
      {{"Best", 3.688}, {"Convex", 3.685}, {"Gradient-Descent", 3.575}, {"Region-Shrinking", 3.208}}};
  for (const auto& [row, value] : kCells) {
    if (key.row == row && key.column == "complexity") return {value};
  }
  return {};
}

PaperCell network_cell(const CellKey& key) {
  if (key.column != "accuracy") return {};
  if (key.data == "mnist") return {0.90};
  constexpr std::array<double, 3> kAccuracies = {0.82, 0.96, 0.91};
  return {kAccuracies[static_cast<size_t>(paper_set(key.data))]};
}

}  // namespace

PaperSet paper_set(std::string_view data) {
  if (data.starts_with("adult")) return PaperSet::adult;
  return data == "iris" ? PaperSet::iris : PaperSet::mimic;
}

PaperCell paper_cell(const CellKey& key) {
  if (key.table == "networks") return network_cell(key);
  if (key.table == "mnist") return image_cell(key);
  if (key.table == "ava") return ava_cell(key);
  const auto row = std::ranges::find(kPaperRows, key.row);
  if (row == kPaperRows.end()) return {};
  const auto method = static_cast<size_t>(row - kPaperRows.begin());
  if (key.table == "faithfulness") return faithfulness_cell(key, method);
  if (key.column != "max at r" && key.column != "avg at r") return {};
  const auto& cell = kSensitivity[method][static_cast<size_t>(paper_set(key.data))];
  return {cell[key.column == "max at r" ? 0 : 1] / 1000};
}

}  // namespace assay
