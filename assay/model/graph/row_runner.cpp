#include "assay/model/graph/row_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <utility>

#include "assay/core/budget.h"
#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/model/graph/rows_apart.h"
#include "assay/model/ops/kernel_cost.h"

namespace assay {
namespace {

// A block's values should stay in the second-level cache, yet a block should be worth handing to a thread, and a few
// rows at least share each pass over the weights.
constexpr size_t kBlockBytes = size_t{512} << 10;
constexpr size_t kMostBlockRows = 1024;
constexpr size_t kLeastBlockRows = 2;
constexpr size_t kLargeRow = size_t{64} << 20;
constexpr size_t kTrialRows = 16;
// Workspaces of a plan that wait for the next run.
constexpr size_t kMostIdleBytes = size_t{256} << 20;

template <class T>
T converted_input(float value, const std::string& input) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    // All false for NaN.
    const bool fits = static_cast<double>(value) >= static_cast<double>(std::numeric_limits<T>::min()) &&
                      static_cast<double>(value) < std::ldexp(1.0, std::numeric_limits<T>::digits) &&
                      value == std::trunc(value);
    if (!fits) {
      fail_input(fmt::format("input {} of the model takes whole numbers ({}), found {}", in_quotes(input),
                             onnx_type_name(element_of<T>()), value));
    }
    return static_cast<T>(value);
  }
}

}  // namespace

// A plan for so many rows, and workspaces that wait for work.
struct RowRunner::SizedPlan {
  // A workspace, and the inputs that cannot be read where they lie.
  struct Bench {
    explicit Bench(const Plan& plan) : workspace(plan) {}
    Workspace workspace;
    std::vector<Tensor> staged;
  };

  SizedPlan(const Graph& graph, const PlanRequest& request, size_t plan_rows, size_t staged_bytes,
            const Context& context)
      : plan(graph, request, context), rows(plan_rows), bench_bytes(plan.workspace_bytes() + staged_bytes) {}

  Plan plan;
  size_t rows;
  size_t bench_bytes;
  mutable std::mutex mutex;
  mutable std::vector<std::unique_ptr<Bench>> idle;
};

