// Products of matrices, one thread, beside the machine's own speed: "flops" is the rate, "share" that of `peak`, which
// is measured here with the same vectors. ASSAY_BENCH_TARGET=AVX2 measures another vector target.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <string>

#include "assay/core/random.h"
#include "assay/core/vector_target.h"
#include "assay/model/kernels/elementwise.h"
#include "assay/model/kernels/products.h"
#include "assay/model/ops/node_setup.h"
#include "assay/model/ops/operators.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "benchmarks/products_bench.cpp"
#include <hwy/foreach_target.h>
// foreach_target must come before highway.
#include <hwy/aligned_allocator.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Floating-point operations of `steps` steps of 12 independent chains, enough to hide the latency of every CPU so far.
size_t multiply_add(size_t steps, float factor, float* result) {
  const hn::ScalableTag<float> d;
  using Vector = hn::Vec<decltype(d)>;
  const Vector x = hn::Set(d, factor);
  const Vector y = hn::Set(d, 1e-7F);
  // All different, or the compiler would compute one for all.
  Vector s0 = x, s1 = hn::Add(s0, x), s2 = hn::Add(s1, x), s3 = hn::Add(s2, x), s4 = hn::Add(s3, x),
         s5 = hn::Add(s4, x), s6 = hn::Add(s5, x), s7 = hn::Add(s6, x), s8 = hn::Add(s7, x), s9 = hn::Add(s8, x),
         s10 = hn::Add(s9, x), s11 = hn::Add(s10, x);
  for (size_t i = 0; i < steps; i++) {
    s0 = hn::MulAdd(s0, x, y);
    s1 = hn::MulAdd(s1, x, y);
    s2 = hn::MulAdd(s2, x, y);
    s3 = hn::MulAdd(s3, x, y);
    s4 = hn::MulAdd(s4, x, y);
    s5 = hn::MulAdd(s5, x, y);
    s6 = hn::MulAdd(s6, x, y);
    s7 = hn::MulAdd(s7, x, y);
    s8 = hn::MulAdd(s8, x, y);
    s9 = hn::MulAdd(s9, x, y);
    s10 = hn::MulAdd(s10, x, y);
    s11 = hn::MulAdd(s11, x, y);
  }
  const Vector low = hn::Add(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)), hn::Add(s4, s5));
  const Vector high = hn::Add(hn::Add(hn::Add(s6, s7), hn::Add(s8, s9)), hn::Add(s10, s11));
  *result = hn::GetLane(hn::Add(low, high));
  return steps * 12 * 2 * hn::Lanes(d);
}

}  // namespace HWY_NAMESPACE
}  // namespace assay
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay {
namespace {

HWY_EXPORT(multiply_add);

// Before any benchmark runs.
const bool kPinned = [] {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): before main
  if (const char* target = std::getenv("ASSAY_BENCH_TARGET")) pin_vector_target(target);
  return true;
}();

// Of this thread's own time, for other processes share the machine.
double seconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The best of many short runs.
double peak_flops() {
  static const double peak = [] {
    double best = 0;
    for (int run = 0; run < 200; run++) {
      float result = 0;
      const double start = seconds();
      const size_t operations = HWY_DYNAMIC_DISPATCH(multiply_add)(100000, 0.999999F, &result);
      best = std::max(best, static_cast<double>(operations) / (seconds() - start));
      benchmark::DoNotOptimize(result);
    }
    return best;
  }();
  return peak;
}

// Aligned as the engine's buffers are.
hwy::AlignedFreeUniquePtr<float[]> numbers(size_t count, uint64_t seed) {
  RandomStream random(seed, "products_bench");
  auto values = hwy::AllocateAligned<float>(count);
  for (size_t i = 0; i < count; i++) values[i] = static_cast<float>(random.normal());
  return values;
}

// Runs `work`, which does so many operations, and reports the rate of the fastest of short batches beside the mean one.
template <class Work>
void measure(benchmark::State& state, double operations, const Work& work) {
  const double peak = peak_flops();
  // Long enough for the clock.
  const auto repeats = static_cast<int>(std::max(1.0, 4e6 / operations));
  double best = 0;
  for (auto _ : state) {
    const double start = seconds();
    for (int repeat = 0; repeat < repeats; repeat++) {
      work();
      benchmark::ClobberMemory();
    }
    best = std::max(best, repeats * operations / (seconds() - start));
  }
  state.SetLabel(vector_target());
  state.counters["flops"] = best;
  state.counters["share"] = best / peak;
  state.counters["best_seconds"] = operations / best;
}

void peak(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(peak_flops());
  state.SetLabel(vector_target());
  state.counters["flops"] = peak_flops();
}
BENCHMARK(peak)->Iterations(1);

void product(benchmark::State& state, size_t m, size_t k, size_t n, bool swapped) {
  const auto a = numbers(m * k, 1);
  const auto b = numbers(k * n, 2);
  const auto out = numbers(m * n, 3);
  Product p;
  p.m = m;
  p.n = n;
  p.k = k;
  p.a = a.get();
  p.a_row = swapped ? 1 : k;
  p.a_col = swapped ? m : 1;
  p.b = b.get();
  p.b_row = n;
  p.out = out.get();
  p.out_row = n;
  measure(state, 2.0 * static_cast<double>(m * n * k), [&] { assay::product(p); });
}
BENCHMARK_CAPTURE(product, mlp_40x14x256, 40, 14, 256, false);
BENCHMARK_CAPTURE(product, mlp_40x14x128, 40, 14, 128, false);
BENCHMARK_CAPTURE(product, mlp_2x40x256, 2, 40, 256, false);
BENCHMARK_CAPTURE(product, mlp_back_40x2x256, 40, 2, 256, true);
BENCHMARK_CAPTURE(product, mlp_back_14x40x256, 14, 40, 256, true);
BENCHMARK_CAPTURE(product, conv_32x25x576, 32, 25, 576, false);
BENCHMARK_CAPTURE(product, conv_64x800x64, 64, 800, 64, false);
BENCHMARK_CAPTURE(product, conv_back_25x32x576, 25, 32, 576, true);
BENCHMARK_CAPTURE(product, conv_back_800x64x64, 800, 64, 64, true);
BENCHMARK_CAPTURE(product, dense_256x1024x128, 256, 1024, 128, false);
BENCHMARK_CAPTURE(product, square_512, 512, 512, 512, false);

void product_of_rows(benchmark::State& state, size_t m, size_t k, size_t n) {
  const auto a = numbers(m * k, 1);
  const auto b = numbers(k * n, 2);
  const auto out = numbers(m * n, 3);
  ProductOfRows p;
  p.m = m;
  p.n = n;
  p.k = k;
  p.a = a.get();
  p.a_row = k;
  p.b = b.get();
  p.b_row = k;
  p.out = out.get();
  p.out_row = n;
  measure(state, 2.0 * static_cast<double>(m * n * k), [&] { assay::product_of_rows(p); });
}
BENCHMARK_CAPTURE(product_of_rows, mlp_40x256x14, 40, 256, 14);
BENCHMARK_CAPTURE(product_of_rows, mlp_2x256x40, 2, 256, 40);
BENCHMARK_CAPTURE(product_of_rows, conv_32x576x25, 32, 576, 25);
BENCHMARK_CAPTURE(product_of_rows, conv_64x64x800, 64, 64, 800);
BENCHMARK_CAPTURE(product_of_rows, batch_40x32x14, 40, 32, 14);

// "items_per_second" are elements.
void transpose(benchmark::State& state, size_t rows, size_t cols) {
  const auto in = numbers(rows * cols, 1);
  const auto out = numbers(rows * cols, 3);
  for (auto _ : state) {
    assay::transpose(in.get(), cols, rows, cols, out.get(), rows);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * rows * cols));
  state.SetLabel(vector_target());
}
BENCHMARK_CAPTURE(transpose, 256x14, 256, 14);
BENCHMARK_CAPTURE(transpose, 2x256, 2, 256);
BENCHMARK_CAPTURE(transpose, 800x64, 800, 64);

