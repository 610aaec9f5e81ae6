// A study: all methods and their aggregates on one model and one data set, scored by all criteria.
//
// These are the results of a study. run.h makes them, assess.h draws conclusions, archive/ keeps them, report/ shows
// them. They do not depend on the clock, on threads or on interruptions; times are apart, in StudyTimes.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/core/options.h"
#include "assay/evaluate/scores.h"
#include "assay/explain/explanations.h"
#include "assay/study/cohorts.h"
#include "assay/study/quality.h"

namespace assay {

// A criterion's mean over the rows as a function of the radius or the subset size.
struct Curve {
  std::string criterion;  // max_sensitivity, avg_sensitivity or faithfulness
  std::string along;      // "radius" or "subset"
  std::vector<double> x;
  std::vector<double> mean;
  std::vector<double> error;     // standard error of the mean
  std::vector<double> coverage;  // share of rows that are defined
};

// The means of some criteria with another seed or reference. Only methods have these.
struct Variation {
  std::string what;   // "seed" or "reference" ("baseline" in older files)
  std::string value;  // "1", "mean of train.csv"
  std::vector<std::string> criteria;
  std::vector<double> mean;
};

enum class EntryKind { method, aggregate };
inline std::string_view entry_kind_name(EntryKind kind) { return kind == EntryKind::method ? "method" : "aggregate"; }

// One explanation function of the study: a method or an aggregate.
struct StudyEntry {
  std::string name;  // as the user wrote it, unique: "kernel_shap", "kernel_shap:samples=64"
  std::string stem;  // names its files: letters, digits, _ and -; unique even where case does not count
  EntryKind kind = EntryKind::method;
  Explanations explanations;
  // One for each criterion of the study, in its order. If a criterion cannot score this entry, all values are undefined
  // and `undefined` holds one reason.
  std::vector<Scores> scores;
  std::vector<Curve> curves = {};
  std::vector<Variation> variations = {};
  uint64_t pool_rows = 0;    // rows of the pool that were explained for it
  uint64_t evaluations = 0;  // of the model for explanations, criteria and the subset curve; not for pool, variations
  // By player: the correlation over rows of its value with its attribution. NaN if the values have no order, or one of
  // the two is constant.
  std::vector<double> trends = {};

  bool aggregate() const { return kind == EntryKind::aggregate; }
};

// A method, criterion or aggregator that was not asked for by name and cannot work here.
struct LeftOut {
  std::string kind;  // method, criterion or aggregator
  std::string name;
  std::string reason;  // one sentence
};

// An input of the study: a file, or rows or a model in memory. docs/study-format.md lists the roles.
struct StudyInput {
  std::string role;  // "model", "model data 1" (weights beside it), "groups", "data (rows)", ...
  std::string name;  // as the user wrote it; weights: the path where they were found
  std::string sha256 = {};
};

// What stands for absent features, and what the model gives for it. Numbers are NaN where they are not known.
struct ReferenceFacts {
  size_t rows = 0;  // of the reference; 0: nothing is known
  // The explained value at the reference (its mean over a background) for the target of a studied row; the mean over
  // the studied rows. pool_value: the same with the mean over rows of the pool in place of the reference.
  double value = NAN;
  double pool_value = NAN;
  // The same as probabilities, if margins or log-odds of one class of a classifier are explained; else NaN.
  double probability = NAN;
  double pool_probability = NAN;
  // Of margins that softmax turns into probabilities: var(m) / (var(m) + var(z - m)) over rows of the pool, where z is
  // the explained margin and m the mean of all classes' margins, which moves no probability. NaN of other values.
  double common_share = NAN;
  // If its rows were drawn from a pool, their hash in whatever order they are; empty if nothing was drawn. Nothing:
  // older studies do not say it.
  std::optional<std::string> drawn_rows = {};

  bool background() const { return rows > 1; }
};

// Where everything came from, in words and numbers.
struct StudyFacts {
  std::string title;  // "iris.onnx on iris"
  std::string data;   // "200 of the 16,281 rows of adult (test part), in the classes' shares"
  std::string pool;
  std::string model;
  std::string unit;
  std::string target;  // "the predicted class", or the name of one target for all rows
  std::string reference;
  std::string players;
  ReferenceFacts reference_facts = {};
  std::vector<std::string> target_names = {};
  std::vector<std::string> features = {};  // names of the players
  size_t rows = 0;
  size_t distinct_rows = 0;  // different ones among the rows, by their values; 0: not known
  size_t rows_available = 0;
  size_t pool_rows = 0;
  size_t pool_rows_available = 0;
  uint64_t seed = 0;
  double accuracy = 0;  // that of `quality`
  ModelQuality quality = {};
  std::vector<std::pair<std::string, std::string>> settings = {};  // what the user asked for: name, value
  std::vector<StudyInput> inputs = {};
  std::string version = {};        // of Assay
  std::string vector_target = {};  // the vector instructions in use
};

// What counts as a difference when entries are recommended. Both are differences of mean faithfulness.
struct AdviceOptions {
  double margin = 0.05;  // an entry is faithful if it is at most this far behind the best
  double tie = 0.002;    // of entries closer than this, the better made one is chosen
};

struct Study {
  StudyFacts facts;
  std::vector<std::string> criteria;         // with options of user or plan: "faithfulness:subset=2"; unique
  std::vector<std::string> criterion_names;  // without options: "faithfulness"
  std::vector<Direction> directions;         // one for each criterion
  std::vector<StudyEntry> entries;           // methods first
  std::vector<LeftOut> left_out = {};
  std::vector<std::string> notes = {};
  AdviceOptions advice = {};
  StudyCohorts cohorts = {};  // groups of the rows, found after the advice

  size_t rows() const { return facts.rows; }
};

// Wall-clock seconds for one entry; NaN if an earlier run made it.
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
