// The CBC plugin: the only code of Assay that sees COIN-OR's headers.
//
// An order of n players is a 0-1 vector x with x_ij = 1 where i comes before j (i < j) in which no three players form a
// circle: 0 <= x_ij + x_jk - x_ik <= 1. Of these n (n - 1) (n - 2) / 6 constraints few matter, so they are added when a
// solution breaks them: first to the linear relaxation, which most often has a whole solution in the end, then to the
// integer program of what is left (Groetschel, Juenger, Reinelt 1984). Nothing here may throw across the C boundary,
// print, or start a thread.
#include <coin/CbcConfig.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <coin/CbcEventHandler.hpp>
#include <coin/CbcModel.hpp>
#include <coin/ClpEventHandler.hpp>
#include <coin/ClpSimplex.hpp>
#include <coin/CoinPackedVector.hpp>
#include <coin/OsiClpSolverInterface.hpp>
#include <cstring>
#include <exception>
#include <mutex>
#include <numeric>
#include <string>
#include <vector>

#include "assay/aggregate/ranks/cbc.h"

namespace {

constexpr double kBroken = 1e-4;  // by how much a triangle is, at the least, to be added
constexpr double kWhole = 1e-6;   // this close to 0 or 1 is that
constexpr int kTrianglesOfAPair = 5;

using Triangle = std::array<uint32_t, 3>;
using Order = std::vector<uint32_t>;

class Clock {
 public:
  explicit Clock(const AssayOrderTask& task) : task_(task) {}

  double left() const { return task_.seconds - std::chrono::duration<double>(Now::now() - begin_).count(); }
  bool over() const { return left() <= 0 || stopped(); }
  bool stopped() const { return task_.stopped != nullptr && task_.stopped(task_.context) != 0; }
  // Leaves out the time since `since`, when this thread only waited.
  void leave_out_since(std::chrono::steady_clock::time_point since) { begin_ += Now::now() - since; }

 private:
  using Now = std::chrono::steady_clock;
  const AssayOrderTask& task_;
  Now::time_point begin_ = Now::now();
};

// Both end what runs when the time is over: Clp's own limit is of processor time, which all threads of a program share.
class LinearStop : public ClpEventHandler {
 public:
  explicit LinearStop(const Clock& clock) : clock_(clock) {}
  ClpEventHandler* clone() const override { return new LinearStop(*this); }
  int event(Event which) override { return which != endOfIteration && clock_.over() ? kUserStop : -1; }

 private:
  static constexpr int kUserStop = 5;
  const Clock& clock_;
};

class BranchStop : public CbcEventHandler {
 public:
  explicit BranchStop(const Clock& clock) : clock_(clock) {}
  CbcEventHandler* clone() const override { return new BranchStop(*this); }
  CbcAction event(CbcEvent /*which*/) override { return clock_.over() ? stop : noAction; }

 private:
  const Clock& clock_;
};

class Solver {
 public:
  explicit Solver(const AssayOrderTask& task)
      : task_(task), n_(task.size), clock_(task), best_(task.start, task.start + task.size), cost_(cost_of(best_)) {
    lp_.setLogLevel(0);
    const LinearStop stop(clock_);
    lp_.passInEventHandler(&stop);
    const size_t pairs = n_ * (n_ - 1) / 2;
    costs_.reserve(pairs);
    for (size_t i = 0; i < n_; i++) {
      for (size_t j = i + 1; j < n_; j++) {
        const auto margin = static_cast<double>(task.margin[i * n_ + j]);
        costs_.push_back(-margin);
        if (margin > 0) offset_ += margin;
        unit_ = std::gcd(unit_, task.margin[i * n_ + j]);
      }
    }
    const std::vector<double> zeros(pairs, 0.0);
    const std::vector<double> ones(pairs, 1.0);
    CoinPackedMatrix columns(false, 0, 0);
    columns.setDimensions(0, static_cast<int>(pairs));
    lp_.loadProblem(columns, zeros.data(), ones.data(), costs_.data(), nullptr, nullptr);
  }

  void solve() {
    while (!done() && !clock_.over()) {
      lp_.dual();
      take_dual_bound();
      if (!lp_.isProvenOptimal()) return;
      const std::vector<double> x(lp_.getColSolution(), lp_.getColSolution() + lp_.getNumCols());
      consider(x);
      if (done()) return;
      if (add_broken(x) == 0) break;
    }
    if (!done() && !clock_.over()) branch();
  }

  const Order& best() const { return best_; }
  double bound() const { return std::min(bound_, static_cast<double>(cost_)); }

 private:
  size_t pair(size_t i, size_t j) const { return i * n_ - i * (i + 1) / 2 + (j - i - 1); }  // i < j
  double before(const std::vector<double>& x, size_t i, size_t j) const {
    return i < j ? x[pair(i, j)] : 1 - x[pair(j, i)];
  }
  bool done() const { return bound_ >= static_cast<double>(cost_); }

  int64_t cost_of(const Order& order) const {
    int64_t sum = 0;
    for (size_t a = 0; a < n_; a++) {
      for (size_t b = a + 1; b < n_; b++) sum += std::max<int64_t>(0, task_.margin[order[b] * n_ + order[a]]);
    }
    return sum;
  }

  // Costs are whole multiples of what divides all margins: of 2, say, where the voters are even in number.
  void raise_bound(double found) {
    const auto unit = static_cast<double>(std::max<int64_t>(1, unit_));
    bound_ = std::max(bound_, unit * std::ceil((found - 1e-6) / unit));
  }

