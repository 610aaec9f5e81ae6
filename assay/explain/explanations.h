// Explanations: what every explanation function returns, whatever it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/matrix.h"

namespace assay {

// What Provenance::target says where each row has its own; no class has this name unless somebody means mischief, and
// then it means the rule.
inline constexpr std::string_view kPredictedTarget = "the predicted class";

// How attributions came to be: enough to compute them again.
struct Provenance {
  std::string method;                                        // empty for attributions made elsewhere
  std::vector<std::pair<std::string, std::string>> options;  // all of them, with the values used
  uint64_t seed = 0;
  std::string unit;           // margin, probability, log_odds, value or information
  std::string target;         // the one that all rows have, or "the predicted class" of each
  std::string model;          // name of its file
  std::string data;           // which rows, in words
  std::string players;        // how columns are grouped, in words
  std::string reference;      // in words
  std::string version;        // of Assay
  std::string vector_target;  // of the hot loops
};

// One number for each row, by name: "norm", "bound".
struct RowMeasure {
  std::string name;
  std::vector<double> values;
};

// What an aggregate of several explanations is made of.
struct Combination {
  std::vector<std::string> members;  // their names; none: this is no aggregate
  bool relative = false;             // values do not add up to the output less the base
  // Rows x members, or rows x antecedents, where the aggregate is a weighted sum of them (before it is scaled to the
  // output, where it is); else empty.
  Matrix weights = {};
  // For each row as many rows of the pool as weights has columns, -1 where there are fewer; empty where the weights are
  // of members.
  std::vector<int64_t> antecedents = {};
  std::vector<RowMeasure> measures = {};  // norm, cosine to the mean of the members, and what else the aggregator knows
};

struct Explanations {
  Matrix values;                      // rows x players: attributions
  std::vector<std::string> features;  // names of the players
  std::vector<double> base;  // for each row, the explained value at the reference (mean over a background); NaN without
  std::vector<double> output;    // for each row, the explained value itself
  std::vector<uint32_t> target;  // for each row, index into target_names
  std::vector<std::string> target_names;
  // Standard errors of values: from sampling coalitions or noise, and from averaging over a sample of background rows.
  // Empty where there is no such error.
  Matrix standard_error;
  Matrix background_error;
  // For each row, output - base - sum of values: 0 for complete methods, up to rounding or the method's tolerance; NaN
  // without a base.
  std::vector<double> gap;
  std::vector<std::string> ids;  // names of rows, where given
  std::string id_name;
  uint64_t evaluations = 0;        // rows that the model predicted or differentiated, coalitions included
  std::vector<std::string> notes;  // what users should know, one sentence each
  Provenance provenance;
  Combination combination = {};

  size_t rows() const { return values.rows(); }
  size_t players() const { return values.cols(); }
};

// Files. By extension: .npz (arrays values, base, output, target, target_names, stderr, background_stderr, gap,
// features, ids, meta as JSON), .csv .tsv .parquet .feather (one row each: id, target, output, base, gap, a column for
// each feature, then its standard errors as "feature (stderr)" and "feature (background stderr)"), .json. Whole or not
// at all. Tables hold float32 and no provenance; .npz keeps everything. "-" is CSV on standard output.
void write_explanations(const Explanations& explanations, const std::string& path, const Context& context);
// Refuses, before any work, an output that cannot be written.
void check_explanations_output(const std::string& path);
// Where each of several results goes, all targets of the first method first: path itself when there is one; else with
// ".method" and ".target" before its extension, in words that file names can have and no two of them equal. No targets:
// one result for each method, which has no target in its name.
std::vector<std::string> result_paths(const std::string& path, const std::vector<std::string>& methods,
                                      const std::vector<std::string>& targets);
// Reads what write_explanations wrote (.npz, .csv and kin, .json), and bare matrices of attributions made elsewhere
// (.npy, .npz with one array, a table of numbers): then only values and features are set, the rest is NaN or empty. An
// input error names what does not fit. The files are hostile.
Explanations read_explanations(const std::string& path, const Context& context);

}  // namespace assay
