// The model engine on whole models: forward, derivatives by inputs, derivatives by inputs and weights, loading, trees.
//
// benchmarks/peers/engine.py makes the models, names their files in ASSAY_BENCH_MLP, ASSAY_BENCH_CNN and
// ASSAY_BENCH_LARGE, and measures PyTorch and onnxruntime on the same files in the same run. Without the files these
// are skipped.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "assay/core/parallel.h"
#include "assay/core/random.h"
#include "assay/model/engine_model.h"
#include "assay/model/graph/plan.h"
#include "assay/model/trees/booster.h"

namespace assay {
namespace {

std::string file_in(const char* variable) {
  const char* path = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): nobody sets it
  return path == nullptr ? "" : path;
}

Matrix uniform_rows(size_t rows, size_t columns) {
  Matrix matrix(rows, columns);
  RandomStream random(1, "engine_bench");
  for (float& value : matrix.values()) value = static_cast<float>(random.uniform() * 2 - 1);
  return matrix;
}

Context threads_of(const benchmark::State& state) {
  Context context;
  context.threads = static_cast<unsigned>(state.range(0));
  return context;
}

void forward(benchmark::State& state, const char* variable, size_t rows) {
  const std::string file = file_in(variable);
  if (file.empty()) return state.SkipWithError("no model file");
  const auto model = EngineModel::load(file);
  const Matrix x = uniform_rows(rows, model->info().features());
  Matrix y(rows, model->info().outputs());
  const Context context = threads_of(state);
  for (auto _ : state) model->predict(x.view(), y.view(), context);
}

void input_gradients(benchmark::State& state, const char* variable, size_t rows) {
  const std::string file = file_in(variable);
  if (file.empty()) return state.SkipWithError("no model file");
  const auto model = EngineModel::load(file);
  const Matrix x = uniform_rows(rows, model->info().features());
  const Matrix weights = uniform_rows(rows, model->info().outputs());
  Matrix gradients(rows, model->info().features());
  const Context context = threads_of(state);
  for (auto _ : state) model->differentiable()->gradient(x.view(), weights.view(), gradients.view(), {}, context);
}

// Blocks of rows whose derivatives by all weights are added in order.
class AllGradients {
 public:
  AllGradients(const std::string& file, size_t block_rows) : graph_(file, read_onnx(file)), block_rows_(block_rows) {
    PlanRequest request;
    Shape dims;
    for (const OnnxDimension& dim : *graph_.inputs()[0].type.dims) dims.push_back(dim.size.value_or(0));
    dims[0] = static_cast<int64_t>(block_rows);
    columns_ = element_count(dims) / block_rows;
    request.feeds.push_back({graph_.inputs()[0].name, {OnnxElement::float32, dims, nullptr}, true});
    for (size_t v = 0; v < graph_.value_count(); v++) {
      if (!graph_.is_initializer(v) || graph_.constant(v)->type() != OnnxElement::float32) continue;
      request.feeds.push_back(
          {graph_.value_name(v), {OnnxElement::float32, graph_.constant(v)->dims(), nullptr}, true});
      weights_.push_back(graph_.constant(v));
    }
    request.fetches = {graph_.outputs()[0].name};
    plan_ = std::make_unique<Plan>(graph_, request);
  }

  size_t columns() const { return columns_; }
  size_t outputs() const { return plan_->fetched(0).count() / block_rows_; }

  void run(MatrixView<const float> rows, MatrixView<const float> seeds, MatrixView<float> gradients,
           std::vector<std::vector<float>>& total, const Context& context) {
    const size_t blocks = rows.rows() / block_rows_;
    parts_.resize(blocks);
    parallel_blocks(context, rows.rows(), block_rows_, [&](const Block& block) {
      std::unique_ptr<Workspace> workspace = take();
      workspace->feed(0, rows.row(block.begin).data());
      for (size_t w = 0; w < weights_.size(); w++) workspace->feed(w + 1, weights_[w]->raw());
      workspace->forward();
      std::copy_n(seeds.row(block.begin).data(), block_rows_ * seeds.cols(),
                  static_cast<float*>(workspace->fetch_gradient(0)));
      workspace->backward();
      std::copy_n(static_cast<const float*>(workspace->feed_gradient(0)), block_rows_ * columns_,
                  gradients.row(block.begin).data());
      parts_[block.index].resize(weights_.size());
      for (size_t w = 0; w < weights_.size(); w++) {
        const auto* from = static_cast<const float*>(workspace->feed_gradient(w + 1));
        parts_[block.index][w].assign(from, from + weights_[w]->count());
      }
      const std::lock_guard lock(mutex_);
      idle_.push_back(std::move(workspace));
    });
    total = parts_[0];
    for (size_t b = 1; b < blocks; b++) {
      for (size_t w = 0; w < total.size(); w++) {
        for (size_t i = 0; i < total[w].size(); i++) total[w][i] += parts_[b][w][i];
      }
    }
  }

