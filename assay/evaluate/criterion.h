// The interface of all criteria.
//
// A criterion scores the explanations of many rows at once. evaluate() refuses what cannot be done, calls the
// criterion, and adds what all results have: options, direction, mean, error, interval and coverage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/options.h"
#include "assay/core/refusal.h"
#include "assay/evaluate/pool_explanations.h"
#include "assay/evaluate/scores.h"
#include "assay/explain/explanations.h"
#include "assay/explain/subject.h"
#include "assay/model/model.h"

namespace assay {

class SubsetValues;

// What a criterion may look at; what is not there is null or empty. All of it must outlive the call. The subject's
// players, targets and reference are those that the explanations were made with: its players are the explanations'
// columns, its targets those of their rows.
struct EvaluateTask {
  const Explanations& explanations;
  Subject subject = {};
  PoolExplanations* pool_explanations = nullptr;
  const Spec* method = nullptr;  // how the explanations were made, to make them again; null for bare arrays
  uint64_t method_seed = 0;      // the seed they were made with
  // Other explanations of the same rows, for criteria of agreement, and their names.
  std::span<const Explanations* const> others = {};
  std::span<const std::string> other_names = {};
  // Values of the subject's game that are kept for other explanations of the same rows; null: nothing is kept.
  SubsetValues* subset_values = nullptr;

  size_t rows() const { return explanations.rows(); }
};

// What a criterion cannot do without. `model` stands for model, data, players and targets together.
struct Needs {
  bool model = false;
  bool reference = false;
  bool pool = false;
  bool pool_explanations = false;
  bool labels = false;     // of the rows
  bool explainer = false;  // bare arrays have none: then every score is undefined, with that reason
  bool trainer = false;
  bool others = false;
};

class Criterion {
 public:
  virtual ~Criterion() = default;
  // What it needs with its options. by_default: the needs of its table entry.
  virtual Needs needs(const Needs& by_default) const { return by_default; }
  // Why the criterion cannot do this task although its needs are met; nothing when it can. The reason is the end of a
  // sentence that begins with the criterion's name ("needs class labels, and ..."). No model is run.
  virtual std::optional<Refusal> refuses(const EvaluateTask& /*task*/) const { return {}; }
  // True: one score for each row. False: one score for each run over all rows.
  virtual bool scores_rows() const { return true; }
  // Fills values, undefined, and what else the criterion knows (standard_error, shared_error, tables, notes,
  // evaluations, dependent and mean_error). `scores.values` comes with one NaN for each row.
  virtual void score(const EvaluateTask& task, Scores& scores, const Context& context) const = 0;
};

// A criterion that is a function of the task and its options. Another function of the task, or of both, may say why it
// refuses.
template <auto score_task, auto refuse_task = nullptr>
class ScoredBy;

template <class OptionsType, void (*score_task)(const EvaluateTask&, const OptionsType&, Scores&, const Context&),
          auto refuse_task>
class ScoredBy<score_task, refuse_task> final : public Criterion {
 public:
  using Options = OptionsType;

  explicit ScoredBy(Options options) : options_(std::move(options)) {}
  std::optional<Refusal> refuses(const EvaluateTask& task) const override {
    using Function = decltype(refuse_task);
    if constexpr (std::is_invocable_v<Function, const EvaluateTask&>) return refuse_task(task);
    if constexpr (std::is_invocable_v<Function, const EvaluateTask&, const Options&>)
      return refuse_task(task, options_);
    return {};
  }
  void score(const EvaluateTask& task, Scores& scores, const Context& context) const override {
    score_task(task, options_, scores, context);
  }

 private:
  Options options_;
};

// Which of the qualities that people choose an explanation by a criterion measures.
enum class CriterionRole {
  none,
  faithfulness,
  stability,
  largest_change,  // stability at its worst
  simplicity,
};

// One line of the table of criteria.
struct CriterionInfo {
  std::string name;      // as the command line and Python know it
  std::string title;     // one line
  std::string family;    // faithfulness, sensitivity, complexity, predictability, importance, stability, agreement
  std::string citation;  // author (year)
  std::string cost;      // model evaluations for a row, in words
  Direction direction = Direction::neither;
  std::string range;  // of a score: "-1 to 1", "0 to ln d", "0 or more"
  Needs needs = {};   // with the options' defaults
  bool reads_signs =
      false;             // whether it matters which players speak for the value and which against; ranks have no signs
  bool sampled = false;  // may have standard errors of single rows
  CriterionRole role = CriterionRole::none;
  bool of_paper = false;        // a study uses it unless the user chooses criteria
  bool retrains = false;        // a study uses it only if the user asks for retraining
  bool by_subset_size = false;  // its table "by size" is the curve of faithfulness over the sizes of subsets
  bool shares_values = false;   // its evaluations are made once for all explanations of a study (subset_values)
  // Whether scores with these options, all of them given, change with the unit, the target or the reference of what is
  // explained, so that those of two studies cannot be compared unless these are the same. Null: they never do.
  bool (*scale_dependent)(const Spec& spec) = nullptr;
  std::vector<OptionInfo> options = {};  // with their defaults
  std::unique_ptr<Criterion> (*make)(const Spec&) = nullptr;

  // Shown before all others, and scored where nobody chooses.
  bool main() const { return role != CriterionRole::none; }
};

// For CriterionInfo::scale_dependent: of criteria in the unit of the model's outputs, and of distances between
// explanations, which have no unit if they count, compare orders or angles, or are relative.
bool always_has_scale(const Spec& spec);
bool distance_has_scale(const Spec& spec);

// Fills the options and the maker of a criterion whose class has `Options` and is made from them.
template <class Class>
CriterionInfo with_criterion_options(CriterionInfo info) {
  info.options = list_options<typename Class::Options>();
  info.make = [](const Spec& spec) -> std::unique_ptr<Criterion> {
    return std::make_unique<Class>(options_from<typename Class::Options>(spec));
  };
  return info;
}

// Why the criterion cannot do this task, as a sentence; nothing when it can (a missing explainer is no refusal). No
// model is run. Options that the criterion does not have are an input error.
std::optional<Refusal> criterion_refusal(const Spec& spec, const EvaluateTask& task);

// The scores of all rows. An unsupported error gives the reason if the criterion cannot do this task; shapes that do
// not fit are an input error. A row whose attributions are not all finite is undefined for every criterion that reads
// them.
Scores evaluate(const Spec& spec, const EvaluateTask& task, const SummaryOptions& summary, const Context& context);

}  // namespace assay
