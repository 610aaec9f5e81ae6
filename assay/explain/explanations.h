// Explanations: what every explanation function returns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/matrix.h"

namespace assay {

// Provenance::target if each row has its own predicted class as target. A class of this name is taken for this rule.
inline constexpr std::string_view kPredictedTarget = "the predicted class";

// How attributions came to be: enough to compute them again.
struct Provenance {
  std::string method;                                        // empty for attributions made elsewhere
  std::vector<std::pair<std::string, std::string>> options;  // all of them, with the values used
  uint64_t seed = 0;
  std::string unit;           // margin, probability, log_odds, value or information
  std::string target;         // the one that all rows have, or kPredictedTarget
  std::string model;          // name of its file
  std::string data;           // which rows, in words
  std::string players;        // how columns are grouped, in words
  std::string reference;      // in words
  std::string version;        // of Assay
  std::string vector_target;  // of the hot loops
  // Whether the reference's rows are a sample of a pool: kDrawnBackground, or kNothingDrawn for a fixed baseline, the
  // user's own rows or the whole pool. Empty: not known, as in older files and for aggregates.
  std::string draw = {};
  std::string part = {};  // of the data set or file that the rows are of: all, train or test; empty: not known
};
inline constexpr std::string_view kDrawnBackground = "background";
inline constexpr std::string_view kNothingDrawn = "nothing";

// One number for each row, by name: "norm", "bound".
struct RowMeasure {
  std::string name;
  std::vector<double> values;
};

// What an aggregate of several explanations is made of.
struct Combination {
  std::vector<std::string> members;  // their names; none: this is no aggregate
  bool relative = false;             // values do not add up to the output less the base
  // Rows x members, or rows x antecedents, if the aggregate is a weighted sum of them (before any scaling to the
  // output); else empty.
  Matrix weights = {};
  // By row, the rows of the pool that are its antecedents: as many as `weights` has columns, padded with -1. Empty if
  // the weights are those of members.
  std::vector<int64_t> antecedents = {};
  std::vector<RowMeasure> measures = {};  // norm, cosine to the mean of the members, and what else the aggregator knows
};

struct Explanations {
  Matrix values;                      // rows x players: attributions
  std::vector<std::string> features;  // names of the players
  // For each player the columns of the user's table that it stands for. Empty if each is the column of its own name, or
  // if nobody knows (columns_of in reasons/shown_values.h).
  std::vector<std::vector<std::string>> columns = {};
  std::vector<double> base;      // for each row, the explained value at the reference (mean over a background), or NaN
  std::vector<double> output;    // for each row, the explained value itself
  std::vector<uint32_t> target;  // for each row, index into target_names
  std::vector<std::string> target_names;
  // Standard errors of values: from sampling coalitions or noise, and from averaging over a sample of background rows.
  // Empty where there is no such error.
  Matrix standard_error;
  Matrix background_error;
  // What the values might be with another draw of background rows and of what the method samples, jointly over features
  // and with the same draw for all rows (replicates.h). Rows x (count * players): all players of the first replicate,
  // then of the second, ... Empty where there are none.
  Matrix replicates = {};
  // For each row, output - base - sum of values: 0 for complete methods, up to rounding or the method's tolerance; NaN
  // without a base.
  std::vector<double> gap;
  std::vector<std::string> ids;  // names of rows, where given
  std::string id_name;
  bool row_numbers = false;        // ids are numbers of rows that Assay gave (Dataset::row_numbers)
  uint64_t evaluations = 0;        // rows that the model predicted or differentiated, coalitions included
  std::vector<std::string> notes;  // what users should know, one sentence each
  Provenance provenance;
  Combination combination = {};

  size_t rows() const { return values.rows(); }
  size_t players() const { return values.cols(); }
  size_t replicate_count() const { return players() == 0 ? 0 : replicates.cols() / players(); }
  // One replicate of a row: a value for each player.
  std::span<const float> replicate(size_t row, size_t which) const {
    return replicates.row(row).subspan(which * players(), players());
  }
};

// Writes a file, whole or not at all. The extension gives the format: .npz (arrays values, base, output, target,
// target_names, stderr, background_stderr, replicates, gap, features, ids, meta as JSON); .csv .tsv .parquet .feather
// (columns id, target, output, base, gap, each feature, then standard errors as "feature (stderr)" and "feature
// (background stderr)"); .json. Tables hold float32 and no provenance; .npz keeps everything. "-" is CSV on standard
// output.
void write_explanations(const Explanations& explanations, const std::string& path, const Context& context);
// An error if this output cannot be written; call it before any work.
void check_explanations_output(const std::string& path);
// The file of each of several results: all targets of the first method, then of the next. A single result goes to
// `path`. Otherwise ".method" and ".target" come before the extension, made fit for file names and distinct. Without
// targets there is one result for each method, and no ".target".
std::vector<std::string> result_paths(const std::string& path, const std::vector<std::string>& methods,
                                      const std::vector<std::string>& targets);
// Reads files of write_explanations, and bare matrices of attributions made elsewhere (.npy, .npz with one array, a
// table of numbers): then only values and features are set, the rest is NaN or empty. An input error names what does
// not fit. Files are not trusted.
Explanations read_explanations(const std::string& path, const Context& context);

}  // namespace assay
