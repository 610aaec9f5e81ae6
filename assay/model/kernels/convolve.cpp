// convolve: register tiles of some columns of a line by two vectors of output channels. Each step loads the vectors of
// weights once and broadcasts one element of the image for each column.
#include "assay/model/kernels/convolve.h"

#include <algorithm>
#include <array>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/model/kernels/convolve.cpp"
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
using Floats = hn::CappedTag<float, 16>;
#endif
using Vector = hn::Vec<Floats>;
constexpr size_t kLanes = hn::MaxLanes(Floats());

// The sums of a tile, two vectors of weights and a broadcast must fit in the registers: 32 of AVX-512, 16 of all
// before. (Where multiply and add are two instructions, they need one more.)
#if HWY_TARGET == HWY_AVX2
constexpr size_t kTileColumns = 6;
#elif HWY_ARCH_X86 && HWY_TARGET < HWY_AVX2
constexpr size_t kTileColumns = 12;
#else
constexpr size_t kTileColumns = 4;
#endif

// Steps between storing and loading a tile's sums again: so many rows of weights stay in the first-level cache for all
// positions.
constexpr size_t kSteps = 128;

struct ColumnTile {
  const float* image = nullptr;
  const size_t* offsets = nullptr;
  size_t steps = 0;
  const float* weights = nullptr;
  const float* start = nullptr;  // null: the sums go on from where they are
  bool leaky = false;
  float slope = 0;
  float* sums = nullptr;
};

template <size_t kColumns, size_t kVectors>
HWY_NOINLINE void convolve_tile(const ColumnTile& tile) {
  const Floats d;
  Vector sum[kColumns][kVectors];
  float* HWY_RESTRICT sums = tile.sums;
  HWY_UNROLL(16)
  for (size_t c = 0; c < kColumns; c++) {
    HWY_UNROLL(16)
    for (size_t v = 0; v < kVectors; v++) {
      sum[c][v] = hn::Load(d, tile.start != nullptr ? tile.start + v * kLanes : sums + c * kPack + v * kLanes);
    }
  }
  const float* HWY_RESTRICT weights = tile.weights;
  const float* HWY_RESTRICT image = tile.image;
  const size_t* HWY_RESTRICT offsets = tile.offsets;
  for (size_t l = 0; l < tile.steps; l++) {
    const float* HWY_RESTRICT x = image + offsets[l];
    Vector right[kVectors];
    HWY_UNROLL(16)
    for (size_t v = 0; v < kVectors; v++) right[v] = hn::Load(d, weights + v * kLanes);
    HWY_UNROLL(16)
    for (size_t c = 0; c < kColumns; c++) {
      const Vector left = hn::Set(d, x[c]);
      HWY_UNROLL(16)
      for (size_t v = 0; v < kVectors; v++) sum[c][v] = hn::MulAdd(left, right[v], sum[c][v]);
    }
    weights += kPack;
  }
  if (tile.leaky) {
    const Vector zero = hn::Zero(d);
    const Vector slope = hn::Set(d, tile.slope);
    const bool flat = tile.slope == 0;
    HWY_UNROLL(16)
    for (size_t c = 0; c < kColumns; c++) {
      HWY_UNROLL(16)
      for (size_t v = 0; v < kVectors; v++) {
        const Vector sloped = hn::IfThenElse(hn::Gt(sum[c][v], zero), sum[c][v], hn::Mul(sum[c][v], slope));
        // 0 times minus infinity is no number, but the function is 0 there.
        sum[c][v] = flat ? hn::IfThenElse(hn::Lt(sum[c][v], zero), zero, sum[c][v]) : sloped;
      }
    }
  }
  HWY_UNROLL(16)
  for (size_t c = 0; c < kColumns; c++) {
    HWY_UNROLL(16)
    for (size_t v = 0; v < kVectors; v++) hn::Store(sum[c][v], d, sums + c * kPack + v * kLanes);
  }
}

// The tiles of 1, 2, ... columns.
using ColumnTileFunction = void (*)(const ColumnTile&);
template <size_t kVectors, size_t... kColumn>
constexpr std::array<ColumnTileFunction, sizeof...(kColumn)> column_tiles(std::index_sequence<kColumn...>) {
  return {convolve_tile<kColumn + 1, kVectors>...};
}

// All positions of some output channels and steps.
template <size_t kVectors>
void convolve_lines(const Convolution& c, ColumnTile tile) {
  constexpr auto kTiles = column_tiles<kVectors>(std::make_index_sequence<kTileColumns>());
  const size_t tiles = (c.columns + kTileColumns - 1) / kTileColumns;
  for (size_t line = 0; line < c.lines; line++) {
    tile.image = c.image + line * c.line_step;
    // As even as possible: 14 columns are 7 + 7, not 12 + 2.
    for (size_t left = c.columns, count = tiles; count > 0; count--) {
      const size_t columns = (left + count - 1) / count;
      kTiles[columns - 1](tile);
      tile.image += columns;
      tile.sums += columns * kPack;
      left -= columns;
    }
  }
}

void convolve(const Convolution& c) {
  const size_t blocks = std::max<size_t>((c.steps + kSteps - 1) / kSteps, 1);
  size_t begin = 0;
  for (size_t block = 0; block < blocks; block++) {
    const size_t end = c.steps * (block + 1) / blocks;
    ColumnTile tile;
    tile.offsets = c.offsets + begin;
    tile.steps = end - begin;
    tile.leaky = c.leaky && block + 1 == blocks;
    tile.slope = c.slope;
    size_t first = 0;
    const auto channels = [&](auto vectors) HWY_ATTR {
      for (; first + vectors() * kLanes <= c.width; first += vectors() * kLanes) {
        tile.weights = c.weights + begin * kPack + first;
        tile.start = block == 0 ? c.start + first : nullptr;
        tile.sums = c.sums + first;
        convolve_lines<vectors()>(c, tile);
      }
    };
    channels(std::integral_constant<size_t, 2>());
    // 16 channels are one vector of the widest.
    if constexpr (kLanes == 16) channels(std::integral_constant<size_t, 1>());
    begin = end;
  }
}

void pool_sums(float* sums, size_t width, size_t lines, size_t columns) {
  const Floats d;
  const auto larger = [](Vector a, Vector b) HWY_ATTR {
    return hn::IfThenElse(hn::Or(hn::Gt(b, a), hn::AndNot(hn::IsNaN(a), hn::IsNaN(b))), b, a);
  };
  const size_t below = columns * kPack;
  // What is written lies before all that is still to be read.
  float* to = sums;
  for (size_t line = 0; line < lines; line += 2) {
    const float* from = sums + line * below;
    for (size_t column = 0; column < columns; column += 2, from += 2 * kPack, to += kPack) {
      for (size_t o = 0; o < width; o += kLanes) {
        const Vector upper = larger(hn::Load(d, from + o), hn::Load(d, from + kPack + o));
        const Vector left = larger(upper, hn::Load(d, from + below + o));
        hn::Store(larger(left, hn::Load(d, from + below + kPack + o)), d, to + o);
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay {
namespace {

HWY_EXPORT(convolve);
HWY_EXPORT(pool_sums);

}  // namespace

void convolve(const Convolution& c) { HWY_DYNAMIC_DISPATCH(convolve)(c); }
void pool_sums(float* sums, size_t width, size_t lines, size_t columns) {
  HWY_DYNAMIC_DISPATCH(pool_sums)(sums, width, lines, columns);
}

}  // namespace assay
#endif