void leaky(benchmark::State& state) {
  constexpr size_t kCount = size_t{40} * 256;
  const auto x = numbers(kCount, 1);
  const auto y = numbers(kCount, 2);
  for (auto _ : state) {
    leaky_relu(x.get(), y.get(), 0.01F, kCount);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kCount));
}
BENCHMARK(leaky);

// The convolutions of the paper's network for MNIST, a batch of 64 images: with weights that change, as in training, by
// patches; or with constant ones, and the ReLU and pooling behind them.
enum class ConvWork { forward, backward, pooled };
void conv(benchmark::State& state, int64_t channels, int64_t side, int64_t outputs, ConvWork work) {
  const bool backward = work == ConvWork::backward;
  constexpr int64_t kImages = 64;
  constexpr int64_t kKernel = 5;
  OnnxNode node;
  node.op_type = "Conv";
  node.inputs = {"x", "w", "b"};
  node.outputs = {"y"};
  const Shape weights = {outputs, channels, kKernel, kKernel};
  std::shared_ptr<const Tensor> constant;
  if (work == ConvWork::pooled) {
    constant = std::make_shared<Tensor>(Tensor::of<float>(weights, std::vector<float>(element_count(weights), 0.01F)));
  }
  const ValueInfo infos[] = {{OnnxElement::float32, {kImages, channels, side, side}},
                             {OnnxElement::float32, weights, constant},
                             {OnnxElement::float32, {outputs}}};
  NodeSetup setup(node, 17, "bench", {&infos[0], &infos[1], &infos[2]}, size_t{1} << 30);
  std::shared_ptr<const Kernel> kernel = find_operator("", "Conv")->make(setup);
  if (work == ConvWork::pooled) kernel = kernel->with_leaky(0)->with_pooled_squares();
  const auto x = numbers(infos[0].count(), 1);
  const auto w = numbers(infos[1].count(), 2);
  const auto b = numbers(infos[2].count(), 3);
  const auto y = numbers(setup.outputs()[0]->count(), 4);
  const auto dx = numbers(infos[0].count(), 5);
  const auto dw = numbers(infos[1].count(), 6);
  const auto db = numbers(infos[2].count(), 7);
  const auto scratch = hwy::AllocateAligned<std::byte>(kernel->scratch_bytes());
  const void* const inputs[] = {x.get(), w.get(), b.get()};
  void* const values[] = {y.get()};
  const void* const outer[] = {y.get()};
  void* const gradients[] = {dx.get(), dw.get(), db.get()};
  const Buffers buffers = {inputs, values, nullptr, scratch.get()};
  const double forward_operations =
      2.0 * static_cast<double>(setup.outputs()[0]->count()) * static_cast<double>(channels * kKernel * kKernel);
  measure(state, backward ? 2 * forward_operations : forward_operations, [&] {
    if (backward) {
      kernel->backward(buffers, {outer, gradients});
    } else {
      kernel->forward(buffers);
    }
  });
}
BENCHMARK_CAPTURE(conv, first_forward, 1, 28, 32, ConvWork::forward);
BENCHMARK_CAPTURE(conv, first_backward, 1, 28, 32, ConvWork::backward);
BENCHMARK_CAPTURE(conv, first_pooled, 1, 28, 32, ConvWork::pooled);
BENCHMARK_CAPTURE(conv, second_forward, 32, 12, 64, ConvWork::forward);
BENCHMARK_CAPTURE(conv, second_backward, 32, 12, 64, ConvWork::backward);
BENCHMARK_CAPTURE(conv, second_pooled, 32, 12, 64, ConvWork::pooled);

