#include "assay/explain/trees/tree_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "assay/core/parallel.h"
#include "assay/explain/common.h"
#include "assay/explain/trees/interventional_walk.h"
#include "assay/explain/trees/path_walk.h"
#include "assay/explain/trees/tree_selection.h"

namespace assay {
namespace {

// Of the sums of rows that are in work.
constexpr size_t kSumBytes = size_t{64} << 20;
// Rows that go through all trees together: tables come from far memory once for each such block.
constexpr size_t kFewestBlockRows = 512;
constexpr size_t kMostTreeRows = 4096;
// So few rows need so few rows of the tables that making these alone takes less time.
constexpr size_t kFewRows = 4;
// Walks take long, so threads take few rows at a time.
constexpr size_t kWalkedRows = 16;

// The trees that tables are not for.
class Walks {
 public:
  struct Scratch {
    InterventionalWalk::Scratch interventional;
    PathWalk::Scratch path;
  };

  Walks(const TreeGameView& game, const std::vector<uint32_t>& roots) {
    if (roots.empty()) return;
    if (game.references != nullptr) {
      interventional_.emplace(game.trees, roots, game.players, game.references->view());
    } else {
      path_.emplace(game.trees, roots, game.players);
    }
  }

  bool empty() const { return !interventional_ && !path_; }
  void add(std::span<const float* const> rows, size_t target, MatrixView<double> phi, Scratch& scratch) const {
    if (interventional_) interventional_->add_rows(rows, target, phi, scratch.interventional);
    if (path_) path_->add_rows(rows, target, phi, scratch.path);
  }

 private:
  std::optional<InterventionalWalk> interventional_;
  std::optional<PathWalk> path_;
};

// Which trees go which way, and which tables go together: first and last tree of each batch.
class Ways {
 public:
  // keep: whether to keep the layouts of narrow trees, which take memory, for tables that are made soon.
  Ways(const TreeGameView& game, const TreeTableLimits& limits, bool keep) : game_(game), limits_(limits) {
    std::vector<uint32_t> narrow;
    const auto roots = game.trees.roots();
    for (uint32_t t = 0; t < roots.size(); t++) {
      const size_t end = t + 1 < roots.size() ? roots[t + 1] : game.trees.nodes().size();
      auto layout = lay_out_tree(game.trees, roots[t], static_cast<uint32_t>(end), game.players, limits);
      const RankDemand demand = layout ? demand_of(roots[t], end) : RankDemand{};
      if (!layout || !ranks_fit(demand)) {
        wide_.push_back(t);
        continue;
      }
      narrow.push_back(t);
      rows_.push_back(layout->rows);
      demands_.push_back(demand);
      if (keep) layouts_[roots[t]] = std::make_shared<const TreeLayout>(*std::move(layout));
    }
    narrow_.emplace(game.trees, narrow);
  }

  const std::vector<uint32_t>& wide() const { return wide_; }

  // The batches of narrow trees for a target.
  std::vector<std::vector<SelectedTree>> batches(size_t target) const {
    std::vector<std::vector<SelectedTree>> made;
    RankDemand demand;
    size_t bytes = 0;
    for (const uint32_t t : narrow_->with_target(target)) {
      if (rows_[t] == 0) continue;
      const size_t more = rows_[t] * kTableWidth * sizeof(float);
      demand.cuts += demands_[t].cuts;
      demand.bit_tests += demands_[t].bit_tests;
      bytes += more;
      if (made.empty() || bytes > limits_.batch_bytes || !ranks_fit(demand)) {
        made.emplace_back();
        demand = demands_[t];
        bytes = more;
      }
      made.back().push_back(narrow_->trees()[t]);
    }
    return made;
  }

  std::shared_ptr<const PatternTables> tables(const std::vector<SelectedTree>& batch, size_t target,
                                              PatternTables::Filled filled, const Context& context) const {
    std::vector<SharedLayout> layouts;
    layouts.reserve(batch.size());
    for (const SelectedTree& tree : batch) {
      const auto kept = layouts_.find(tree.root);
      layouts.push_back(kept != layouts_.end() ? kept->second
                                               : std::make_shared<const TreeLayout>(*lay_out_tree(
                                                     game_.trees, tree.root, tree.end, game_.players, limits_)));
    }
    return std::make_shared<PatternTables>(game_, std::move(layouts), target, filled, context);
  }

