#include "assay/explain/paths/leaky_paths.h"

#include <algorithm>
#include <cassert>
#include <span>
#include <vector>

#include "assay/core/parallel.h"
#include "assay/explain/common.h"
#include "assay/explain/kernels/row_loops.h"
#include "assay/model/kernels/products.h"

namespace assay {
namespace {

// Entries, slopes and gradients of a block stay in the second-level cache.
constexpr size_t kBlockBytes = size_t{256} << 10;
constexpr size_t kMostPathRows = 256;

class LeakyPaths {
 public:
  LeakyPaths(const AffineEntry& entry, const ExplainTask& task)
      : task_(task),
        entry_(entry),
        slope_(entry.leaky_tail()->slope),
        hidden_(entry.bias().size()),
        turned_(hidden_, task.rows.cols()),
        heads_(task.targets.terms.size(), hidden_),
        references_(task.reference.rows.rows(), hidden_) {
    const MatrixView<const float> weights = entry.weights();
    transpose(weights.data(), weights.stride(), weights.rows(), weights.cols(), turned_.data(), turned_.cols());
    const MatrixView<const float> tail = entry.leaky_tail()->weights;
    for (size_t t = 0; t < task.targets.terms.size(); t++) {
      const OutputTerm& term = task.targets.terms[t];
      const std::span<float> head = heads_.row(t);
      for (size_t j = 0; j < head.size(); j++) head[j] = term.scale * tail(j, term.output);
    }
    find_entries(task.reference.rows.view(), references_.view());
  }

  size_t block_rows() const {
    const size_t bytes = std::max<size_t>((2 * hidden_ + task_.rows.cols()) * sizeof(float), 1);
    return std::clamp<size_t>(kBlockBytes / bytes, 8, kMostPathRows);
  }

  void run(const Block& block, Attributions& out) const {
    const size_t count = block.end - block.begin;
    const size_t columns = task_.rows.cols();
    const MatrixView<const float> rows = task_.rows.rows_between(block.begin, block.end);
    const bool in_place = references_.rows() == 1 && task_.players.are_columns();
    Matrix entries(count, hidden_);
    Matrix slopes(count, hidden_);
    Matrix scratch(in_place ? 0 : count, in_place ? 0 : columns);
    const MatrixView<float> gradients = in_place ? out.values.rows_between(block.begin, block.end) : scratch.view();
    std::vector<VectorMoments> moments(in_place ? 0 : count,
                                       VectorMoments(task_.players.size(), task_.reference.strata));
    std::vector<double> values(task_.players.size());
    find_entries(rows, entries.view());
    for (size_t b = 0; b < references_.rows(); b++) {
      for (size_t i = 0; i < count; i++) {
        const float* head = heads_.row(task_.targets.of_row[block.begin + i]).data();
        weighted_mean_slopes(references_.row(b).data(), entries.row(i).data(), head, slope_, hidden_,
                             slopes.row(i).data());
      }
      product({.m = count,
               .n = columns,
               .k = hidden_,
               .a = slopes.data(),
               .a_row = hidden_,
               .b = turned_.data(),
               .b_row = columns,
               .out = gradients.data(),
               .out_row = gradients.stride()});
      const float* reference = task_.reference.rows.row(b).data();
      for (size_t i = 0; i < count; i++) {
        const float* row = rows.row(i).data();
        float* gradient = gradients.row(i).data();
        if (in_place) {
          multiply_by_way(reference, row, columns, gradient);
          continue;
        }
        std::fill(values.begin(), values.end(), 0.0);
        for (size_t c = 0; c < columns; c++) {
          values[task_.players.of_column[c]] += static_cast<double>(gradient[c]) * (row[c] - reference[c]);
        }
        moments[i].add(values);
      }
    }
    for (size_t i = 0; i < moments.size(); i++) {
      const std::span<float> errors =
          out.background_error.empty() ? std::span<float>() : out.background_error.row(block.begin + i);
      moments[i].store(out.values.row(block.begin + i), errors);
    }
  }

 private:
  void find_entries(MatrixView<const float> rows, MatrixView<float> entries) const {
    const std::span<const float> bias = entry_.bias();
    for (size_t i = 0; i < rows.rows(); i++) std::copy(bias.begin(), bias.end(), entries.row(i).begin());
    const MatrixView<const float> weights = entry_.weights();
    product({.m = rows.rows(),
             .n = hidden_,
             .k = rows.cols(),
             .a = rows.data(),
             .a_row = rows.stride(),
             .b = weights.data(),
             .b_row = weights.stride(),
             .accumulate = true,
             .out = entries.data(),
             .out_row = entries.stride()});
  }

  const ExplainTask& task_;
  const AffineEntry& entry_;
  float slope_;
  size_t hidden_;
  Matrix turned_;      // hidden x features
  Matrix heads_;       // for each target, scale * what the tail gives each entry
  Matrix references_;  // the entries of each reference row
};

}  // namespace

void integrate_leaky_paths(const AffineEntry& entry, const ExplainTask& task, Attributions& out,
                           const Context& context) {
  assert(entry.leaky_tail());
  const LeakyPaths paths(entry, task);
  const size_t references = task.reference.rows.rows();
  if (references > 1) out.background_error = Matrix(task.rows.rows(), task.players.size());
  parallel_blocks(
      context, task.rows.rows(), paths.block_rows(), [&](const Block& block) { paths.run(block, out); },
      "integrated_gradients");
  out.evaluations += task.rows.rows() * references + references;
}

}  // namespace assay
