// Small classic tables, in the form scikit-learn ships them (wine, breast cancer, diabetes, digits) or UCI does
// (german).
//
// scikit-learn's files start with a line "rows,columns,class names", have no header, and code the classes 0, 1, 2.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "assay/core/error.h"
#include "assay/data/sets/common.h"

namespace assay {
namespace {

// These files are package data of scikit-learn; the citations name where the rows come from.
constexpr const char* kScikitLearn = "https://github.com/scikit-learn/scikit-learn/tree/main/sklearn/datasets/data";

// The last column is the label, its codes the given classes.
void name_classes(Table& table, const std::vector<std::string>& classes) {
  const size_t label = table.columns.size() - 1;
  table.columns[label].kind = ColumnKind::categorical;
  table.columns[label].levels = classes;
  table.label = label;
  for (size_t i = 0; i < table.rows(); ++i) {
    const float code = table.values(i, label);
    if (!(code >= 0 && code < static_cast<float>(classes.size()) && code == std::trunc(code))) {
      fail_input(fmt::format("{}, row {}, column {}", table.source, i + 1, label + 1),
                 fmt::format("a class from 0 to {}", classes.size() - 1), fmt::format("{}", code));
    }
  }
  sort_levels(table, label);
}

Table read_numbers(const DataFiles& files, std::string_view file, std::vector<std::string> names, char delimiter,
                   size_t skip_lines = 0) {
  TableOptions options;
  options.delimiter = delimiter;
  options.skip_lines = skip_lines;
  options.doubles = files.doubles();
  options.numeric = options.names = std::move(names);
  return read_csv(files.open(file), options);
}

LoadedSet load_wine(const DataFiles& files, const SetOptions&) {
  LoadedSet set;
  set.table = read_numbers(
      files, "wine_data.csv",
      {"alcohol", "malic_acid", "ash", "alcalinity_of_ash", "magnesium", "total_phenols", "flavanoids",
       "nonflavanoid_phenols", "proanthocyanins", "color_intensity", "hue", "od280_od315", "proline", "cultivar"},
      ',', 1);
  name_classes(set.table, {"class_0", "class_1", "class_2"});
  return set;
}

LoadedSet load_breast_cancer(const DataFiles& files, const SetOptions&) {
  std::vector<std::string> names;
  for (const char* statistic : {"mean", "error", "worst"}) {
    for (const char* measure : {"radius", "texture", "perimeter", "area", "smoothness", "compactness", "concavity",
                                "concave_points", "symmetry", "fractal_dimension"}) {
      names.push_back(fmt::format("{}_{}", statistic, measure));
    }
  }
  names.emplace_back("diagnosis");
  LoadedSet set;
  set.table = read_numbers(files, "breast_cancer.csv", names, ',', 1);
  name_classes(set.table, {"malignant", "benign"});
  return set;
}

LoadedSet load_diabetes(const DataFiles& files, const SetOptions&) {
  const auto targets = read_numbers(files, "diabetes_target.csv", {"progression"}, ',');
  const auto rows = read_numbers(files, "diabetes_data_raw.csv",
                                 {"age", "sex", "bmi", "blood_pressure", "s1", "s2", "s3", "s4", "s5", "s6"}, ' ');
  if (rows.rows() != targets.rows()) {
    fail_input(files.path("diabetes_target.csv"), fmt::format("{} rows, as diabetes_data_raw.csv has", rows.rows()),
               fmt::format("{}", targets.rows()));
  }
  LoadedSet set;
  set.table.columns = rows.columns;
  set.table.columns.push_back(targets.columns[0]);
  set.table.label = rows.columns.size();
  set.table.values = Matrix(rows.rows(), rows.columns.size() + 1);
  for (size_t i = 0; i < rows.rows(); ++i) {
    std::ranges::copy(rows.values.row(i), set.table.values.row(i).begin());
    set.table.values(i, rows.columns.size()) = targets.values(i, 0);
  }
  return set;
}

LoadedSet load_digits(const DataFiles& files, const SetOptions&) {
  std::vector<std::string> names;
  for (int row = 0; row < 8; ++row) {
    for (int column = 0; column < 8; ++column) names.push_back(fmt::format("pixel_{}_{}", row, column));
  }
  names.emplace_back("digit");
  LoadedSet set;
  set.table = read_numbers(files, "digits.csv", names, ',');
  set.table.item_shape = {8, 8};
  name_classes(set.table, {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"});
  return set;
}

LoadedSet load_german(const DataFiles& files, const SetOptions&) {
  const std::vector<std::string> names = {"checking_account",
                                          "duration",
                                          "credit_history",
                                          "purpose",
                                          "credit_amount",
                                          "savings_account",
                                          "employment",
                                          "installment_rate",
                                          "personal_status",
                                          "other_debtors",
                                          "residence_since",
                                          "property",
                                          "age",
                                          "other_installments",
                                          "housing",
                                          "existing_credits",
                                          "job",
                                          "dependants",
                                          "telephone",
                                          "foreign_worker",
                                          "risk"};
  TableOptions options;
  options.delimiter = ' ';
  options.names = names;
  options.categorical = {"risk"};
  options.label = "risk";
  LoadedSet set;
  set.table = read_csv(files.open("german.data"), options);
  // UCI codes the label 1 = good, 2 = bad.
  for (auto& level : set.table.columns[*set.table.label].levels) {
    if (level == "1") level = "good";
    if (level == "2") level = "bad";
  }
  sort_levels(set.table, *set.table.label);
  return set;
}

DatasetInfo info_of(std::string name, std::string title, size_t rows, size_t features, std::string label) {
  DatasetInfo info;
  info.name = std::move(name);
  info.title = std::move(title);
  info.rows = rows;
  info.features = features;
  info.label = std::move(label);
  info.folders = {info.name, "tabular-small"};
  return info;
}

}  // namespace

DatasetSource wine_set() {
  auto info = info_of("wine", "Wine: cultivar from a chemical analysis", 178, 13, "cultivar");
  info.address = kScikitLearn;
  info.citation = "M. Forina et al. (1991), UCI Machine Learning Repository, doi:10.24432/C5PC7J";
  info.files = {{"wine_data.csv", "10e8a802908b34f86e5da8ce962f3c806694bc98450a18f61851af59f324bede"}};
  return {info, load_wine};
}

DatasetSource breast_cancer_set() {
  auto info = info_of("breast_cancer", "Breast cancer Wisconsin (diagnostic)", 569, 30, "diagnosis");
  info.address = kScikitLearn;
  info.citation = "W. Wolberg et al. (1993), UCI Machine Learning Repository, doi:10.24432/C5DW2B";
  info.files = {{"breast_cancer.csv", "fed3eb72d0575ef6192293f5093c6e801b1476b577d0386bf4455504522172ed"}};
  return {info, load_breast_cancer};
}

DatasetSource diabetes_set() {
  auto info = info_of("diabetes", "Diabetes: disease progression after a year (a regression)", 442, 10, "progression");
  info.address = kScikitLearn;
  info.citation = "B. Efron et al. (2004), Annals of Statistics 32:407-499";
  info.files = {{"diabetes_data_raw.csv", "fc08fc59c1cbfe65550d9ebb36321d505de9e8f004bf92c1566d2908962f08ff",
                 "diabetes_data_raw.csv.gz"},
                {"diabetes_target.csv", "bf1ddd1f9d377278450a5f02c24b5e77b1501f2ad673fe9fdf4c4090d27eb5cc",
                 "diabetes_target.csv.gz"}};
  return {info, load_diabetes};
}

DatasetSource digits_set() {
  auto info = info_of("digits", "Handwritten digits, 8 x 8", 1797, 64, "digit");
  info.address = kScikitLearn;
  info.citation = "E. Alpaydin, C. Kaynak (1998), UCI Machine Learning Repository, doi:10.24432/C50P49";
  info.files = {{"digits.csv", "46abec6b12486ad9e51943373abcf22bbea1b5a51a1619b361570d8893f1464a", "digits.csv.gz"}};
  return {info, load_digits};
}

DatasetSource german_set() {
  auto info = info_of("german", "German credit: good or bad risk", 1000, 20, "risk");
  info.address = "https://archive.ics.uci.edu/dataset/144/statlog+german+credit+data";
  info.citation = "H. Hofmann (1994), UCI Machine Learning Repository, doi:10.24432/C5NC77";
  info.files = {{"german.data", "b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871"}};
  return {info, load_german};
}

}  // namespace assay