// Holds a workspace for one block and gives it back.
class RowRunner::Lease {
 public:
  Lease(const RowRunner& runner, const SizedPlan& plan) : runner_(runner), plan_(plan) {
    {
      const std::lock_guard lock(plan.mutex);
      if (!plan.idle.empty()) {
        bench_ = std::move(plan.idle.back());
        plan.idle.pop_back();
      }
    }
    if (bench_ != nullptr) return;
    bench_ = std::make_unique<SizedPlan::Bench>(plan.plan);
    for (const RowInput& input : runner.inputs_) {
      Shape dims = input.row_shape;
      dims.insert(dims.begin(), static_cast<int64_t>(plan.rows));
      bench_->staged.emplace_back(input.type, std::move(dims));
    }
  }
  ~Lease() {
    const std::lock_guard lock(plan_.mutex);
    if ((plan_.idle.size() + 1) * plan_.bench_bytes <= kMostIdleBytes) plan_.idle.push_back(std::move(bench_));
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  Workspace& workspace() { return bench_->workspace; }

  // Row i of the block is rows.row(begin + i), or the last one there is.
  void feed(MatrixView<const float> rows, size_t begin) {
    const size_t given = std::min(plan_.rows, rows.rows() - begin);
    for (size_t i = 0; i < runner_.inputs_.size(); i++) {
      const RowInput& input = runner_.inputs_[i];
      const bool in_place = input.type == OnnxElement::float32 && given == plan_.rows &&
                            input.columns == rows.stride() && rows.cols() == rows.stride();
      if (in_place) {
        workspace().feed(i, rows.data() + begin * rows.stride());
        continue;
      }
      Tensor& staged = bench_->staged[i];
      with_element(input.type, [&]<class T>() {
        T* out = staged.data<T>();
        for (size_t r = 0; r < plan_.rows; r++, out += input.columns) {
          const auto row = rows.row(begin + std::min(r, given - 1)).subspan(input.first_column, input.columns);
          for (size_t c = 0; c < input.columns; c++) {
            if constexpr (std::is_same_v<T, std::string>) {
              out[c] = text(input.first_column + c, row[c]);
            } else {
              out[c] = converted_input<T>(row[c], input.value);
            }
          }
        }
      });
      workspace().feed(i, staged.raw());
    }
  }

 private:
  const std::string& text(size_t column, float code) const {
    static const std::string missing;
    if (std::isnan(code)) return missing;
    const std::string* const found = runner_.texts_->find(column, code);
    if (found == nullptr) {
      fail_input(fmt::format("feature {} is text with {} levels, found the code {}", column + 1,
                             runner_.texts_->texts(column).size(), code));
    }
    return *found;
  }

  const RowRunner& runner_;
  const SizedPlan& plan_;
  std::unique_ptr<SizedPlan::Bench> bench_;
};

RowRunner::RowRunner(std::shared_ptr<const Graph> graph, std::vector<RowInput> inputs,
                     std::shared_ptr<const TextCodes> texts, std::vector<std::string> fetches, bool gradients,
                     size_t fixed_batch, bool reveal, const Context& context)
    : graph_(std::move(graph)),
      inputs_(std::move(inputs)),
      texts_(std::move(texts)),
      fetches_(std::move(fetches)),
      gradients_(gradients),
      fixed_batch_(fixed_batch),
      reveal_(reveal) {
  size_t trial_rows = fixed_batch == 0 ? kTrialRows : fixed_batch;
  std::unique_ptr<SizedPlan> trial;
  try {
    trial = make_plan(trial_rows, context);
  } catch (const Error& error) {
    // So many rows of large images may need more memory than is allowed; one may not.
    if (fixed_batch != 0 || error.kind() == ErrorKind::cancelled) throw;
    trial_rows = 1;
    trial = make_plan(trial_rows, context);
  }
  for (size_t f = 0; f < fetches_.size(); f++) {
    ValueInfo info = trial->plan.fetched(f);
    widths_.push_back(info.count() / trial_rows);
    if (!info.dims.empty()) info.dims[0] = 1;
    fetched_.push_back(std::move(info));
  }
  check_rows_first(*trial);
  for (size_t i = 0; i < inputs_.size(); i++) differentiable_ |= gradients_ && trial->plan.has_gradient(i);
  for (const RowInput& input : inputs_) differentiable_ &= input.type == OnnxElement::float32;
  gradient_stop_ = trial->plan.gradient_stops_at();
  differentiable_ &= gradient_stop_.empty();
  row_steps_ = trial->plan.run_steps() / trial_rows + 1;
  const size_t row_bytes = trial->plan.workspace_bytes() / trial_rows + 1;
  block_rows_ =
      std::bit_floor(std::clamp(kBlockBytes / row_bytes, row_bytes > kLargeRow ? 1 : kLeastBlockRows, kMostBlockRows));
  if (fixed_batch != 0) block_rows_ = fixed_batch;
  if (trial_rows == block_rows_) plans_.emplace(trial_rows, std::move(trial));
  trial.reset();
  plan_blocks(context);
}

// Blocks are halved until one fits. One that has no rows is refused: fewer of them would not mend that.
void RowRunner::plan_blocks(const Context& context) {
  for (; plans_[block_rows_] == nullptr; block_rows_ /= 2) {
    try {
      plans_[block_rows_] = make_plan(block_rows_, context);
      break;
    } catch (const Error& error) {
      // One row fits, as was seen before.
      if (fixed_batch_ != 0 || block_rows_ == 1 || error.kind() == ErrorKind::cancelled) throw;
    }
  }
  const SizedPlan& made = *plans_[block_rows_];
  check_rows_first(made);
  block_bytes_ = made.plan.workspace_bytes();
}

RowRunner::~RowRunner() = default;

Budget RowRunner::spent() const {
  const std::lock_guard lock(mutex_);
  Budget spent{0, 0};
  for (const auto& [rows, sized] : plans_) {
    if (sized == nullptr) continue;
    spent.bytes += sized->plan.held_bytes();
    spent.steps += sized->plan.steps_taken();
  }
  return spent;
}

// Called with the mutex held, or before others see the runner.
std::unique_ptr<RowRunner::SizedPlan> RowRunner::make_plan(size_t rows, const Context& context) const {
  Context left = context;
  for (const auto& [size, sized] : plans_) {
    if (sized != nullptr) left.budget.bytes -= std::min<uint64_t>(left.budget.bytes, sized->plan.held_bytes());
  }
  PlanRequest request;
  size_t staged_bytes = 0;
  for (const RowInput& input : inputs_) {
    staged_bytes += rows * input.columns * element_size(input.type);
    Shape dims = input.row_shape;
    dims.insert(dims.begin(), static_cast<int64_t>(rows));
    request.feeds.push_back({input.value, {input.type, std::move(dims), nullptr}, gradients_});
  }
  request.fetches = fetches_;
  request.reveal = reveal_;
  auto made = std::make_unique<SizedPlan>(*graph_, request, rows, staged_bytes, left);
  Spending spending(left, fmt::format("{}: one block of rows", graph_->name()));
  spending.take_bytes(made->plan.held_bytes() + made->bench_bytes);
  return made;
}

const RowRunner::SizedPlan& RowRunner::plan_for(size_t rows, const Context& context) const {
  const size_t size = fixed_batch_ != 0 ? fixed_batch_ : std::bit_ceil(rows);
  const std::lock_guard lock(mutex_);
  auto& plan = plans_[size];
  if (plan == nullptr) {
    auto made = make_plan(size, context);
    check_rows_first(*made);
    plan = std::move(made);
  }
  return *plan;
}

// What is fetched must have the row as its first dimension, whatever the size of the batch.
void RowRunner::check_rows_first(const SizedPlan& sized) const {
  for (size_t f = 0; f < fetches_.size(); f++) {
    const ValueInfo& info = sized.plan.fetched(f);
    const bool by_row = !info.dims.empty() && info.dims[0] == static_cast<int64_t>(sized.rows) &&
                        info.count() == widths_[f] * sized.rows && info.constant == nullptr;
    if (by_row) continue;
    fail_input(fmt::format("{}: value {} has the dimensions {} for {} rows; the first must be the row", graph_->name(),
                           in_quotes(fetches_[f]), onnx_shape_text(info.dims), sized.rows));
  }
}

namespace {

// Rows of no special meaning, all different: numbers of both signs up to `scale`, small whole numbers for integers.
Matrix trial_rows_of(const std::vector<RowInput>& inputs, size_t rows, float scale) {
  size_t columns = 0;
  for (const RowInput& input : inputs) columns = std::max(columns, input.first_column + input.columns);
  Matrix made(rows, columns);
  for (const RowInput& input : inputs) {
    for (size_t c = input.first_column; c < input.first_column + input.columns; c++) {
      for (size_t r = 0; r < rows; r++) {
        const size_t mixed = c * 7 + r * 5;
        if (input.type == OnnxElement::boolean) {
          made(r, c) = static_cast<float>(mixed % 2);
        } else if (!is_floating(input.type)) {
          made(r, c) = static_cast<float>(mixed % 4);
        } else {
          made(r, c) = scale * (static_cast<float>(mixed % 11) / 5 - 0.9F);
        }
      }
    }
  }
  return made;
}

}  // namespace

std::vector<std::vector<std::byte>> RowRunner::results_of(MatrixView<const float> rows, const Context& context) const {
  context.check_cancelled();
  Lease lease(*this, plan_for(rows.rows(), context));
  lease.feed(rows, 0);
  lease.workspace().forward(context);
  std::vector<std::vector<std::byte>> results(fetches_.size());
  for (size_t f = 0; f < fetches_.size(); f++) {
    if (fetched_[f].type == OnnxElement::string) continue;
    const auto* from = static_cast<const std::byte*>(lease.workspace().fetched(f));
    results[f].assign(from, from + rows.rows() * widths_[f] * element_size(fetched_[f].type));
  }
  return results;
}

void RowRunner::check_rows_apart(const Context& context) const {
  // Text that the model has not been trained on may be refused by it.
  const auto is_text = [](const RowInput& input) { return input.type == OnnxElement::string; };
  if (fixed_batch_ == 1 || std::any_of(inputs_.begin(), inputs_.end(), is_text)) return;
  // A trial passes over all weights several times, so it is left out where it can only end well.
  const auto is_flat = [](const RowInput& input) { return input.row_shape.empty(); };
  const bool rows_first = fixed_batch_ == 0 && std::none_of(inputs_.begin(), inputs_.end(), is_flat);
  if (rows_first && keeps_rows_apart(*graph_, fetches_)) return;
  const size_t count = fixed_batch_ == 0 ? std::min<size_t>(4, block_rows_) : fixed_batch_;
  if (count == 1) return;
  Spending spending(context, fmt::format("{}: a trial of a few rows", graph_->name()));
  const auto run = [&](const Matrix& rows) {
    spending.take_steps(steps_of(rows.rows()));
    return results_of(rows.view(), context);
  };
  for (const float scale : {1.0F, 40.0F}) {
    const Matrix rows = trial_rows_of(inputs_, count, scale);
    // Row r of the second batch is row r + 1 of the first.
    Matrix turned = rows;
    for (size_t r = 0; r < count; r++) {
      std::copy_n(rows.row((r + 1) % count).data(), rows.cols(), turned.row(r).data());
    }
    // The first row in other company: none where that is possible.
    Matrix apart = trial_rows_of(inputs_, fixed_batch_ == 0 ? 1 : count, scale / -2);
    std::copy_n(rows.row(0).data(), rows.cols(), apart.row(0).data());
    plan_for(count, context);
    plan_for(apart.rows(), context);
    // One after the other, so that one workspace is enough.
    std::vector<std::vector<std::byte>> first, second, alone;
    try {
      first = run(rows);
      second = run(turned);
      alone = run(apart);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::cancelled) throw;
      return;  // such rows are not for this model, or take too long; what its own rows do is seen when they come
    }
    for (size_t f = 0; f < fetches_.size(); f++) {
      if (fetched_[f].type == OnnxElement::string) continue;
      const size_t bytes = widths_[f] * element_size(fetched_[f].type);
      const auto at = [&](const auto& results, size_t r) { return results[f].data() + r * bytes; };
      bool same = std::memcmp(at(first, 0), at(alone, 0), bytes) == 0;
      for (size_t r = 0; r < count; r++) same &= std::memcmp(at(second, r), at(first, (r + 1) % count), bytes) == 0;
      if (same) continue;
      fail_input(
          fmt::format("{}: the output {} of a row depends on the other rows of the batch; such a model cannot be "
                      "explained row by row",
                      graph_->name(), in_quotes(fetches_[f])));
    }
  }
}

