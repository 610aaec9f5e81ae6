// product: register tiles of a few rows by a few vectors. Each step of the inner dimension loads the vectors of B once
// and broadcasts one element of A for each row.
#include "assay/model/kernels/products.h"

#include <algorithm>
#include <array>
#include <utility>

#include "assay/model/kernels/layer_product.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/model/kernels/products.cpp"
#include <hwy/foreach_target.h>
// foreach_target must come before highway.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_HAVE_SCALABLE
using Floats = hn::CappedTag<float, 4>;
#else
using Floats = hn::ScalableTag<float>;
#endif
using OneFloat = hn::CappedTag<float, 1>;
constexpr size_t kLanes = hn::MaxLanes(Floats());

// The sums of a tile, two vectors of B and a broadcast must fit in the registers: 32 of AVX-512, 16 of all before.
// (Where multiply and add are two instructions, they need one more.)
#if HWY_TARGET == HWY_AVX2
constexpr size_t kTileRows = 6;
constexpr bool kMasks = true;
#elif HWY_ARCH_X86 && HWY_TARGET < HWY_AVX2
constexpr size_t kTileRows = 8;
constexpr bool kMasks = true;
#else
constexpr size_t kTileRows = 4;
constexpr bool kMasks = false;  // a masked load may read beyond the row
#endif

// Steps of the inner dimension between storing and loading a tile's sums again: two vectors from so many rows of B stay
// in the first-level cache for all rows of A.
constexpr size_t kSteps = 128;

// Rows of B at a distance like this fall on few lines of the cache and push each other out. Copying a panel pays where
// it is used often enough.
constexpr size_t kFarRows = 256;
constexpr size_t kManySteps = 32;
constexpr size_t kManyRows = 32;

// Few rows leave registers for more vectors, and need them to keep the multipliers busy.
constexpr size_t kFewRows = 2;
constexpr size_t kWideVectors = HWY_ARCH_X86 && HWY_TARGET < HWY_AVX2 ? 8 : 4;

struct Tile {
  const float* a = nullptr;
  size_t a_row = 0, a_col = 0;
  const float* b = nullptr;
  size_t b_row = 0;
  size_t k = 0;
  const float* bias = nullptr;
  bool accumulate = false;
  float* out = nullptr;
  size_t out_row = 0;
  size_t columns = 0;  // of a partial tile
  bool leaky = false;
  float slope = 0;
  float* before = nullptr;
  const float* gate = nullptr;
};

// Partial: one vector, of which only the first `columns` lanes are there.
template <class D, size_t kRows, size_t kVectors, bool kPartial>
HWY_NOINLINE void compute_tile(const Tile& tile) {
  const D d;
  using Vector = hn::Vec<D>;
  const size_t lanes = hn::Lanes(d);
  const size_t a_row = tile.a_row;
  const size_t out_row = tile.out_row;
  const auto mask = hn::FirstN(d, kPartial ? tile.columns : lanes);
  const auto load = [&](const float* at) HWY_ATTR {
    if constexpr (kPartial) return hn::MaskedLoad(mask, d, at);
    return hn::LoadU(d, at);
  };
  Vector sum[kRows][kVectors];
  float* HWY_RESTRICT out = tile.out;
  HWY_UNROLL(16)
  for (size_t i = 0; i < kRows; i++) {
    HWY_UNROLL(16)
    for (size_t j = 0; j < kVectors; j++) {
      if (tile.accumulate) {
        sum[i][j] = load(out + i * out_row + j * lanes);
      } else {
        sum[i][j] = tile.bias != nullptr ? hn::Set(d, tile.bias[i]) : hn::Zero(d);
      }
    }
  }
  const float* HWY_RESTRICT a = tile.a;
  const float* HWY_RESTRICT b = tile.b;
  for (size_t l = tile.k; l > 0; l--) {
    Vector right[kVectors];
    HWY_UNROLL(16)
    for (size_t j = 0; j < kVectors; j++) right[j] = load(b + j * lanes);
    HWY_UNROLL(16)
    for (size_t i = 0; i < kRows; i++) {
      const Vector left = hn::Set(d, a[i * a_row]);
      HWY_UNROLL(16)
      for (size_t j = 0; j < kVectors; j++) sum[i][j] = hn::MulAdd(left, right[j], sum[i][j]);
    }
    a += tile.a_col;
    b += tile.b_row;
  }
  const auto each = [&](const auto& body) HWY_ATTR {
    HWY_UNROLL(16)
    for (size_t i = 0; i < kRows; i++) {
      HWY_UNROLL(16)
      for (size_t j = 0; j < kVectors; j++) body(sum[i][j], i * out_row + j * lanes);
    }
  };
  const auto store = [&](Vector values, float* at) HWY_ATTR {
    if constexpr (kPartial) {
      hn::BlendedStore(values, mask, d, at);
    } else {
      hn::StoreU(values, d, at);
    }
  };
  const Vector zero = hn::Zero(d);
  const Vector slope = hn::Set(d, tile.slope);
  if (tile.before != nullptr) each([&](Vector& y, size_t at) HWY_ATTR { store(y, tile.before + at); });
  if (tile.leaky && tile.slope > 0 && tile.slope <= 1) {
    each([&](Vector& y, size_t) HWY_ATTR { y = hn::Max(hn::Mul(y, slope), y); });
  } else if (tile.leaky && tile.slope == 0) {
    // 0 times minus infinity is no number, but the function is 0 there.
    each([&](Vector& y, size_t) HWY_ATTR { y = hn::IfThenElse(hn::Lt(y, zero), zero, y); });
  } else if (tile.leaky) {
    each([&](Vector& y, size_t) HWY_ATTR { y = hn::IfThenElse(hn::Gt(y, zero), y, hn::Mul(y, slope)); });
  }
  if (tile.gate != nullptr) {
    each([&](Vector& y, size_t at)
             HWY_ATTR { y = hn::IfThenElse(hn::Gt(load(tile.gate + at), zero), y, hn::Mul(y, slope)); });
  }
  each([&](Vector& y, size_t at) HWY_ATTR { store(y, out + at); });
}

