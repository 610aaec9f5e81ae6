// The interface of all explanation functions (methods).
//
// A method computes attributions for many rows at once. explain() checks the task, calls the method, and adds what all
// results have: base values, outputs, completeness gaps and provenance.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/core/options.h"
#include "assay/core/refusal.h"
#include "assay/explain/explanations.h"
#include "assay/explain/kept.h"
#include "assay/explain/players.h"
#include "assay/explain/reference.h"
#include "assay/explain/target.h"
#include "assay/model/model.h"

namespace assay {

// What is to be explained. All of it must outlive the call.
struct ExplainTask {
  const Model& model;
  MatrixView<const float> rows;
  const Targets& targets;
  const Reference& reference;
  const Players& players;
  // For messages, if the user knows the rows by other names than their number, and columns by others than the model's.
  std::span<const std::string> row_names = {};
  std::span<const std::string> column_names = {};
  // Where methods keep what they can use again; null if this is the only call.
  Kept* kept = nullptr;
  // The same for what depends on the number of players, the method's options and the seed alone, whatever the model.
  Kept* designs = nullptr;
};

// What a method fills. values is rows x players and zero at first. Methods that have errors size these matrices.
struct Attributions {
  MatrixView<float> values;
  Matrix standard_error = {};
  Matrix background_error = {};
  uint64_t evaluations = 0;
  std::vector<std::string> notes = {};
  std::vector<double> output = {};  // for each row, the explained value: filled by methods with gives_output()
  std::vector<double> base = {};    // for each row: filled by methods that have a base value without a reference
};

class Explainer {
 public:
  virtual ~Explainer() = default;
  // Why the method cannot do this task, as the end of a sentence that begins with its name ("needs a gradient, and
  // ..."); nothing when it can. Only capabilities, widths and options are looked at: no model is run.
  virtual std::optional<Refusal> refuses(const ExplainTask& task) const = 0;
  // The result of a row must depend on that row alone, not on its position among the rows. So all rows share the same
  // random draws.
  virtual void attribute(const ExplainTask& task, Attributions& out, const Context& context) const = 0;
  // Whether attribute() fills out.output, because it runs the model on the rows anyway and does little else. For other
  // methods explain() runs the model on the rows first, and refuses rows for which it gives no number.
  virtual bool gives_output() const { return false; }
  // Makes what calls with other rows can use again, and keeps it in task.kept, which is not null. The task has no rows;
  // its targets are those that may come.
  virtual void prepare(const ExplainTask& /*task*/, const Context& /*context*/) const {}
  // How many model evaluations the task takes, if that is known without running it; for planning.
  virtual std::optional<uint64_t> known_evaluations(const ExplainTask& /*task*/) const { return {}; }
};

// A method that is a function of the task and its options, and another of the task, or of both, that says why it
// refuses. A third one, of both, may know the evaluations beforehand, and a fourth prepare for calls to come.
template <auto attribute_task, auto refuse_task, auto count_task = nullptr, auto prepare_task = nullptr>
class AttributedBy;

template <class OptionsType,
          void (*attribute_task)(const ExplainTask&, const OptionsType&, Attributions&, const Context&),
          auto refuse_task, auto count_task, auto prepare_task>
class AttributedBy<attribute_task, refuse_task, count_task, prepare_task> final : public Explainer {
 public:
  using Options = OptionsType;

  explicit AttributedBy(Options options) : options_(std::move(options)) {}
  std::optional<Refusal> refuses(const ExplainTask& task) const override {
    if constexpr (std::is_invocable_v<decltype(refuse_task), const ExplainTask&>) {
      return refuse_task(task);
    } else {
      return refuse_task(task, options_);
    }
  }
  void attribute(const ExplainTask& task, Attributions& out, const Context& context) const override {
    attribute_task(task, options_, out, context);
  }
  void prepare(const ExplainTask& task, const Context& context) const override {
    if constexpr (!std::is_null_pointer_v<decltype(prepare_task)>) prepare_task(task, options_, context);
  }
  std::optional<uint64_t> known_evaluations(const ExplainTask& task) const override {
    if constexpr (!std::is_null_pointer_v<decltype(count_task)>) return count_task(task, options_);
    return {};
  }

 private:
  Options options_;
};

// The option of a sampled method that sets how much it samples, for planners that have little time.
struct SampleCount {
  std::string_view option = {};  // a literal; empty: none
  size_t least = 0;              // fewer are no use
  size_t least_of_player = 0;    // likewise, for each player
};

// One line of the table of methods.
struct MethodInfo {
  std::string name;             // as the command line and Python know it
  std::string title;            // one line
  std::string citation;         // author (year)
  std::string cost;             // model evaluations for a row, in words
  bool complete = false;        // values sum to output - base
  bool uses_reference = false;  // gradient and smooth_grad do not
  bool sampled = false;         // has standard errors
  SampleCount samples = {};
  bool of_paper = false;     // one of the six that the paper aggregates
  bool for_trees = false;    // explains trees and nothing else
  std::string same_as = {};  // a faster method with the same values, for models that it can explain
  // Whether its values are Shapley values of the game that absent features take the reference's values, or estimates of
  // them, whatever its options.
  bool shapley = false;
  std::vector<OptionInfo> options = {};  // with their defaults
  std::unique_ptr<Explainer> (*make)(const Spec&) = nullptr;
};

// Fills the options and the maker of a method whose class has `Options` and is made from them.
template <class Method>
MethodInfo with_options(MethodInfo info) {
  info.options = list_options<typename Method::Options>();
  info.make = [](const Spec& spec) -> std::unique_ptr<Explainer> {
    return std::make_unique<Method>(options_from<typename Method::Options>(spec));
  };
  return info;
}

// Why the method cannot do this task, as a sentence; nothing when it can. No model is run. Options that the method does
// not have are an input error.
std::optional<Refusal> refusal(const Spec& spec, const ExplainTask& task);

// The attributions of all rows. An input error for shapes that do not fit, and for rows for which the model gives no
// number (it names the row, and the column that is missing). An unsupported error gives the method's own reason. `spec`
// is the method as the user wrote it; provenance lists its options and all defaults.
Explanations explain(const Spec& spec, const ExplainTask& task, const Context& context);
// The same by an explainer that was made from the spec before.
Explanations explain(const Spec& spec, const Explainer& explainer, const ExplainTask& task, const Context& context);

}  // namespace assay