uint64_t RowRunner::steps_of(size_t rows) const { return saturated_product(row_steps_, rows); }

size_t RowRunner::rows_of_block(size_t rows, const Context& context) const {
  if (fixed_batch_ != 0) return fixed_batch_;
  // Few rows are still shared by all threads.
  const size_t share = (rows + context.thread_count() - 1) / std::max(1U, context.thread_count());
  return std::clamp<size_t>(std::bit_ceil(std::max<size_t>(share, 1)), std::min(kLeastBlockRows, block_rows_),
                            block_rows_);
}

Context RowRunner::with_room(const Context& context, size_t block_rows, size_t workspaces) const {
  const uint64_t bytes = std::max<uint64_t>(workspaces * plan_for(block_rows, context).bench_bytes, 1);
  const uint64_t fitting = std::max<uint64_t>(context.budget.bytes / bytes, 1);
  Context room = context;
  room.threads = static_cast<unsigned>(std::min<uint64_t>(context.thread_count(), fitting));
  return room;
}

void RowRunner::run(MatrixView<const float> rows, const Context& context,
                    const std::function<void(const Block&, Workspace&)>& body) const {
  if (rows.rows() == 0) return;
  const size_t block_rows = rows_of_block(rows.rows(), context);
  const Context room = with_room(context, std::min(block_rows, rows.rows()), 1);
  parallel_blocks(room, rows.rows(), block_rows, [&](const Block& block) {
    Lease lease(*this, plan_for(block.end - block.begin, context));
    lease.feed(rows, block.begin);
    body(block, lease.workspace());
  });
}