// The tiles of 1, 2, ... rows.
using TileFunction = void (*)(const Tile&);
template <class D, size_t kVectors, bool kPartial, size_t... kRow>
constexpr std::array<TileFunction, sizeof...(kRow)> tiles_of(std::index_sequence<kRow...>) {
  return {compute_tile<D, kRow + 1, kVectors, kPartial>...};
}
template <class D, size_t kVectors, size_t kMostRows = kTileRows, bool kPartial = false>
constexpr auto kTiles = tiles_of<D, kVectors, kPartial>(std::make_index_sequence<kMostRows>());

// All rows of some columns.
void compute_panel(const TileFunction* functions, size_t m, Tile tile) {
  const size_t count = (m + kTileRows - 1) / kTileRows;
  for (size_t left = m, tiles = count; tiles > 0; tiles--) {
    // As even as possible: 14 rows are 7 + 7, not 8 + 6.
    const size_t rows = (left + tiles - 1) / tiles;
    functions[rows - 1](tile);
    tile.a += rows * tile.a_row;
    tile.out += rows * tile.out_row;
    if (tile.before != nullptr) tile.before += rows * tile.out_row;
    if (tile.gate != nullptr) tile.gate += rows * tile.out_row;
    if (tile.bias != nullptr) tile.bias += rows;
    left -= rows;
  }
}

// The rows of a panel of two vectors, next to each other.
void copy_panel(const Tile& tile, float* HWY_RESTRICT copy) {
  const Floats d;
  for (size_t l = 0; l < tile.k; l++) {
    hn::Store(hn::LoadU(d, tile.b + l * tile.b_row), d, copy + 2 * l * kLanes);
    hn::Store(hn::LoadU(d, tile.b + l * tile.b_row + kLanes), d, copy + (2 * l + 1) * kLanes);
  }
}

void layer_product(const LayerProduct& layer) {
  const Product& p = layer.product;
  HWY_ALIGN float copy[kSteps * 2 * kLanes];
  if (p.m == 0 || p.n == 0) return;
  const size_t blocks = std::max<size_t>((p.k + kSteps - 1) / kSteps, 1);
  size_t begin = 0;
  for (size_t block = 0; block < blocks; block++) {
    const size_t end = p.k * (block + 1) / blocks;
    Tile tile;
    tile.a_row = p.a_row;
    tile.a_col = p.a_col;
    tile.k = end - begin;
    tile.bias = p.bias;
    tile.accumulate = p.accumulate || block > 0;
    tile.out_row = p.out_row;
    const bool last = block + 1 == blocks;
    tile.leaky = p.leaky && last;
    tile.slope = p.slope;
    const auto panel = [&](const auto& functions, size_t j, size_t columns, float* copy_to = nullptr) {
      tile.a = p.a + begin * p.a_col;
      tile.b = p.b + begin * p.b_row + j;
      tile.b_row = p.b_row;
      if (copy_to != nullptr) {
        copy_panel(tile, copy_to);
        tile.b = copy_to;
        tile.b_row = columns;
      }
      tile.out = p.out + j;
      tile.before = last && layer.before != nullptr ? layer.before + j : nullptr;
      tile.gate = last && layer.gate != nullptr ? layer.gate + j : nullptr;
      tile.columns = columns;
      compute_panel(functions.data(), p.m, tile);
    };
    size_t j = 0;
    if (p.m <= kFewRows) {
      constexpr size_t kWidth = kWideVectors * kLanes;
      for (; j + kWidth <= p.n; j += kWidth) panel(kTiles<Floats, kWideVectors, kFewRows>, j, kWidth);
    }
    const bool copies = p.b_row >= kFarRows && p.m >= kManyRows && tile.k >= kManySteps;
    for (; j + 2 * kLanes <= p.n; j += 2 * kLanes) panel(kTiles<Floats, 2>, j, 2 * kLanes, copies ? copy : nullptr);
    for (; j + kLanes <= p.n; j += kLanes) panel(kTiles<Floats, 1>, j, kLanes);
    if constexpr (kMasks) {
      if (j < p.n) panel(kTiles<Floats, 1, kTileRows, true>, j, p.n - j);
    } else {
      for (; j < p.n; j++) panel(kTiles<OneFloat, 1>, j, 1);
    }
    begin = end;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay {
namespace {

HWY_EXPORT(layer_product);

}  // namespace

void product(const Product& p) { HWY_DYNAMIC_DISPATCH(layer_product)({p}); }
void product(const LayerProduct& p) { HWY_DYNAMIC_DISPATCH(layer_product)(p); }

}  // namespace assay
#endif
