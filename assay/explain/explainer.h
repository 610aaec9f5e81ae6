// What every explanation function is to the rest of the house.
//
// A method computes attributions for many rows at once; explain() around it checks the task beforehand, and adds what
// all results have: base values, outputs, completeness gaps and provenance.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/core/options.h"
#include "assay/core/refusal.h"
#include "assay/explain/explanations.h"
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
  // For messages, where the user knows rows and columns by other names than their number and the model's.
  std::span<const std::string> row_names = {};
  std::span<const std::string> column_names = {};
};

// What a method fills. values is rows x players, zero at first; the errors are sized by the methods that have them.
struct Attributions {
  MatrixView<float> values;
  Matrix standard_error = {};
  Matrix background_error = {};
  uint64_t evaluations = 0;
  std::vector<std::string> notes = {};
  std::vector<double> output = {};  // for each row, the explained value: filled by methods that gives_output()
  std::vector<double> base = {};    // for each row: filled by methods that have a base value without a reference
};

class Explainer {
 public:
  virtual ~Explainer() = default;
  // Why the method cannot do this task, as the end of a sentence that begins with its name ("needs a gradient, and
  // ..."); nothing when it can. Looks at capabilities, widths and options alone: no model is run.
  virtual std::optional<Refusal> refuses(const ExplainTask& task) const = 0;
  // Results of a row depend on that row alone, not on its place among others: draws that differ by row would change
  // with the partition of the rows, so methods share their draws among all rows.
  virtual void attribute(const ExplainTask& task, Attributions& out, const Context& context) const = 0;
  // Whether attribute() fills the output, for methods that cost little more than the model's run on the rows, which
  // they make anyway. The rows of all others are run, and refused where the model gives no number, before the work.
  virtual bool gives_output() const { return false; }
  // Evaluations of the model that the task takes, where that is known without running it; for plans.
  virtual std::optional<uint64_t> known_evaluations(const ExplainTask& /*task*/) const { return {}; }
};

// One line of the table of methods.
struct MethodInfo {
  std::string name;                      // as the command line and Python know it
  std::string title;                     // one line
  std::string citation;                  // author (year)
  std::string cost;                      // model evaluations for a row, in words
  bool complete = false;                 // values sum to output - base
  bool uses_reference = false;           // gradient and smooth_grad do not
  bool sampled = false;                  // has standard errors
  bool of_paper = false;                 // one of the six that the paper aggregates
  bool for_trees = false;                // explains trees and nothing else
  std::string same_as = {};              // a method of the same values that is faster, where it can explain the model
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

// Why the method cannot do this task, as a sentence; nothing when it can. No model is run. An input error for options
// that the method does not have.
std::optional<Refusal> refusal(const Spec& spec, const ExplainTask& task);

// The attributions of all rows. An input error for rows the model gives no number for (it names the row, and the column
// that is missing), for shapes that do not fit, and an unsupported error with the method's own reason. `spec` is the
// method as the user wrote it; its options go to the provenance with all defaults.
Explanations explain(const Spec& spec, const ExplainTask& task, const Context& context);

}  // namespace assay
