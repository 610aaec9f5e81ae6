// The vector loops of games/tree_game.cpp. Sums of quanta are whole numbers modulo 2^64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace assay {

// table[m] = the sum of table[s] over all s whose bits are among those of m, for all m below 2^bits.
void sum_over_subsets(uint64_t* table, size_t bits);

// Transposes a 64 x 64 matrix of bits: bit i of columns[j * stride] = bit j of rows[i].
void transpose_bits(const uint64_t* rows, uint64_t* columns, size_t stride);

// Bit j of index[i] = bit i of the bits that begin at has[players[j] * stride]. At most 16 players. index has room for
// `count` rounded up to a multiple of 64.
void write_indices(const uint64_t* has, size_t stride, std::span<const uint32_t> players, size_t count,
                   uint16_t* index);

// sums[i] += table[index[i]].
void add_entries(const uint64_t* table, const uint16_t* index, size_t count, uint64_t* sums);

// scores[i * stride] = float32 of (sum[i], taken as signed, * quantum) / divisor + base.
void write_scores(const uint64_t* sums, size_t count, double quantum, double divisor, double base, float* scores,
                  size_t stride);

}  // namespace assay
