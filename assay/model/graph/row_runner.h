// Runs a graph over the rows of a matrix in blocks, each on its own thread with memory that is used again.
//
// A block has as many rows as keep its values near the cache. Plans are made for blocks of a few sizes only (powers of
// two; smaller blocks are filled up with their last row). A row's bits do not depend on its block.
//
// Memory: a plan with one workspace keeps to the budget of the context (graph/plan.h), and so do all workspaces that
// run at a time. Where those of all threads would take more, fewer threads run: one at least.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/core/parallel.h"
#include "assay/data/text_codes.h"
#include "assay/model/graph/plan.h"

namespace assay {

// An input of the graph and the columns of the matrix that fill it.
struct RowInput {
  std::string value;
  OnnxElement type = OnnxElement::float32;  // as stored
  Shape row_shape = {};                     // without the batch dimension
  size_t first_column = 0;
  size_t columns = 0;
};

class RowRunner {
 public:
  // texts: what the numbers of text inputs stand for; null where there are no such inputs.
  // fixed_batch: 0, or the only number of rows that the graph accepts. reveal: its plans serve Workspace::reveal.
  RowRunner(std::shared_ptr<const Graph> graph, std::vector<RowInput> inputs, std::shared_ptr<const TextCodes> texts,
            std::vector<std::string> fetches, bool gradients, size_t fixed_batch, bool reveal = false,
            const Context& context = {});
  ~RowRunner();

  size_t block_rows() const { return block_rows_; }
  size_t block_bytes() const { return block_bytes_; }
  // Bytes that its plans hold beside workspaces, and steps that making them took.
  Budget spent() const;
  // Type, and dimensions for one row.
  const ValueInfo& fetched(size_t fetch) const { return fetched_[fetch]; }
  // Elements of a fetched value for each row.
  size_t width(size_t fetch) const { return widths_[fetch]; }
  // Whether every input is float32 and some get derivatives (those of the others are 0).
  bool differentiable() const { return differentiable_; }
  // See Plan.
  const std::string& gradient_stops_at() const { return gradient_stop_; }

  // An input error if the result of a row depends on the other rows of its batch, as in a graph that normalises over
  // the batch. Tried on a few made-up rows. Not tried for graphs that take text, for rows so large that each runs
  // alone, or when it would take more steps than the budget has.
  void check_rows_apart(const Context& context = {}) const;
  // About how many steps a forward of so many rows takes.
  uint64_t steps_of(size_t rows) const;

  // Calls body for each block with a workspace that is fed its rows; body runs it, and reads the first
  // block.end - block.begin rows of what it fetches.
  void run(MatrixView<const float> rows, const Context& context,
           const std::function<void(const Block&, Workspace&)>& body) const;
  // The same with a second workspace that has run forward on the reference rows (as many as rows, or one for all). One
  // for all is run once for each size of block, not for each block.
  void run_pairs(MatrixView<const float> rows, MatrixView<const float> reference, const Context& context,
                 const std::function<void(const Block&, Workspace&, const Workspace&)>& body) const;

 private:
  struct SizedPlan;
  class Lease;

  std::unique_ptr<SizedPlan> make_plan(size_t rows, const Context& context) const;
  const SizedPlan& plan_for(size_t rows, const Context& context) const;
  void plan_blocks(const Context& context);
  // What is fetched of these rows, run as one block; text is left out.
  std::vector<std::vector<std::byte>> results_of(MatrixView<const float> rows, const Context& context) const;
  // The context, with fewer threads if the budget has no room for so many workspaces on each thread.
  Context with_room(const Context& context, size_t block_rows, size_t workspaces) const;
  void check_rows_first(const SizedPlan& sized) const;
  size_t rows_of_block(size_t rows, const Context& context) const;

  std::shared_ptr<const Graph> graph_;
  std::vector<RowInput> inputs_;
  std::shared_ptr<const TextCodes> texts_;
  std::vector<std::string> fetches_;
  bool gradients_;
  size_t fixed_batch_;
  bool reveal_;
  size_t block_rows_ = 1;
  size_t block_bytes_ = 0;
  uint64_t row_steps_ = 0;
  std::vector<ValueInfo> fetched_;
  std::vector<size_t> widths_;
  bool differentiable_ = false;
  std::string gradient_stop_;
  mutable std::mutex mutex_;
  mutable std::map<size_t, std::unique_ptr<SizedPlan>> plans_;
};

}  // namespace assay
