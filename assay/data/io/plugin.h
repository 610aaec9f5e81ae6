// Loads plugins, and reads and writes Parquet and Feather tables through one.
//
// Arrow's C++ ABI changes with every major version, so libassay never links it. A shared object, libassay_arrow.so,
// links it, and is loaded when the first such file is met. It offers a versioned C table of functions, and rows pass
// through the Arrow C stream interface. Plugins are looked for in $ASSAY_PLUGIN_DIR alone when that is set, else in the
// folder of the running program and then in ../lib/assay from there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "assay/core/context.h"
#include "assay/data/io/arrow_c.h"
#include "assay/data/io/arrow_table.h"
#include "assay/data/kept_doubles.h"
#include "assay/data/table.h"

extern "C" {

#define ASSAY_TABLE_PLUGIN_VERSION 1

// Takes the next bytes of a file. A result other than 0 means that the writer must stop.
typedef int (*AssayByteSink)(void* context, const void* bytes, size_t size);

// What a plugin offers. `format` is "parquet" or "feather" (version 2, which is the Arrow IPC file). The functions
// return 0, or not 0 with a message in `error`, cut to error_size and ended by a zero byte.
struct AssayTablePlugin {
  uint32_t version;  // ASSAY_TABLE_PLUGIN_VERSION of the header it was compiled with; always the first field
  const char* name;  // for messages: "Arrow 26.0.1"
  // Opens `bytes`, or the file at `path` when bytes is null; they must stay there until the stream is released.
  int (*read)(const char* path, const void* bytes, size_t size, const char* format, ArrowArrayStream* out, char* error,
              size_t error_size);
  // Consumes and releases `in`, also when it fails.
  int (*write)(const char* format, ArrowArrayStream* in, AssayByteSink sink, void* context, char* error,
               size_t error_size);
};

// What the plugin exports under the name assay_table_plugin_v1.
typedef const AssayTablePlugin* (*AssayTablePluginEntry)(void);
}

namespace assay {

struct FoundPlugin {
  std::string file = {};                 // empty: there is none
  std::vector<std::string> looked = {};  // the folders where it was looked for
  std::string failure = {};              // why the system cannot load it; empty when it can
  void* entry = nullptr;                 // null: loaded, but it has no such function
};

// The shared object with this file name, loaded for good, and the function in it. Loading it again gives the same one.
FoundPlugin find_plugin(const char* file, const char* entry);

// Whether this name (x.parquet, x.pq, x.feather, x.arrow, or one of them with .gz or .xz behind) is read here.
bool is_arrow_path(const std::string& path);

// The file may also be compressed as a whole; it is then unpacked into memory.
Table read_arrow_table(const std::string& path, const Context& context = {}, const ArrowReading& reading = {});

// An error when there is no plugin to write this file with.
void require_arrow_plugin(const std::string& path);

// The file appears whole or not at all.
void write_arrow_table(const Table& table, const std::string& path, const Context& context = {});

// The same plugin, if this library can call it; otherwise an error that names `file`, where it came from.
const AssayTablePlugin& checked_plugin(const AssayTablePlugin* plugin, const std::string& file);

}  // namespace assay
