// The interface of all aggregators.
//
// An aggregator makes one explanation of each row out of several. aggregate() checks that the members fit together,
// scales their rows to unit l2 norm as the paper does (unless the aggregator takes raw members), calls the aggregator,
// and adds what all results have: norm, cosine to the mean, base values, outputs, label and provenance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/core/options.h"
#include "assay/core/refusal.h"
#include "assay/evaluate/pool_explanations.h"
#include "assay/evaluate/scores.h"
#include "assay/explain/explanations.h"
#include "assay/explain/subject.h"

namespace assay {

// What an aggregator may look at; what is not there is null or empty. All of it must outlive the call. The subject's
// players, targets and reference are those that the members were made with.
struct AggregateTask {
  std::span<const Explanations* const> members;  // explanations of the same rows, players and targets
  std::span<const std::string> names = {};       // of the members
  Subject subject = {};
  std::span<PoolExplanations* const> pool_members = {};  // explanations of the pool's rows, one for each member
  bool pool_given = false;  // whether those came from files; else they are made by the members' methods when needed
  // How a single member was made, for aggregators that explain other rows; null for arrays made elsewhere.
  const Spec* method = nullptr;
  uint64_t method_seed = 0;

  size_t rows() const { return members.empty() ? subject.rows->rows() : members[0]->rows(); }
};

// What an aggregator cannot do without. `model` stands for model, data, players and targets together.
struct AggregateNeeds {
  size_t members = 1;  // the least number of members
  bool model = false;
  bool reference = false;
  bool pool = false;
  bool pool_members = false;
};

// The members' attributions as aggregators see them.
class Members {
 public:
  // unit: each row scaled to unit l2 norm; a zero row stays zero.
  Members(const AggregateTask& task, bool unit);

  size_t size() const { return values_.size(); }
  size_t rows() const { return values_.empty() ? 0 : values_[0].rows(); }
  size_t players() const { return values_.empty() ? 0 : values_[0].cols(); }
  std::span<const float> of(size_t member, size_t row) const { return values_[member].row(row); }
  const Matrix& values(size_t member) const { return values_[member]; }
  // Whether all members' attributions of this row are numbers.
  bool finite(size_t row) const { return finite_[row]; }
  bool zero(size_t member, size_t row) const { return zero_[member][row]; }

 private:
  std::vector<Matrix> values_;
  std::vector<bool> finite_;
  std::vector<std::vector<bool>> zero_;
};

// What an aggregator fills.
struct Combined {
  MatrixView<float> values;  // rows x players, NaN at first, which means undefined
  Matrix weights = {};       // as in Combination
  std::vector<int64_t> antecedents = {};
  Matrix standard_error = {};             // where values are sampled
  std::vector<double> base = {};          // for each row; empty: the members' own, where they agree
  std::vector<double> output = {};        // likewise
  std::vector<RowMeasure> measures = {};  // beside norm and cosine: bounds, costs
  std::vector<ScoreTable> tables = {};
  std::vector<std::string> notes = {};  // what was chosen or could not be certified, one sentence each
  UndefinedCounts undefined = {};       // a reason for each row that stays NaN
  uint64_t evaluations = 0;             // rows that the model predicted or differentiated for this aggregate alone
};

class Aggregator {
 public:
  virtual ~Aggregator() = default;
  // What it needs with its options. by_default: the needs of its table entry.
  virtual AggregateNeeds needs(const AggregateNeeds& by_default) const { return by_default; }
  // Why the aggregator cannot do this task although its needs are met; nothing when it can. The reason is the end of a
  // sentence that begins with the aggregator's name. No model is run.
  virtual std::optional<Refusal> refuses(const AggregateTask& /*task*/) const { return {}; }
  // Whether it gets members as they are instead of scaled to unit norm.
  virtual bool takes_raw_members() const { return false; }
  // Whether the values are in the unit of the output, though they are not scaled to it.
  virtual bool adds_up() const { return false; }
  // Whether the user wants the values scaled to add up to it (option scale=output).
  virtual bool scales_to_output() const { return false; }
  virtual void combine(const AggregateTask& task, const Members& members, Combined& out,
                       const Context& context) const = 0;
};

// An aggregator that is a function of the task, its options and its members. Options that have ScaleOptions as `scale`
// say whether the values are scaled.
template <auto combine_members>
class CombinedBy;

template <class OptionsType,
          void (*combine_members)(const AggregateTask&, const OptionsType&, const Members&, Combined&, const Context&)>
class CombinedBy<combine_members> final : public Aggregator {
 public:
  using Options = OptionsType;

  explicit CombinedBy(Options options) : options_(std::move(options)) {}
  bool scales_to_output() const override {
    if constexpr (requires(const Options& options) { options.scale.to_output(); }) return options_.scale.to_output();
    return false;
  }
  void combine(const AggregateTask& task, const Members& members, Combined& out,
               const Context& context) const override {
    combine_members(task, options_, members, out, context);
  }

 private:
  Options options_;
};

// What a study sets for an aggregator where the user says nothing.
struct StudyDefaults {
  struct Option {
    std::string name;
    std::string value;
    std::string why;  // the end of a sentence
  };
  std::vector<Option> options = {};
  std::optional<std::string> left_out = {};  // why it is not studied, as a sentence
};

// One line of the table of aggregators.
struct AggregatorInfo {
  std::string name;       // as the command line and Python know it
  std::string title;      // one line
  std::string family;     // centroid, convex, rank, complexity, sensitivity, trade-off
  std::string citation;   // author (year)
  std::string guarantee;  // what holds on every row, in words; empty where nothing does
  std::string cost;       // in words
  AggregateNeeds needs = {};
  bool without_signs = false;   // values are ranks or points: what speaks for and against looks alike
  bool learns_weights = false;  // one list of weights for all rows, learnt from them
  // For a study of this subject. named: whether the user asked for this aggregator by name.
  StudyDefaults (*study_defaults)(const Subject& subject, bool named) = nullptr;
  std::vector<OptionInfo> options = {};  // with their defaults
  std::unique_ptr<Aggregator> (*make)(const Spec&) = nullptr;
};

// Fills the options and the maker of an aggregator whose class has `Options` and is made from them.
template <class Class>
AggregatorInfo with_aggregator_options(AggregatorInfo info) {
  info.options = list_options<typename Class::Options>();
  info.make = [](const Spec& spec) -> std::unique_ptr<Aggregator> {
    return std::make_unique<Class>(options_from<typename Class::Options>(spec));
  };
  return info;
}

struct Aggregate {
  Explanations explanations;
  std::vector<Undefined> undefined = {};  // rows without a result, and why
  std::vector<ScoreTable> tables = {};
};

// Why the aggregator cannot do this task, as a sentence; nothing when it can. No model is run. Options that the
// aggregator does not have are an input error.
std::optional<Refusal> aggregator_refusal(const Spec& spec, const AggregateTask& task);

// One explanation of each row. An input error names members that do not fit together (rows, ids, features, targets,
// units); an unsupported error gives the aggregator's own reason.
Aggregate aggregate(const Spec& spec, const AggregateTask& task, const Context& context);

// The same aggregate for rows of the pool, made when a criterion needs them, from the members' explanations of the
// pool. Learnt weights and a chosen radius are taken over from `made`. A pool row is never its own antecedent. Spec,
// task and what it refers to must outlive the result. An unsupported error when explanations of the pool are needed and
// the task has none.
PoolExplanations aggregate_of_pool(const Spec& spec, const AggregateTask& task, const Aggregate& made);

}  // namespace assay