void RowRunner::run_pairs(MatrixView<const float> rows, MatrixView<const float> reference, const Context& context,
                          const std::function<void(const Block&, Workspace&, const Workspace&)>& body) const {
  assert(reference.rows() == 1 || reference.rows() == rows.rows());
  if (rows.rows() == 0) return;
  const size_t block_rows = rows_of_block(rows.rows(), context);
  const Context room = with_room(context, std::min(block_rows, rows.rows()), 2);
  const auto run_reference = [&](Lease& lease, size_t begin) {
    lease.feed(reference, begin);
    lease.workspace().forward(context);
  };
  // One reference row gives every block of a size the same values, so all threads read those of one run. Blocks are of
  // two sizes at most: the last may be smaller.
  std::map<const SizedPlan*, std::unique_ptr<Lease>> shared;
  for (size_t begin = 0; reference.rows() == 1 && begin < rows.rows();) {
    const size_t left = rows.rows() - begin;
    const SizedPlan& plan = plan_for(std::min(block_rows, left), context);
    auto& lease = shared[&plan];
    if (lease == nullptr) {
      lease = std::make_unique<Lease>(*this, plan);
      run_reference(*lease, 0);
    }
    begin += left < block_rows ? left : left / block_rows * block_rows;
  }
  parallel_blocks(room, rows.rows(), block_rows, [&](const Block& block) {
    const SizedPlan& plan = plan_for(block.end - block.begin, context);
    Lease lease(*this, plan);
    lease.feed(rows, block.begin);
    if (const auto found = shared.find(&plan); found != shared.end()) {
      return body(block, lease.workspace(), found->second->workspace());
    }
    Lease other(*this, plan);
    run_reference(other, block.begin);
    body(block, lease.workspace(), other.workspace());
  });
}

}  // namespace assay
