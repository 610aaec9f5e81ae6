#include "assay/data/io/plugin.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string_view>

#include "assay/core/error.h"
#include "assay/data/io/arrow_table.h"
#include "assay/data/io/arrow_type.h"
#include "assay/data/io/bytes.h"

namespace assay {
namespace {

constexpr const char* kPluginFile = "libassay_arrow.so";
constexpr const char* kPluginEntry = "assay_table_plugin_v1";
constexpr size_t kErrorSize = 1024;

struct ArrowFormat {
  const char* id;  // in the plugin's C table
  std::string_view words;
};
constexpr ArrowFormat kParquet{"parquet", "Parquet file"};
constexpr ArrowFormat kFeather{"feather", "Feather (Arrow) file"};

const ArrowFormat* find_arrow_format(const std::string& path) {
  const std::string extension = format_extension(path);
  if (extension == ".parquet" || extension == ".pq") return &kParquet;
  if (extension == ".feather" || extension == ".arrow") return &kFeather;
  return nullptr;
}

const ArrowFormat& arrow_format_of(const std::string& path) {
  const ArrowFormat* format = find_arrow_format(path);
  if (format == nullptr) fail_input(path, "a name that ends in .parquet, .pq, .feather or .arrow", "another");
  return *format;
}

// A folder that was asked for by name is the only one: finding another plugin than that would surprise.
std::vector<std::filesystem::path> plugin_folders() {
  if (const char* asked = std::getenv("ASSAY_PLUGIN_DIR"); asked != nullptr && *asked != '\0') return {asked};
  std::error_code unknown;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", unknown);
  if (unknown) return {};
  const auto folder = program.parent_path();
  return {folder, (folder / "../lib/assay").lexically_normal()};
}

[[noreturn]] void fail_plugin(const std::string& message) { throw Error(ErrorKind::unsupported, message); }

const AssayTablePlugin& load_plugin(const std::string& path) {
  const FoundPlugin found = find_plugin(kPluginFile, kPluginEntry);
  if (found.file.empty()) {
    fail_plugin(
        fmt::format("{}: Parquet and Feather need the Arrow plugin, and {} is not in {}; `make build` in a checkout of "
                    "Assay builds it "
                    "against the pyarrow wheel, and the variable ASSAY_PLUGIN_DIR names the folder it is in",
                    path, kPluginFile, found.looked.empty() ? "the program's folder" : joined(found.looked, "or")));
  }
  if (!found.failure.empty()) {
    fail_plugin(fmt::format("{}: the Arrow plugin cannot be loaded: {}", path, arrow_message(found.failure.c_str())));
  }
  if (found.entry == nullptr) {
    fail_plugin(
        fmt::format("{}: expected a table plugin of Assay, found a library without {}", found.file, kPluginEntry));
  }
  return checked_plugin(reinterpret_cast<AssayTablePluginEntry>(found.entry)(), found.file);
}

// Carries an exception of ours across the plugin's frames, which are not ours to unwind.
struct Sink {
  AtomicFile file;
  std::exception_ptr failure = nullptr;

  static int write(void* context, const void* bytes, size_t size) {
    auto& sink = *static_cast<Sink*>(context);
    try {
      sink.file.write({static_cast<const char*>(bytes), size});
      return 0;
    } catch (...) {
      sink.failure = std::current_exception();
      return 1;
    }
  }
};

}  // namespace

FoundPlugin find_plugin(const char* file, const char* entry) {
  FoundPlugin found;
  for (const auto& folder : plugin_folders()) {
    const std::string path = (folder / file).string();
    found.looked.push_back(folder.string());
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) continue;
    found.file = path;
    // Never closed: Arrow keeps threads and exit handlers. Opening it again gives the same handle.
    void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      const char* reason = ::dlerror();
      found.failure = reason == nullptr ? "for no reason that the system gives" : reason;
    } else {
      found.entry = ::dlsym(library, entry);
    }
    return found;
  }
  return found;
}

bool is_arrow_path(const std::string& path) { return find_arrow_format(path) != nullptr; }

const AssayTablePlugin& checked_plugin(const AssayTablePlugin* plugin, const std::string& file) {
  if (plugin == nullptr) fail_plugin(fmt::format("{}: expected a table plugin of Assay, found an empty one", file));
  if (plugin->version != ASSAY_TABLE_PLUGIN_VERSION) {
    fail_plugin(
        fmt::format("{}: expected a table plugin of version {}, found version {}; build it again with the "
                    "library",
                    file, ASSAY_TABLE_PLUGIN_VERSION, plugin->version));
  }
  if (plugin->read == nullptr || plugin->write == nullptr) {
    fail_plugin(fmt::format("{}: expected a table plugin of Assay, found one that cannot read and write", file));
  }
  return *plugin;
}

Table read_arrow_table(const std::string& path, const Context& context, const ArrowReading& reading) {
  const ArrowFormat& format = arrow_format_of(path);
  // Opened before the plugin is looked for: that a file is missing is the more useful thing to hear.
  const auto source = open_bytes(path, context);
  const AssayTablePlugin& plugin = load_plugin(path);
  // Only a plain file knows its size. The plugin reads that one by its path, in parts; what is compressed, or comes
  // through a pipe, cannot be read from its end as these formats need, so it is unpacked first.
  const bool plain = source->remaining().has_value();
  const std::string bytes = plain ? "" : read_all(*source);
  ArrowArrayStream stream{};
  std::array<char, kErrorSize> error{};
  const void* memory = plain ? nullptr : bytes.data();
  if (plugin.read(path.c_str(), memory, bytes.size(), format.id, &stream, error.data(), error.size()) != 0) {
    error.back() = '\0';
    fail_input(path, fmt::format("a valid {}", format.words), arrow_message(error.data()));
  }
  return table_from_arrow(&stream, path, format.words, context, reading);
}

void require_arrow_plugin(const std::string& path) { load_plugin(path); }

void write_arrow_table(const Table& table, const std::string& path, const Context& context) {
  const ArrowFormat& format = arrow_format_of(path);
  const AssayTablePlugin& plugin = load_plugin(path);
  Sink sink{AtomicFile(path, context)};
  ArrowArrayStream stream{};
  table_to_arrow(table, &stream);
  std::array<char, kErrorSize> error{};
  if (plugin.write(format.id, &stream, &Sink::write, &sink, error.data(), error.size()) != 0) {
    if (sink.failure) std::rethrow_exception(sink.failure);
    error.back() = '\0';
    fail_input(fmt::format("{}: cannot write a {}: {}", path, format.words, arrow_message(error.data())));
  }
  sink.file.commit();
}

}  // namespace assay
