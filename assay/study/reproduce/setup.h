// How the paper's experiments are set up: one declared choice for everything the paper leaves open, and the variants.
//
// The choices were made from what the paper says and from evidence in its own numbers, and committed as
// docs/reproduction-setup.md before the first run. Each variant changes one choice. All variants are run and printed,
// so that choosing one of them cannot be tuning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/options.h"

namespace assay {

enum class PaperTable { mnist, faithfulness, sensitivity, ava };  // Tables 1 to 4
inline constexpr size_t kPaperTables = 4;
// "mnist", as in `assay reproduce mnist`
std::string_view table_name(PaperTable table);

// auto: what the table says, see setup_choices().
struct Setup {
  std::string norm = "auto";
  std::string weighting = "uniform";
  std::string value = "margin";
  std::string target = "predicted";
  std::string scale = "standardise";
  std::optional<int64_t> pool_rows = {};
  std::string explain_baseline = "auto";
  std::string game = "output";
  std::string antecedents = "raw";
  std::string form = "printed";
  std::string complexity = "absolute";
  std::string step = "derivative";
  std::string candidates = "pairs";

  void describe(OptionVisitor& visit);

  // What auto stands for.
  bool unit_norm(PaperTable table) const;
  size_t rows_in_pool(PaperTable table) const;
};

// One choice changed, for these tables.
struct Variant {
  std::string name = {};  // "norm=unit"; empty: the primary set-up
  Setup setup = {};
  std::vector<PaperTable> tables = {};
  std::string why = {};
};
// The first is the primary set-up itself.
std::vector<Variant> setup_variants();

// Why a choice is what it is.
struct SetupChoice {
  std::string topic;
  std::string choice;
  std::string evidence;
};
std::vector<SetupChoice> setup_choices();

// The methods of the paper by the names of its tables, every option pinned: a new default changes no table.
struct PaperMethod {
  std::string name;  // SHAP, SS, ...
  Spec spec;
};
const std::vector<PaperMethod>& paper_methods();
// The same for Table 1, whose images have 784 features.
std::vector<PaperMethod> image_methods(bool quick);
// The aggregates of Table 1, with the set-up's steps and candidates; and AVA, with its norm.
std::vector<PaperMethod> image_aggregates(const Setup& setup);
Spec ava_spec(const Setup& setup);

struct RunPlan {
  size_t runs = 10;          // of the primary set-up
  size_t variant_runs = 10;  // of each variant
  size_t test_rows = 100;    // explained in a run, at most
  size_t images = 20;        // explained in a run
  size_t image_training = 12000;
};
RunPlan run_plan(bool quick);

}  // namespace assay
