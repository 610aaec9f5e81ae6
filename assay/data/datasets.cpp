#include "assay/data/datasets.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "assay/core/error.h"
#include "assay/core/options.h"
#include "assay/data/sets/common.h"
#include "assay/data/split.h"
#include "assay/data/table_io.h"

namespace assay {
namespace {

constexpr double kTestShare = 0.2;

const std::vector<DatasetSource>& sources() {
  static const std::vector<DatasetSource> all = {
      iris_set(),   adult_set(),  mnist_set(),  wine_set(), breast_cancer_set(), diabetes_set(),
      digits_set(), german_set(), mimic3_set(), eicu_set(), cinc2012_set(),      cinc2019_set(),
  };
  return all;
}

const DatasetSource& find_source(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& source : sources()) {
    if (source.info.name == name) return source;
    names.push_back(source.info.name);
  }
  fail_input(fmt::format("there is no data set {}{}; the data sets are {}", in_quotes(name), suggestion(name, names),
                         joined(names)));
}

// "sepsis=explicit|martin|angus" allows the option sepsis; its value is checked by the set itself.
SetOptions checked_options(const Spec& spec, const DatasetInfo& info) {
  SetOptions out;
  for (const auto& [name, value] : spec.options) {
    const auto known = std::ranges::any_of(info.options, [&](const auto& o) { return o.starts_with(name + "="); });
    if (!known) {
      fail_input(fmt::format("data set {} has no option {}; {}", info.name, in_quotes(name),
                             info.options.empty() ? "it has none" : "its options are " + joined(info.options)));
    }
    out.emplace(name, value);
  }
  return out;
}

std::vector<float> label_values(const Table& table) {
  std::vector<float> labels(table.rows(), 0);
  if (!table.label || table.columns[*table.label].kind == ColumnKind::numeric) return labels;
  for (size_t i = 0; i < table.rows(); ++i) labels[i] = table.values(i, *table.label);
  return labels;
}

RowSplit split_of(const LoadedSet& set, uint64_t seed) {
  if (set.training_rows == 0) return grouped_split(label_values(set.table), set.groups, kTestShare, seed);
  RowSplit split;
  split.train.resize(set.training_rows);
  split.test.resize(set.table.rows() - set.training_rows);
  std::iota(split.train.begin(), split.train.end(), size_t{0});
  std::iota(split.test.begin(), split.test.end(), set.training_rows);
  return split;
}

Table part_of(LoadedSet set, const DatasetRequest& request) {
  if (request.split == Split::all) return std::move(set.table);
  const RowSplit split = split_of(set, request.seed);
  const auto& rows = request.split == Split::train ? split.train : split.test;
  if (rows.empty()) {
    fail_input(set.table.source, "enough rows for a training and a test part", fmt::format("{}", set.table.rows()));
  }
  if (request.doubles != nullptr) request.doubles->select(rows);
  return select_rows(set.table, rows);
}

}  // namespace

std::vector<DatasetInfo> list_datasets() {
  std::vector<DatasetInfo> out;
  for (const auto& source : sources()) out.push_back(source.info);
  return out;
}

bool is_dataset(const std::string& name) {
  return std::ranges::any_of(sources(), [&](const auto& source) { return source.info.name == name; });
}

Table load_dataset(const std::string& spec, const DatasetRequest& request, const Context& context) {
  const Spec item = parse_spec("data set", spec);
  const DatasetSource& source = find_source(item.name);
  const DataFiles files(source.info, request.data_dirs, context, request.doubles);
  LoadedSet set = source.load(files, checked_options(item, source.info));
  set.table.source = source.info.name;
  return part_of(std::move(set), request);
}

Table open_table(const std::string& what, const TableOptions& options, const DatasetRequest& request,
                 const Context& context) {
  const std::string name = what.substr(0, what.find(':'));
  if (is_dataset(name)) {
    refuse_text_options("data set " + name, options);
    DatasetRequest same = request;
    same.doubles = options.doubles;
    Table table = load_dataset(what, same, context);
    apply_options(table, options);
    return table;
  }
  std::error_code ignored;
  const bool looks_like_name = name.find_first_of("./") == std::string::npos && name != "-";
  if (looks_like_name && !std::filesystem::exists(what, ignored)) find_source(name);
  LoadedSet set{read_table(what, options, context)};
  DatasetRequest same = request;
  same.doubles = options.doubles;
  return part_of(std::move(set), same);
}

bool dataset_available(const std::string& name, const DatasetRequest& request) {
  return DataFiles(find_source(name).info, request.data_dirs).all_found();
}

}  // namespace assay
