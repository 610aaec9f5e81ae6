// A study: every method and every aggregate of them on one model and one data set, by every criterion.
//
// This is what a study results in; run.h makes it, assess.h draws conclusions from it, archive/ keeps it, report/ shows
// it. Nothing in it depends on the clock, on threads or on whether it was interrupted: times are in StudyTimes, apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/core/options.h"
#include "assay/evaluate/scores.h"
#include "assay/explain/explanations.h"

namespace assay {

// A mean of a criterion over the rows as something else changes: the radius, the subset size.
struct Curve {
  std::string criterion;  // max_sensitivity, avg_sensitivity or faithfulness
  std::string along;      // "radius" or "subset"
  std::vector<double> x;
  std::vector<double> mean;
  std::vector<double> error;     // standard error of the mean
  std::vector<double> coverage;  // share of rows that are defined
};

// The means of some criteria had another choice been made; for methods alone.
struct Variation {
  std::string what;   // "seed" or "baseline"
  std::string value;  // "1", "zero"
  std::vector<std::string> criteria;
  std::vector<double> mean;
};

enum class EntryKind { method, aggregate };
inline std::string_view entry_kind_name(EntryKind kind) { return kind == EntryKind::method ? "method" : "aggregate"; }

// One explanation function of the study: a method, or an aggregate of all methods.
struct StudyEntry {
  std::string name;  // as the user wrote it, unique: "kernel_shap", "kernel_shap:samples=64"
  std::string stem;  // of its files: letters, digits, _ and -, unique whatever the case
  EntryKind kind = EntryKind::method;
  Explanations explanations;
  // One for each criterion of the study, in its order. Where a criterion cannot score this entry, no value is defined
  // and the only reason of `undefined` says why.
  std::vector<Scores> scores;
  std::vector<Curve> curves = {};
  std::vector<Variation> variations = {};
  uint64_t pool_rows = 0;    // rows of the pool that were explained for it
  uint64_t evaluations = 0;  // of the model: explaining the rows, and all criteria; not the pool's explanations

  bool aggregate() const { return kind == EntryKind::aggregate; }
};

// A method, criterion or aggregator that was not asked for by name and cannot work here.
struct LeftOut {
  std::string kind;  // method, criterion or aggregator
  std::string name;
  std::string reason;  // one sentence
};

// A file that went in, or a data set inside the program (no hash).
struct StudyInput {
  std::string role;  // model, data, pool, groups, baseline, background
  std::string name;  // as the user wrote it
  std::string sha256 = {};
};

// Where everything came from, in words and numbers.
struct StudyFacts {
  std::string title;  // "iris.onnx on iris"
  std::string data;   // "200 of the 16,281 rows of adult (test part), stratified by class"
  std::string pool;
  std::string model;
  std::string unit;
  std::string target;  // "the predicted class", or one for all rows
  std::string reference;
  std::string players;
  std::vector<std::string> target_names = {};
  std::vector<std::string> features = {};  // names of the players
  size_t rows = 0;
  size_t rows_available = 0;
  size_t pool_rows = 0;
  size_t pool_rows_available = 0;
  uint64_t seed = 0;
  double accuracy = 0;  // of the model on the studied rows with labels; NaN where there are none or it has no classes
  std::vector<std::pair<std::string, std::string>> settings = {};  // what the user said, option by option
  std::vector<StudyInput> inputs = {};
  std::string version = {};        // of Assay
  std::string vector_target = {};  // of the hot loops
};

struct Study {
  StudyFacts facts;
  std::vector<std::string> criteria;         // as the user wrote them: "faithfulness:subset=2"; unique
  std::vector<std::string> criterion_names;  // of the table: "faithfulness"
  std::vector<Direction> directions;         // of the criteria
  std::vector<StudyEntry> entries;           // methods first
  std::vector<LeftOut> left_out = {};
  std::vector<std::string> notes = {};

  size_t rows() const { return facts.rows; }
};

// Seconds of wall-clock time, by entry; NaN for one that an earlier run made.
struct EntryTimes {
  std::string entry;
  double explaining = 0;
  double scoring = 0;
};
struct StudyTimes {
  std::vector<EntryTimes> entries;
  double total = 0;
  unsigned threads = 0;
  std::string machine = {};  // processor and system, in words
};

}  // namespace assay
