// Integrated gradients (Sundararajan, Taly, Yan 2017): the mean gradient along the straight path from the reference r
// to the row x, times the difference,
//   phi_j = (x_j - r_j) * integral over a from 0 to 1 of d value / d x_j at r + a (x - r).
// Complete: the values sum to output - base. Groups get the sum of their columns. With a background, the mean over
// paths from each of its rows (expected gradients without their sampling: Erion et al. 2021), and the standard error of
// that mean.
//
// rule=exact: networks with one hidden layer of (leaky) ReLUs have the integral in closed form (paths/leaky_paths.h).
// rule=auto takes it where it can, else gauss_legendre. The other rules sum gradients at `steps` points
// (paths/quadrature.h). Gauss-Legendre is best where the output is smooth along the path; through ReLUs all rules are
// of first order, because gradients jump.
//
// Steps grow: where |output - base - sum| of a path is above tolerance * (mean over the reference rows of |output -
// base|), its points are doubled, up to most_steps; a gap that may be float32 rounding is accepted. A note counts the
// rows that are still above at the end. tolerance=0 takes exactly `steps` points. A path's points depend on its row
// alone, so results do not depend on the other rows.
//
// Cost: for each row and reference row, `steps` gradients, and those of all doublings; exact: one.
// Deviation from Captum: its trapezoid rule gives weights whose sum is (n - 1) / n; here it is 1.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/core/error.h"
#include "assay/explain/common.h"
#include "assay/explain/explainer.h"
#include "assay/explain/kernels/row_loops.h"
#include "assay/explain/paths/leaky_paths.h"
#include "assay/explain/paths/quadrature.h"

namespace assay {
namespace {

struct IntegratedGradientsOptions {
  std::string rule = "auto";
  int64_t steps = 32;
  int64_t most_steps = 1024;
  double tolerance = 1e-3;
  void describe(OptionVisitor& visit) {
    visit.choice("rule", rule, "how the path integral is computed",
                 {"auto", "exact", "gauss_legendre", "trapezoid", "left", "right", "middle"});
    visit.integer("steps", steps, "points on the path at first", "gradients", 1, 1'000'000);
    visit.integer("most_steps", most_steps, "points up to which they are doubled", "gradients", 1, 1'000'000);
    visit.real("tolerance", tolerance,
               "completeness gap, relative to |output - base|, above which points are doubled; 0 never doubles", "", 0,
               1);
  }
};

// Paths whose results are in memory at a time.
constexpr size_t kMostPaths = 4096;
constexpr size_t kPathBytes = size_t{64} << 20;
// Multiples of float32's rounding that a sum of gradients may be off by.
constexpr double kRoundings = 16;

bool has_closed_form(const Model& model) {
  return model.affine_entry() != nullptr && model.affine_entry()->leaky_tail().has_value();
}

// A rule as the loops take it: positions in float32, as rows are.
struct Steps {
  std::vector<float> at;
  std::vector<double> weights;
};

// Path p leads from reference row p % references to row p / references.
class Paths {
 public:
  Paths(const IntegratedGradientsOptions& options, const ExplainTask& task, Attributions& out, const Context& context)
      : options_(options),
        rule_(quadrature_rule(options.rule == "auto" ? "gauss_legendre" : options.rule)),
        task_(task),
        out_(out),
        context_(context),
        references_(task.reference.rows.rows()),
        most_points_(points_per_call(task, context)),
        weights_(task, most_points_),
        points_(most_points_, task.rows.cols()),
        gradients_(most_points_, task.rows.cols()),
        row_moments_(task.players.size(), task.reference.strata) {
    context_.progress = nullptr;
    if (references_ > 1) out.background_error = Matrix(task.rows.rows(), task.players.size());
    if (options.tolerance == 0) return;
    reference_outputs_ = Matrix(references_, task.model.info().outputs());
    task.model.predict(task.reference.rows.view(), reference_outputs_.view(), context_);
    out_.evaluations += references_;
  }

  size_t paths_at_a_time() const {
    const size_t bytes = (task_.players.size() + 2) * sizeof(double);
    return std::clamp<size_t>(kPathBytes / bytes, 1, std::min(kMostPaths, references_ * task_.rows.rows()));
  }

  // Paths must come in order: those of one row may lie in several turns.
  void run(size_t begin, size_t end) {
    begin_ = begin;
    if (values_.empty()) values_ = Matrix64(paths_at_a_time(), task_.players.size());
    gaps_.assign(end - begin, 0);
    scales_.assign(end - begin, 0);
    std::vector<size_t> active(end - begin);
    for (size_t p = begin; p < end; p++) active[p - begin] = p;
    if (options_.tolerance > 0) find_changes(end);
    const auto most_steps = static_cast<size_t>(std::max(options_.steps, options_.most_steps));
    for (auto steps = static_cast<size_t>(options_.steps);; steps = std::min(2 * steps, most_steps)) {
      integrate(active, steps_of(steps));
      out_.evaluations += active.size() * steps;
      if (options_.tolerance == 0) break;
      std::erase_if(active, [&](size_t path) { return is_complete(path); });
      if (active.empty() || steps == most_steps) break;
    }
    for (size_t p = begin; p < end; p++) take_path(p);
  }

