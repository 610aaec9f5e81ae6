#include "assay/aggregate/ranks/cbc.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/data/io/plugin.h"

namespace assay {
namespace {

constexpr const char* kPluginFile = "libassay_cbc.so";
constexpr const char* kPluginEntry = "assay_order_plugin_v1";
constexpr size_t kErrorSize = 1024;

[[noreturn]] void fail_cbc(const AssayOrderPlugin& plugin, std::string_view what) {
  throw Error(ErrorKind::internal, fmt::format("{} in the CBC plugin failed: {}", one_line(plugin.name), what));
}

bool is_order(std::span<const uint32_t> order) {
  std::vector<bool> seen(order.size(), false);
  for (const uint32_t player : order) {
    if (player >= order.size() || seen[player]) return false;
    seen[player] = true;
  }
  return true;
}

}  // namespace

std::string order_plugin_fault(const AssayOrderPlugin* plugin, const std::string& file) {
  if (plugin == nullptr) return fmt::format("{} is an empty plugin", file);
  if (plugin->version != ASSAY_ORDER_PLUGIN_VERSION) {
    return fmt::format("{} is of version {} instead of {}; build it again with the library", file, plugin->version,
                       ASSAY_ORDER_PLUGIN_VERSION);
  }
  if (plugin->name == nullptr || plugin->order == nullptr) return fmt::format("{} cannot order anything", file);
  return {};
}

CbcPlugin find_cbc() {
  const FoundPlugin found = find_plugin(kPluginFile, kPluginEntry);
  if (found.file.empty()) {
    return {.missing =
                fmt::format("{} is not in {}; Assay builds it where the Debian package coinor-libcbc-dev is "
                            "installed, and the variable ASSAY_PLUGIN_DIR names the folder it is in",
                            kPluginFile, found.looked.empty() ? "the program's folder" : joined(found.looked, "or"))};
  }
  if (!found.failure.empty()) return {.missing = fmt::format("it cannot be loaded: {}", one_line(found.failure))};
  if (found.entry == nullptr) return {.missing = fmt::format("{} is a library without {}", found.file, kPluginEntry)};
  const AssayOrderPlugin* table = reinterpret_cast<AssayOrderPluginEntry>(found.entry)();
  if (std::string fault = order_plugin_fault(table, found.file); !fault.empty()) return {.missing = std::move(fault)};
  return {.table = table};
}

BoundedOrder order_by_cbc(const AssayOrderPlugin& plugin, const Tournament& tournament, std::span<const uint32_t> start,
                          double seconds, const Context& context) {
  BoundedOrder made;
  made.order.assign(start.begin(), start.end());
  made.upsets = upsets(tournament, start);
  if (tournament.size() < 2) return made;
  AssayOrderTask task{};
  task.size = tournament.size();
  task.margin = tournament.row(0);
  task.start = start.data();
  task.seconds = seconds;
  task.stopped = [](void* cancelled) {
    const auto* flag = static_cast<const std::atomic<bool>*>(cancelled);
    return flag != nullptr && flag->load() ? 1 : 0;
  };
  task.context = const_cast<std::atomic<bool>*>(context.cancelled);
  std::vector<uint32_t> order(start.size());
  AssayOrderAnswer answer{order.data(), 0};
  std::array<char, kErrorSize> error{};
  if (plugin.order(&task, &answer, error.data(), error.size()) != 0) {
    error.back() = '\0';
    fail_cbc(plugin, one_line(error.data()));
  }
  context.check_cancelled();
  if (!is_order(order)) fail_cbc(plugin, "its answer is no order of all players");
  const int64_t found = upsets(tournament, order);
  if (found < made.upsets) {
    made.upsets = found;
    made.order = std::move(order);
  }
  if (!(answer.bound <= static_cast<double>(made.upsets))) fail_cbc(plugin, "its bound is above the cost of an order");
  // Costs are whole numbers.
  made.bound = std::max<int64_t>(0, static_cast<int64_t>(std::ceil(answer.bound)));
  return made;
}

}  // namespace assay
