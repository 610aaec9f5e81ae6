// The paper's experiments, run again: what was measured, what it says about the paper's claims, and pictures.
#pragma once

#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/statistics.h"
#include "assay/study/reproduce/setup.h"

namespace assay {

// Where a number stands.
struct CellKey {
  std::string variant = {};  // empty: the primary set-up
  std::string table = {};    // mnist, faithfulness, sensitivity, ava or networks
  std::string data = {};     // "iris", "adult", "cinc2012", ...
  std::string row = {};      // the method, or "AVA"
  std::string column = {};   // "zero, |S| = 2"

  auto operator<=>(const CellKey&) const = default;
};

struct Cell {
  CellKey key;
  std::vector<double> values = {};     // one for each run; NaN where undefined
  std::vector<double> coverages = {};  // share of rows with a score
};

// All numbers, in the order in which they were first added.
class Results {
 public:
  void add(const CellKey& key, double value, double coverage = 1);
  const Cell* find(const CellKey& key) const;  // null if there is none
  const std::vector<Cell>& cells() const { return cells_; }

 private:
  std::vector<Cell> cells_;
  std::map<CellKey, size_t> places_;
};

enum class Verdict { holds, partly, fails, cannot_be_tested, paper_disagrees, by_construction };
std::string_view verdict_name(Verdict verdict);

// One comparison: the mean of the first cells is above that of the second, run by run. Without second cells: all values
// of the first are 0.
struct ClaimPart {
  std::string label;
  std::vector<CellKey> first;
  std::vector<CellKey> second;
};
// The same about the paper's own numbers.
struct PaperPart {
  std::string label;
  std::vector<double> first;
  std::vector<double> second;
};

struct Claim {
  std::string id;       // "shap-faithful"
  std::string section;  // "7.1"
  std::string text;
  PaperTable table = PaperTable::mnist;
  bool by_construction = false;
  bool post_hoc = false;  // asked after results were seen
  std::vector<ClaimPart> parts = {};
  std::vector<PaperPart> paper_parts = {};
  std::string remark = {};  // what a reader of the verdict must know of the paper's sentence; may be empty
  Verdict verdict = Verdict::cannot_be_tested;
  size_t holding = 0;   // comparisons of ours that hold,
  size_t compared = 0;  // of so many
  std::string evidence = {};
  // By the name of the variant, "" for the primary set-up: what our numbers alone say.
  std::map<std::string, Verdict> in_variants = {};
};

// The networks of one set.
struct NetworkFacts {
  std::string data;
  bool clinical = false;
  bool judged = true;
  Interval auc_interval = {NAN, NAN};  // corrected for shared rows
  std::string note = {};               // why it is not judged
};

// 28 x 28 values; from -1 to 1 for attributions, 0 to 1 for the image itself.
struct Picture {
  std::string name;   // for a file: "deeplift"
  std::string title;  // "DL"
  bool attribution = true;
  double complexity = NAN;
  std::vector<float> values = {};
};

struct Reproduction {
  Setup setup;
  RunPlan plan;
  Results results;
  std::vector<std::string> variants;  // those that were run, "" among them
  std::vector<NetworkFacts> networks;
  std::vector<Claim> claims;
  std::vector<Picture> pictures;
  std::vector<std::string> notes;  // what was left out and why
};

struct ReproduceOptions {
  bool quick = false;  // few runs, and small samples of all sets but iris: only tests that the protocol works
  std::vector<std::string> data_dirs = {};
  std::string sepsis = "explicit";  // the MIMIC-III label: explicit, martin or angus
  std::vector<PaperTable> tables = {};
  Setup setup = {};
  bool variants = false;  // runs those of setup_variants() too
};

// Uses the context's seed. Data sets that are not found are left out, with a note.
Reproduction reproduce(const ReproduceOptions& options, const Context& context);

// The numbers of the paper's tables as it prints them, divided by its factors; NaN if it has no such cell.
struct PaperCell {
  double value = NAN;
  double spread = NAN;  // after +-
};
PaperCell paper_cell(const CellKey& key);
// The sets of the paper's columns.
enum class PaperSet { adult, iris, mimic };
PaperSet paper_set(std::string_view data);
// The clinical set that stands for the paper's in tables: the nearest that is judged. Empty if there is none.
std::string nearest_clinical(const Reproduction& made);

}  // namespace assay
