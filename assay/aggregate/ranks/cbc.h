// Orders of a tournament's players by COIN-OR's CBC, through a plugin.
//
// CBC and its libraries are large and few rows need them, so libassay does not link them. The plugin libassay_cbc.so
// does. It is loaded when the first row needs it, from where all plugins are (assay/data/io/plugin.h). The interface is
// a versioned C table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "assay/aggregate/ranks/tournament.h"
#include "assay/core/context.h"

extern "C" {

#define ASSAY_ORDER_PLUGIN_VERSION 1

// A tournament of `size` players. margin[i * size + j] = -margin[j * size + i]; if positive, it is the cost of putting
// j before i.
struct AssayOrderTask {
  size_t size;
  const int64_t* margin;
  const uint32_t* start;          // an order to improve on
  double seconds;                 // time limit; the best order found by then is the answer
  int (*stopped)(void* context);  // not 0: stop now
  void* context;
};

struct AssayOrderAnswer {
  uint32_t* order;  // room for `size` players: the best order found
  double bound;     // no order costs less than this
};

// What a plugin offers. `order` returns 0 on success. On failure it writes a message to `error`, of at most error_size
// bytes including the final zero byte. It may be called from several threads at once.
struct AssayOrderPlugin {
  uint32_t version;  // ASSAY_ORDER_PLUGIN_VERSION of the header it was compiled with; always the first field
  const char* name;  // for messages: "CBC 2.10.8"
  int (*order)(const AssayOrderTask* task, AssayOrderAnswer* answer, char* error, size_t error_size);
};

// What the plugin exports under the name assay_order_plugin_v1.
typedef const AssayOrderPlugin* (*AssayOrderPluginEntry)(void);
}

namespace assay {

struct CbcPlugin {
  const AssayOrderPlugin* table = nullptr;
  std::string missing = {};  // why there is none and how to get it, as the end of a sentence
};

CbcPlugin find_cbc();

// Why this library cannot call the table; nothing when it can. `file` is where it came from.
std::string order_plugin_fault(const AssayOrderPlugin* plugin, const std::string& file);

struct BoundedOrder {
  std::vector<uint32_t> order;
  int64_t upsets = 0;
  int64_t bound = 0;  // equal to upsets where the order is proven best
};

// The best order that CBC finds within `seconds`, never worse than `start`. It runs on one thread. The result depends
// only on the arguments, unless time runs out: then on the machine too.
BoundedOrder order_by_cbc(const AssayOrderPlugin& plugin, const Tournament& tournament, std::span<const uint32_t> start,
                          double seconds, const Context& context);

}  // namespace assay