 private:
  std::unique_ptr<Workspace> take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return std::make_unique<Workspace>(*plan_);
    auto workspace = std::move(idle_.back());
    idle_.pop_back();
    return workspace;
  }

  Graph graph_;
  size_t block_rows_;
  size_t columns_ = 0;
  std::vector<std::shared_ptr<const Tensor>> weights_;
  std::unique_ptr<Plan> plan_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Workspace>> idle_;
  std::vector<std::vector<std::vector<float>>> parts_;
};

void all_gradients(benchmark::State& state, const char* variable, size_t rows, size_t block_rows) {
  const std::string file = file_in(variable);
  if (file.empty()) return state.SkipWithError("no model file");
  AllGradients engine(file, block_rows);
  const Matrix x = uniform_rows(rows, engine.columns());
  const Matrix seeds = uniform_rows(rows, engine.outputs());
  Matrix gradients(rows, engine.columns());
  std::vector<std::vector<float>> total;
  const Context context = threads_of(state);
  for (auto _ : state) engine.run(x.view(), seeds.view(), gradients.view(), total, context);
}

#define ENGINE_BENCHMARK(name, call)           \
  void name(benchmark::State& state) { call; } \
  BENCHMARK(name)->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond)

constexpr size_t kRows = 102400;

ENGINE_BENCHMARK(engine_mlp_forward, forward(state, "ASSAY_BENCH_MLP", kRows));
ENGINE_BENCHMARK(engine_mlp_input_gradients, input_gradients(state, "ASSAY_BENCH_MLP", kRows));
ENGINE_BENCHMARK(engine_mlp_all_gradients, all_gradients(state, "ASSAY_BENCH_MLP", kRows, 1024));
ENGINE_BENCHMARK(engine_cnn_forward, forward(state, "ASSAY_BENCH_CNN", 64));
ENGINE_BENCHMARK(engine_cnn_input_gradients, input_gradients(state, "ASSAY_BENCH_CNN", 64));
ENGINE_BENCHMARK(engine_cnn_all_gradients, all_gradients(state, "ASSAY_BENCH_CNN", 64, 4));

void engine_load(benchmark::State& state) {
  const std::string file = file_in("ASSAY_BENCH_LARGE");
  if (file.empty()) return state.SkipWithError("no model file");
  for (auto _ : state) benchmark::DoNotOptimize(EngineModel::load(file));
}
BENCHMARK(engine_load)->UseRealTime()->Unit(benchmark::kMillisecond);

// Full trees with random tests of 14 features: where a row goes is as hard to foretell as it can be.
Booster random_booster(size_t trees, size_t depth, bool categories) {
  Booster booster;
  booster.features = 14;
  TreeSource& source = booster.source;
  source.sets = {{0, 2, 5}, {1, 3}};
  RandomStream random(1, "engine_bench trees");
  const size_t branches = (size_t{1} << depth) - 1;
  for (size_t t = 0; t < trees; t++) {
    const size_t root = source.nodes.size();
    source.roots.push_back(root);
    for (size_t i = 0; i < 2 * branches + 1; i++) {
      TreeSource::Node node;
      if (i < branches) {
        const bool in_set = categories && i % 8 == 7;
        node.mode = in_set ? TreeMode::member_whole : TreeMode::less;
        node.feature = random.below(14);
        node.threshold = in_set ? random.below(2) : random.uniform() * 2 - 1;
        node.true_child = root + 2 * i + 1;
        node.false_child = root + 2 * i + 2;
      } else {
        node.first_weight = source.weights.size();
        node.weight_count = 1;
        source.weights.push_back({0, random.uniform() - 0.5});
      }
      source.nodes.push_back(node);
    }
  }
  return booster;
}

void trees_forward(benchmark::State& state, size_t depth, bool categories, size_t rows) {
  const auto model =
      EngineModel::from_onnx("trees", booster_graph("trees", random_booster(500, depth, categories)), {});
  const Matrix x = uniform_rows(rows, model->info().features());
  Matrix y(rows, model->info().outputs());
  const Context context = threads_of(state);
  for (auto _ : state) model->predict(x.view(), y.view(), context);
}

ENGINE_BENCHMARK(engine_trees_one_row, trees_forward(state, 6, false, 1));
ENGINE_BENCHMARK(engine_trees_forward, trees_forward(state, 6, false, 10000));
ENGINE_BENCHMARK(engine_deep_trees_forward, trees_forward(state, 12, false, 1000));
ENGINE_BENCHMARK(engine_category_trees_forward, trees_forward(state, 6, true, 10000));

}  // namespace
}  // namespace assay