 private:
  RankDemand demand_of(uint32_t root, size_t end) const {
    std::vector<uint32_t> branches;
    for (uint32_t v = root; v < end; v++) {
      if (!game_.trees.nodes()[v].is_leaf()) branches.push_back(v);
    }
    return rank_demand(game_.trees, branches);
  }

  const TreeGameView game_;
  const TreeTableLimits limits_;
  std::vector<uint32_t> wide_;
  std::optional<TreeSelection> narrow_;
  std::vector<size_t> rows_;  // of each narrow tree
  std::vector<RankDemand> demands_;
  std::map<uint32_t, SharedLayout> layouts_;  // by root
};

// What does not depend on the rows.
class TreeParts {
 public:
  TreeParts(const TreeGameView& game, const TreeTableLimits& limits, bool keep_layouts)
      : ways_(game, limits, keep_layouts), walks_(game, ways_.wide()) {}
  const Ways& ways() const { return ways_; }
  const Walks& walks() const { return walks_; }

 private:
  Ways ways_;
  Walks walks_;
};

std::shared_ptr<const TreeParts> parts_of(const TreeGameView& game, const TreeTableLimits& limits, Kept* kept,
                                          std::string_view name, bool keep_layouts) {
  return kept_or_made<TreeParts>(kept, fmt::format("{}: parts", name),
                                 [&] { return std::make_shared<TreeParts>(game, limits, keep_layouts); });
}

using Batches = std::vector<std::vector<SelectedTree>>;

std::shared_ptr<const Batches> batches_of(const Ways& ways, size_t target, Kept* kept, std::string_view name) {
  return kept_or_made<Batches>(kept, fmt::format("{}: batches of output {}", name, target),
                               [&] { return std::make_shared<Batches>(ways.batches(target)); });
}

// The tables of a target whose trees fit into one batch, all of them filled.
std::shared_ptr<const PatternTables> tables_of(const Ways& ways, const std::vector<SelectedTree>& batch, size_t target,
                                               Kept* kept, const Context& context, std::string_view name) {
  return kept_or_made<PatternTables>(kept, fmt::format("{}: tables of output {}", name, target),
                                     [&] { return ways.tables(batch, target, PatternTables::Filled::now, context); });
}

// The values of all rows of one target.
class TargetRun {
 public:
  TargetRun(const ExplainTask& task, const TreeParts& parts, size_t target, MatrixView<float> values,
            std::string_view name)
      : task_(task),
        ways_(parts.ways()),
        walks_(parts.walks()),
        target_(target),
        values_(values),
        name_(name),
        batches_(batches_of(ways_, target, task.kept, name)) {}

  // finished(count): of rows.
  template <class Finished>
  void run(std::span<const uint32_t> rows, const Context& context, const Finished& finished) {
    const size_t stride = PatternTables::totals_stride(task_.players.size());
    const size_t span_rows = std::max(kSumBytes / (stride * sizeof(double)), kRankRows);
    totals_.resize(std::min(span_rows, rows.size()) * stride);
    const bool kept = task_.kept != nullptr && batches_->size() == 1;
    const auto filled = rows.size() <= kFewRows ? PatternTables::Filled::when_asked_for : PatternTables::Filled::now;
    std::shared_ptr<const PatternTables> only;
    if (kept) {
      only = tables_of(ways_, (*batches_)[0], target_, task_.kept, context, name_);
    } else if (batches_->size() == 1) {
      only = ways_.tables((*batches_)[0], target_, filled, context);
    }
    for (size_t begin = 0; begin < rows.size(); begin += span_rows) {
      rows_ = rows.subspan(begin, std::min(span_rows, rows.size() - begin));
      std::fill(totals_.begin(), totals_.end(), 0.0);
      for (size_t b = 0; b < batches_->size(); b++) {
        const bool last = b + 1 == batches_->size() && walks_.empty();
        const auto tables = only != nullptr ? only : ways_.tables((*batches_)[b], target_, filled, context);
        add_tables(*tables, stride, last, context, finished);
      }
      if (batches_->empty() || !walks_.empty()) add_walks(stride, context, finished);
    }
  }

 private:
  template <class Finished>
  void add_tables(const PatternTables& tables, size_t stride, bool last, const Context& context,
                  const Finished& finished) {
    const size_t share = (rows_.size() / 16 + kRankRows - 1) / kRankRows * kRankRows;
    const size_t block_rows = std::clamp(share, kFewestBlockRows, kMostTreeRows);
    parallel_blocks(context, rows_.size(), block_rows, [&](const Block& block) {
      std::vector<const float*> pointers;
      for (size_t i = block.begin; i < block.end; i++) pointers.push_back(task_.rows.row(rows_[i]).data());
      tables.add(pointers, totals_.data() + block.begin * stride);
      if (last) store(block, stride, finished);
    });
  }