  // From whatever multipliers the solver ends with: for any y, y b + sum of min(0, reduced cost) is a bound, so that
  // tolerances inside the solver do not matter, nor whether it was done.
  void take_dual_bound() {
    const double* y = lp_.getRowPrice();
    if (y == nullptr) return;
    std::vector<double> reduced = costs_;
    double sum = offset_;
    for (size_t r = 0; r < triangles_.size(); r++) {
      const auto [i, j, k] = triangles_[r];
      reduced[pair(i, j)] -= y[r];
      reduced[pair(j, k)] -= y[r];
      reduced[pair(i, k)] += y[r];
      sum += std::min(0.0, y[r]);
    }
    for (const double each : reduced) sum += std::min(0.0, each);
    if (std::isfinite(sum)) raise_bound(sum);
  }

  // The order in which players come before most others, put right by moving single players.
  void consider(const std::vector<double>& x) {
    std::vector<double> ahead(n_, 0.0);
    for (size_t i = 0; i < n_; i++) {
      for (size_t j = 0; j < n_; j++) ahead[i] += i == j ? 0 : before(x, i, j);
    }
    Order order(n_);
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return ahead[a] > ahead[b] + kWhole; });
    const int64_t cost = cost_of(order);
    if (cost < cost_) {
      cost_ = cost;
      best_ = order;
    }
  }

  // Triangles that this solution breaks, no pair in more than a few of them: the next solution differs anyway.
  size_t add_broken(const std::vector<double>& x) {
    std::vector<int> used(x.size(), 0);
    std::vector<CoinPackedVector> rows;
    for (uint32_t i = 0; i < n_; i++) {
      for (uint32_t j = i + 1; j < n_; j++) {
        for (uint32_t k = j + 1; k < n_; k++) {
          const std::array<int, 3> at{static_cast<int>(pair(i, j)), static_cast<int>(pair(j, k)),
                                      static_cast<int>(pair(i, k))};
          const double sum = x[at[0]] + x[at[1]] - x[at[2]];
          if (sum >= -kBroken && sum <= 1 + kBroken) continue;
          if (std::any_of(at.begin(), at.end(), [&](int p) { return used[p] >= kTrianglesOfAPair; })) continue;
          for (const int p : at) used[p]++;
          triangles_.push_back({i, j, k});
          constexpr std::array<double, 3> kSigns{1, 1, -1};
          rows.emplace_back(3, at.data(), kSigns.data());
        }
      }
    }
    if (rows.empty()) return 0;
    std::vector<const CoinPackedVectorBase*> views;
    for (const CoinPackedVector& row : rows) views.push_back(&row);
    const std::vector<double> low(rows.size(), 0.0);
    const std::vector<double> high(rows.size(), 1.0);
    lp_.addRows(static_cast<int>(rows.size()), low.data(), high.data(), views.data());
    return rows.size();
  }

  // The integer program with the triangles there are, again with those that its solution breaks.
  void branch() {
    static std::mutex one_at_a_time;  // CBC does not promise that two models can be searched at once
    const auto since = std::chrono::steady_clock::now();
    const std::lock_guard<std::mutex> lock(one_at_a_time);
    clock_.leave_out_since(since);
    for (int p = 0; p < lp_.getNumCols(); p++) lp_.setInteger(p);
    while (!done() && !clock_.over()) {
      const OsiClpSolverInterface program(&lp_);
      CbcModel model(program);
      model.setLogLevel(0);
      model.messageHandler()->setLogLevel(0);
      model.solver()->messageHandler()->setLogLevel(0);
      model.setUseElapsedTime(true);
      model.setMaximumSeconds(clock_.left());
      // Nothing but what is better by one unit is of use.
      model.setCutoff(static_cast<double>(cost_ - unit_) - offset_ + 1e-3);
      const BranchStop stop(clock_);
      model.passInEventHandler(&stop);
      model.branchAndBound();
      // A linear program that was stopped inside may look like one without a solution.
      if (clock_.over() || model.status() != 0) {
        if (model.bestSolution() != nullptr) consider(solution_of(model));
        return;
      }
      if (model.bestSolution() == nullptr) {
        raise_bound(static_cast<double>(cost_));
        return;
      }
      raise_bound(model.getObjValue() + offset_);
      const std::vector<double> x = solution_of(model);
      consider(x);
      if (add_broken(x) == 0) return;
    }
  }

  std::vector<double> solution_of(const CbcModel& model) const {
    return {model.bestSolution(), model.bestSolution() + lp_.getNumCols()};
  }

  const AssayOrderTask& task_;
  size_t n_;
  Clock clock_;
  Order best_;
  int64_t cost_;
  double bound_ = 0;
  double offset_ = 0;  // cost of x = 0
  int64_t unit_ = 0;
  std::vector<double> costs_;
  std::vector<Triangle> triangles_;
  ClpSimplex lp_;
};

int order(const AssayOrderTask* task, AssayOrderAnswer* answer, char* error, size_t error_size) {
  std::string message;
  try {
    Solver solver(*task);
    solver.solve();
    std::copy(solver.best().begin(), solver.best().end(), answer->order);
    answer->bound = solver.bound();
    return 0;
  } catch (const std::exception& thrown) {
    message = thrown.what();
  } catch (const CoinError& thrown) {
    message = thrown.message();
  } catch (...) {
    message = "an unknown failure in CBC";
  }
  if (error_size > 0) {
    const size_t size = std::min(message.size(), error_size - 1);
    std::memcpy(error, message.data(), size);
    error[size] = '\0';
  }
  return 1;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const AssayOrderPlugin* assay_order_plugin_v1() {
  static const AssayOrderPlugin plugin{ASSAY_ORDER_PLUGIN_VERSION, "CBC " CBC_VERSION, &order};
  return &plugin;
}