  void write_note() const {
    if (rows_above_ == 0) return;
    std::string note =
        fmt::format("{} of {} rows have a completeness gap above {:g} of the change in output after {} steps",
                    rows_above_, task_.rows.rows(), options_.tolerance, std::max(options_.steps, options_.most_steps));
    if (largest_share_ > 0) note += fmt::format("; the largest is {:.2g}", largest_share_);
    if (largest_unchanged_ > 0) {
      note += fmt::format("; where the output does not change the largest gap is {:.2g}", largest_unchanged_);
    }
    out_.notes.push_back(std::move(note));
  }

 private:
  const Steps& steps_of(size_t count) {
    Steps& known = steps_[count];
    if (known.at.empty()) {
      Quadrature made = quadrature(rule_, count);
      known.at.assign(made.points.begin(), made.points.end());
      known.weights = std::move(made.weights);
    }
    return known;
  }

  // output - base of each path, and their mean size for each row.
  void find_changes(size_t end) {
    const size_t first = begin_ / references_;
    const size_t last = (end - 1) / references_;
    Matrix outputs(last + 1 - first, task_.model.info().outputs());
    task_.model.predict(task_.rows.rows_between(first, last + 1), outputs.view(), context_);
    out_.evaluations += outputs.rows();
    changes_.resize(end - begin_);
    for (size_t r = first; r <= last; r++) {
      const OutputTerm& term = task_.targets.term(r);
      const double output = outputs(r - first, term.output);
      const auto change = [&](size_t b) {
        return term.scale * (output - static_cast<double>(reference_outputs_(b, term.output)));
      };
      double size = 0;
      for (size_t b = 0; b < references_; b++) size += std::abs(change(b)) / static_cast<double>(references_);
      for (size_t b = 0; b < references_; b++) {
        const size_t path = r * references_ + b;
        if (path < begin_ || path >= end) continue;
        const double base = reference_outputs_(b, term.output);
        changes_[path - begin_] = {change(b), size, std::abs(term.scale) * std::max(std::abs(output), std::abs(base))};
      }
    }
  }

  // Sets the values of these paths. Several paths go into one call of the model; where one has more points than a call
  // may hold, it takes several.
  void integrate(const std::vector<size_t>& paths, const Steps& steps) {
    const size_t turn_steps = std::min(steps.at.size(), most_points_);
    const size_t turn_paths = most_points_ / turn_steps;
    Matrix64 sums(std::min(turn_paths, paths.size()), task_.rows.cols());
    for (size_t first = 0; first < paths.size(); first += turn_paths) {
      const auto turn = std::span(paths).subspan(first, std::min(turn_paths, paths.size() - first));
      for (size_t from = 0; from < steps.at.size(); from += turn_steps) {
        const size_t count = std::min(turn_steps, steps.at.size() - from);
        parallel_blocks(context_, turn.size(), items_per_block(count * task_.rows.cols()), [&](const Block& block) {
          for (size_t i = block.begin; i < block.end; i++) {
            const size_t row = turn[i] / references_;
            points_on_path(task_.reference.rows.row(turn[i] % references_).data(), task_.rows.row(row).data(),
                           steps.at.data() + from, count, task_.rows.cols(), points_.row(i * count).data());
            for (size_t k = 0; k < count; k++) weights_.set(i * count + k, row);
          }
        });
        const size_t points = turn.size() * count;
        task_.model.differentiable()->gradient(points_.view().rows_between(0, points), weights_.first(points),
                                               gradients_.view().rows_between(0, points), {}, context_);
        const bool done = from + count == steps.at.size();
        parallel_blocks(context_, turn.size(), items_per_block(count * task_.rows.cols()), [&](const Block& block) {
          for (size_t i = block.begin; i < block.end; i++) {
            const auto sum = sums.row(i);
            if (from == 0) std::fill(sum.begin(), sum.end(), 0.0);
            add_weighted_rows(gradients_.row(i * count).data(), steps.weights.data() + from, count, sum.size(),
                              sum.data());
            if (done) set_values(turn[i], sum);
          }
        });
      }
    }
  }

  void set_values(size_t path, std::span<const double> integrals) {
    const auto values = values_.row(path - begin_);
    const auto row = task_.rows.row(path / references_);
    const auto reference = task_.reference.rows.row(path % references_);
    std::fill(values.begin(), values.end(), 0.0);
    for (size_t c = 0; c < row.size(); c++) {
      values[task_.players.of_column[c]] += integrals[c] * (static_cast<double>(row[c]) - reference[c]);
    }
  }

