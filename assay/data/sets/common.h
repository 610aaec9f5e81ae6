// What the data sets share: how one is described, found and read.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "assay/data/datasets.h"
#include "assay/data/io/bytes.h"
#include "assay/data/io/csv.h"
#include "assay/data/table.h"

namespace assay {

// The files of one data set, found on disk.
class DataFiles {
 public:
  DataFiles(const DatasetInfo& info, const std::vector<std::string>& data_dirs, const Context& context = {},
            KeptDoubles* doubles = nullptr);

  bool all_found() const;
  // The path of a file; an input error that says where it was looked for when it was not found.
  const std::string& path(std::string_view file) const;
  // Where readers put the doubles of a table; see TableOptions.
  KeptDoubles* doubles() const { return doubles_; }
  std::unique_ptr<ByteSource> open_once(std::string_view file) const { return open_bytes(path(file), context_); }
  ByteOpener open(std::string_view file) const { return reopenable(path(file), context_); }

 private:
  const DatasetInfo& info_;
  Context context_;
  KeptDoubles* doubles_;
  std::vector<std::string> looked_in_;
  std::map<std::string, std::string, std::less<>> found_;
};

// A table, and how it is to be split.
struct LoadedSet {
  Table table;
  size_t training_rows = 0;         // how many of its first rows are its own training split; 0: it has none
  std::vector<size_t> groups = {};  // the group (patient) of each row, which our splits keep together; empty: none
};

using SetOptions = std::map<std::string, std::string, std::less<>>;

struct DatasetSource {
  DatasetInfo info;
  std::function<LoadedSet(const DataFiles&, const SetOptions&)> load;
};

// One per file in this folder; listed in datasets.cpp.
DatasetSource iris_set();
DatasetSource adult_set();
DatasetSource mnist_set();
DatasetSource wine_set();
DatasetSource breast_cancer_set();
DatasetSource diabetes_set();
DatasetSource digits_set();
DatasetSource german_set();
DatasetSource mimic3_set();
DatasetSource eicu_set();
DatasetSource cinc2012_set();
DatasetSource cinc2019_set();

}  // namespace assay