// What pooling costs where it is a pass of its own, 2 x 2 and without the winners that derivatives need; an operation
// is a comparison.
void pool(benchmark::State& state, int64_t channels, int64_t side) {
  constexpr int64_t kImages = 64;
  OnnxNode node;
  node.op_type = "MaxPool";
  node.inputs = {"x"};
  node.outputs = {"y"};
  for (const char* name : {"kernel_shape", "strides"}) {
    OnnxAttribute& attribute = node.attributes.emplace_back();
    attribute.name = name;
    attribute.kind = OnnxAttributeKind::ints;
    attribute.ints = {2, 2};
  }
  const ValueInfo info = {OnnxElement::float32, {kImages, channels, side, side}};
  NodeSetup setup(node, 17, "bench", {&info}, size_t{1} << 30, false);
  const auto kernel = find_operator("", "MaxPool")->make(setup);
  const auto x = numbers(info.count(), 1);
  const auto y = numbers(setup.outputs()[0]->count(), 2);
  const auto winners = hwy::AllocateAligned<std::byte>(kernel->state_bytes());
  const void* const inputs[] = {x.get()};
  void* const values[] = {y.get()};
  const Buffers buffers = {inputs, values, winners.get(), nullptr};
  measure(state, 3.0 * static_cast<double>(setup.outputs()[0]->count()), [&] { kernel->forward(buffers); });
}
BENCHMARK_CAPTURE(pool, first, 32, 24);
BENCHMARK_CAPTURE(pool, second, 64, 8);

}  // namespace
}  // namespace assay
#endif