  bool is_complete(size_t path) {
    const Change& change = changes_[path - begin_];
    double sum = 0;
    double size = 0;
    for (const double value : values_.row(path - begin_)) {
      sum += value;
      size += std::abs(value);
    }
    double& gap = gaps_[path - begin_];
    gap = change.value - sum;
    const double rounding = kRoundings * static_cast<double>(std::numeric_limits<float>::epsilon());
    scales_[path - begin_] = std::max(options_.tolerance * change.mean_size, rounding * (change.output_size + size));
    // More points do not help what is not a number.
    return !(std::abs(gap) > scales_[path - begin_]);
  }

  void take_path(size_t path) {
    const size_t row = path / references_;
    const auto values = values_.row(path - begin_);
    row_moments_.add(values);
    row_gap_ += gaps_[path - begin_] / static_cast<double>(references_);
    row_scale_ += scales_[path - begin_] / static_cast<double>(references_);
    if (path % references_ + 1 < references_) return;
    row_moments_.store(out_.values.row(row), references_ > 1 ? out_.background_error.row(row) : std::span<float>());
    if (std::abs(row_gap_) > row_scale_) {
      rows_above_++;
      const double size = changes_[path - begin_].mean_size;
      double& largest = size > 0 ? largest_share_ : largest_unchanged_;
      largest = std::max(largest, std::abs(row_gap_) / (size > 0 ? size : 1));
    }
    row_moments_.clear();
    row_gap_ = row_scale_ = 0;
  }

  struct Change {
    double value;        // output - base of the path
    double mean_size;    // of all paths of the row
    double output_size;  // the larger of |output| and |base|
  };

  const IntegratedGradientsOptions& options_;
  QuadratureRule rule_;
  const ExplainTask& task_;
  Attributions& out_;
  Context context_;
  size_t references_;
  size_t most_points_;
  Matrix reference_outputs_;
  TargetWeights weights_;
  Matrix points_;
  Matrix gradients_;
  std::map<size_t, Steps> steps_;
  // Of the paths of this turn.
  size_t begin_ = 0;
  Matrix64 values_;
  std::vector<Change> changes_;
  std::vector<double> gaps_;
  std::vector<double> scales_;  // what the gap may be
  // Of the row whose paths are being taken.
  VectorMoments row_moments_;
  double row_gap_ = 0;
  double row_scale_ = 0;
  size_t rows_above_ = 0;
  double largest_share_ = 0;      // of the change in output
  double largest_unchanged_ = 0;  // where there is no change: the gap itself
};

class IntegratedGradients final : public Explainer {
 public:
  using Options = IntegratedGradientsOptions;

  explicit IntegratedGradients(const Options& options) : options_(options) {
    if (options.rule == "trapezoid" && options.steps < 2) {
      fail_input("integrated_gradients: rule=trapezoid takes at least 2 steps, the two ends; found steps=1");
    }
  }

  std::optional<Refusal> refuses(const ExplainTask& task) const override {
    if (auto reason = refuses_information(task)) return reason;
    const bool closed_form = has_closed_form(task.model);
    if (options_.rule == "auto" && closed_form) return {};
    if (options_.rule != "exact") return refuses_gradient(task);
    if (closed_form) return {};
    return fmt::format("with rule=exact needs a network with one hidden layer of (leaky) ReLUs, and {} is none",
                       task.model.info().name);
  }

  void attribute(const ExplainTask& task, Attributions& out, const Context& context) const override {
    if (options_.rule == "exact" || (options_.rule == "auto" && has_closed_form(task.model))) {
      integrate_leaky_paths(*task.model.affine_entry(), task, out, context);
      out.notes.emplace_back("the path integrals are exact: the model has one hidden layer of (leaky) ReLUs");
      return;
    }
    Paths paths(options_, task, out, context);
    const size_t references = task.reference.rows.rows();
    const size_t count = task.rows.rows() * references;
    const size_t turn = paths.paths_at_a_time();
    ProgressScope progress(context, "integrated_gradients", count);
    for (size_t begin = 0; begin < count; begin += turn) {
      const size_t end = std::min(begin + turn, count);
      paths.run(begin, end);
      progress.advance(end - begin);
    }
    paths.write_note();
  }

 private:
  Options options_;
};

}  // namespace

MethodInfo integrated_gradients_method() {
  return with_options<IntegratedGradients>(
      {.name = "integrated_gradients",
       .title = "Mean slope of the output on the way from the reference to the row, times that way",
       .citation = "Sundararajan, Taly, Yan (2017)",
       .cost = "32 gradients and more until complete, or 1 where the integral is exact; for each reference row",
       .complete = true,
       .uses_reference = true,
       .of_paper = true});
}

}  // namespace assay
