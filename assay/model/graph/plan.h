// A graph made ready for inputs of certain types and dimensions: kernels in order, and a place for every value.
//
// Making a plan infers all dimensions (a batch has a size by now), computes what depends on dimensions and weights
// alone, drops what nobody asks for, and fuses chains of dense layers. Running it allocates nothing: each thread brings
// a workspace. Any value of the graph can be fed, by its name, and any can be fetched. So a plan can give a margin
// inside the graph, run only the part behind the first layer, or give derivatives by weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "assay/core/context.h"
#include "assay/model/graph/graph.h"
#include "assay/model/ops/kernel.h"

namespace assay {

struct Feed {
  std::string name;
  ValueInfo info;         // with a constant: known already, not fed when the plan runs
  bool gradient = false;  // backward shall give derivatives by it
};

struct PlanRequest {
  std::vector<Feed> feeds;
  std::vector<std::string> fetches;
  bool fuse = true;
  // Whether workspaces will be made; their memory then counts. If not, only the dimensions of values are wanted, and
  // there may be more rows than fit in memory.
  bool run = true;
  // For Workspace::reveal, which needs room for the parts of all differences; nothing is fused then.
  bool reveal = false;
};

class CopiesOfWeights;
class Spending;
class Workspace;
struct PlanStep;
struct PlanValue;

class Plan {
 public:
  // An input error names the node that cannot run with these inputs, or the fetched value that does not exist. The
  // graph may go away afterwards.
  //
  // The plan and one workspace together take at most the budget's bytes. Copies of weights (transposed, or absolute
  // values) may take, in addition, twice the memory of the weights in the file. Computing what depends on dimensions
  // and weights takes at most its steps, and stops between two nodes when the context is cancelled.
  Plan(const Graph& graph, const PlanRequest& request, const Context& context = {});
  ~Plan();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  // Type and dimensions of a fetched value, which may be a constant.
  const ValueInfo& fetched(size_t fetch) const;
  // Whether backward gives derivatives by this feed: it asked for them, and a fetched value depends on it smoothly.
  bool has_gradient(size_t feed) const;
  // The name of an operator without derivatives (a tree ensemble) between a feed that asked for derivatives and a
  // fetched value, where they matter; empty if there is none.
  const std::string& gradient_stops_at() const { return gradient_stop_; }
  size_t step_count() const;
  size_t workspace_bytes() const;
  // Bytes of the plan itself: computed constants, and what its kernels hold.
  size_t held_bytes() const { return held_bytes_; }
  // Steps that computing its constants took.
  uint64_t steps_taken() const { return steps_taken_; }
  // Steps of one forward.
  uint64_t run_steps() const { return run_steps_; }

 private:
  friend class Workspace;

  void add_steps(const Graph& graph, bool run, Spending& spending, CopiesOfWeights& copies);
  void drop_unused(const std::vector<bool>& kept);
  void find_gradients(const PlanRequest& request);
  void find_parts(CopiesOfWeights& copies);
  void place(const std::vector<bool>& kept);
  void charge_workspace(Spending& spending) const;
  void count_steps();

  std::vector<PlanValue> values_;
  std::vector<PlanStep> steps_;
  std::vector<size_t> feeds_;    // values
  std::vector<size_t> fetches_;  // values
  std::vector<bool> feed_wants_gradient_;
  std::string gradient_stop_;
  bool gradients_ = false;
  bool reveals_ = false;
  size_t parts_scratch_ = 0;  // offset in the arena of room for one value, for reveal
  size_t arena_bytes_ = 0;
  size_t scratch_bytes_ = 0;
  size_t text_bytes_ = 0;
  size_t held_bytes_ = 0;
  uint64_t steps_taken_ = 0;
  uint64_t run_steps_ = 0;
};

// The memory of one run of a plan, for one thread at a time. The plan must outlive it.
class Workspace {
 public:
  explicit Workspace(const Plan& plan);
  ~Workspace();
  Workspace(Workspace&&) noexcept;
  Workspace& operator=(Workspace&&) = delete;

  // Where the elements of a feed lie, row-major; must stay valid while the plan runs.
  void feed(size_t feed, const void* elements);
  // The first dimension of the first feed.
  size_t rows_fed() const;
  // Stops between two steps when the context is cancelled.
  void forward(const Context& context = {});
  // After forward, valid until the next.
  const void* fetched(size_t fetch) const;

  // After forward of a plan with gradients: set all elements of the derivative by each fetched value. Then backward
  // gives the derivatives by feeds.
  void* fetch_gradient(size_t fetch);
  void backward();
  // DeepLift's multipliers in place of derivatives; `reference` has run forward on the reference rows.
  void rescale(const Workspace& reference);
  // The same by the RevealCancel rule, of a plan that was made for it.
  void reveal(const Workspace& reference);
  // Null when the plan has none for this feed.
  const void* feed_gradient(size_t feed) const;

 private:
  void run_backward(const Workspace* reference);
  Buffers buffers(size_t step) const;
  void zero_gradients();
  // For reveal. places: where these values lie; null for those that have no place.
  std::vector<const void*> absolute_inputs(size_t step) const;
  std::vector<void*> places(const std::vector<size_t>& values, size_t PlanValue::* place) const;
  void spread_parts(const Workspace& reference, size_t step);
  void pull_back_parts(const Workspace& reference, size_t step);

  const Plan* plan_;
  std::unique_ptr<std::byte, void (*)(void*)> arena_;
  std::vector<Tensor> texts_;
  std::vector<void*> values_;     // where each value lies
  std::vector<void*> gradients_;  // and its derivative; null without
  // Pointers as the kernels take them, all steps in one row, and where each step's begin.
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_;
  std::vector<const void*> output_gradients_;
  std::vector<void*> input_gradients_;
};

}  // namespace assay
