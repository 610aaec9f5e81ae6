// UCI Adult: does a person of the 1994 US census earn more than 50,000 dollars a year?
//
// Both files as UCI publishes them, 32,561 training and 16,281 test rows. The test file's first line is a remark and
// its labels end in a dot; both are removed. `?` is a missing category; the encoder gives it a level of its own.
#include <string>

#include "assay/data/sets/common.h"

namespace assay {
namespace {

const std::vector<std::string> kColumns = {
    "age",          "workclass", "fnlwgt", "education",    "education-num", "marital-status", "occupation",
    "relationship", "race",      "sex",    "capital-gain", "capital-loss",  "hours-per-week", "native-country",
    "income",
};

// The labels of the test file in the spelling of the training file.
void remove_dots(Table& table) {
  for (auto& level : table.columns[*table.label].levels) {
    if (level.ends_with('.')) level.pop_back();
  }
}

LoadedSet load_adult(const DataFiles& files, const SetOptions&) {
  TableOptions options;
  options.delimiter = ',';
  options.names = kColumns;
  options.numeric = {"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"};
  options.label = "income";
  const Table training = read_csv(files.open("adult.data"), options);
  options.skip_lines = 1;
  Table test = read_csv(files.open("adult.test"), options);
  remove_dots(test);
  return {stacked(training, test), training.rows()};
}

}  // namespace

DatasetSource adult_set() {
  DatasetInfo info;
  info.name = "adult";
  info.title = "Adult: census income above 50,000 dollars";
  info.rows = 48842;
  info.features = 14;
  info.label = "income";
  info.address = "https://archive.ics.uci.edu/dataset/2/adult";
  info.citation = "B. Becker, R. Kohavi (1996), UCI Machine Learning Repository, doi:10.24432/C5XW20";
  info.folders = {"adult"};
  info.files = {{"adult.data", "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"},
                {"adult.test", "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05"}};
  return {info, load_adult};
}

}  // namespace assay
