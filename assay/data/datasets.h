// Data sets by name.
//
// `iris` is inside the program. The others are files the user has: they are looked up in the folders given, in
// $ASSAY_DATA and in the user's cache, and when they are missing the error says where it looked, where they come from
// and which sha256 they should have. Adding one = one file in sets/ and one line in datasets.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "assay/core/context.h"
#include "assay/data/io/csv.h"
#include "assay/data/table.h"

namespace assay {

struct DataFile {
  std::string name;         // inside the set's folder; .gz and .xz forms of it are found too
  std::string sha256;       // empty: not known
  std::string hashed = {};  // the published file that sha256 is of, if it is not `name`
};

struct DatasetInfo {
  std::string name;
  std::string title;
  size_t rows = 0;      // as published
  size_t features = 0;  // attributes, without the label
  std::string label;    // what is predicted
  std::string address;  // where it comes from
  std::string citation;
  std::vector<std::string> folders = {};  // names its folder may have, below a data folder
  std::vector<DataFile> files = {};       // none: inside the program
  std::vector<std::string> options = {};  // what may follow the name, as in mimic3:sepsis=angus
};

// Which rows to load. A data set is split by its own split if it has one. Otherwise a fifth of the rows is for testing,
// stratified by label, the stays of one patient on one side. Files likewise, at random without a label.
enum class Split { all, train, test };

struct DatasetRequest {
  std::vector<std::string> data_dirs = {};  // searched before $ASSAY_DATA and the cache
  Split split = Split::all;
  uint64_t seed = 0;               // of that stratified split
  KeptDoubles* doubles = nullptr;  // as in TableOptions
};

std::vector<DatasetInfo> list_datasets();
bool is_dataset(const std::string& name);

// spec: a name, or a name with options ("mimic3:sepsis=angus"). The raw table: categories as text levels, missing
// values missing, the label marked. An input error for an unknown name or option, or files that are not found.
Table load_dataset(const std::string& spec, const DatasetRequest& request = {}, const Context& context = {});

// What a user means by one word: a data set by name ("iris", "mimic3:sepsis=angus"), or else a file.
Table open_table(const std::string& what, const TableOptions& options = {}, const DatasetRequest& request = {},
                 const Context& context = {});

// Whether all files of a set are found; if not, load_dataset would fail.
bool dataset_available(const std::string& name, const DatasetRequest& request = {});

}  // namespace assay