  template <class Finished>
  void add_walks(size_t stride, const Context& context, const Finished& finished) {
    ScratchPool<Walks::Scratch> pool;
    parallel_blocks(context, rows_.size(), kWalkedRows, [&](const Block& block) {
      const ScratchPool<Walks::Scratch>::Lease scratch(pool);
      context.check_cancelled();
      std::vector<const float*> pointers;
      for (size_t i = block.begin; i < block.end; i++) pointers.push_back(task_.rows.row(rows_[i]).data());
      const MatrixView<double> totals(totals_.data() + block.begin * stride, pointers.size(), task_.players.size(),
                                      stride);
      walks_.add(pointers, target_, totals, *scratch);
      store(block, stride, finished);
    });
  }

  template <class Finished>
  void store(const Block& block, size_t stride, const Finished& finished) {
    for (size_t i = block.begin; i < block.end; i++) {
      const double scale = task_.targets.term(rows_[i]).scale;
      const auto to = values_.row(rows_[i]);
      for (size_t p = 0; p < to.size(); p++) to[p] = static_cast<float>(scale * totals_[i * stride + p]);
    }
    finished(block.end - block.begin);
  }

  const ExplainTask& task_;
  const Ways& ways_;
  const Walks& walks_;
  const size_t target_;
  const MatrixView<float> values_;
  const std::string_view name_;
  const std::shared_ptr<const Batches> batches_;
  std::span<const uint32_t> rows_;  // those in work
  std::vector<double> totals_;
};

}  // namespace

std::optional<Refusal> refuses_trees(const ExplainTask& task) {
  if (auto reason = refuses_information(task)) return reason;
  const ModelInfo& info = task.model.info();
  const TreeScores* scores = task.model.tree_scores();
  if (scores == nullptr) return fmt::format("needs a model of trees, and {} is none", info.name);
  if (!scores->are_outputs()) {
    if (info.unit != OutputUnit::probability && info.unit != OutputUnit::log_odds) {
      return fmt::format(
          "explains raw scores of trees, and {} gives a function of them: use exact_shapley or kernel_shap", info.name);
    }
    return fmt::format(
        "explains raw scores of trees, and {} is explained in {}: ask for the value margin, or use "
        "exact_shapley or kernel_shap",
        info.name, info.unit == OutputUnit::probability ? "probability" : "log-odds");
  }
  if (scores->trees().adds_up()) return {};
  return fmt::format(
      "needs trees whose scores add up, and {} takes their minimum or maximum: use exact_shapley or kernel_shap",
      info.name);
}

void tree_values(const TreeGameView& game, const ExplainTask& task, const TreeTableLimits& limits,
                 MatrixView<float> values, const Context& context, std::string_view name) {
  ProgressScope progress(context, name, task.rows.rows());
  std::mutex mutex;
  const Context quiet = context.quiet();
  const auto finished = [&](size_t count) {
    const std::lock_guard lock(mutex);
    progress.advance(count);
  };
  std::map<size_t, std::vector<uint32_t>> rows_of_targets;
  for (size_t r = 0; r < task.rows.rows(); r++) {
    rows_of_targets[task.targets.term(r).output].push_back(static_cast<uint32_t>(r));
  }
  const auto parts = parts_of(game, limits, task.kept, name, task.rows.rows() <= kFewRows);
  for (const auto& [target, rows] : rows_of_targets) {
    TargetRun(task, *parts, target, values, name).run(rows, quiet, finished);
  }
}

void prepare_tree_values(const TreeGameView& game, const ExplainTask& task, const TreeTableLimits& limits,
                         const Context& context, std::string_view name) {
  const auto parts = parts_of(game, limits, task.kept, name, false);
  for (const OutputTerm& term : task.targets.terms) {
    const auto batches = batches_of(parts->ways(), term.output, task.kept, name);
    if (batches->size() != 1) continue;
    const auto made = tables_of(parts->ways(), (*batches)[0], term.output, task.kept, context, name);
    // The next ones, which are about as large, would only push out those that were just made.
    if (task.kept != nullptr && task.kept->bytes() + made->bytes() > task.kept->most_bytes()) return;
  }
}

}  // namespace assay
