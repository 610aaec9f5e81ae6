#include "assay/data/io/npz.h"

#include <set>

#include "assay/core/error.h"

namespace assay {
namespace {

constexpr std::string_view kExtension = ".npy";

}  // namespace

NpzFile::NpzFile(const std::string& path, const Context& context) : zip_(path, context) { list_arrays(); }

NpzFile::NpzFile(std::string name, std::string_view bytes) : zip_(std::move(name), bytes) { list_arrays(); }

void NpzFile::list_arrays() {
  const auto& entries = zip_.entries();
  for (size_t i = 0; i < entries.size(); ++i) {
    const std::string& entry = entries[i].name;
    if (!entry.ends_with(kExtension)) continue;
    names_.push_back(entry.substr(0, entry.size() - kExtension.size()));
    entries_.emplace(names_.back(), i);
  }
}

bool NpzFile::contains(std::string_view array) const { return entries_.contains(array); }

std::unique_ptr<ByteSource> NpzFile::open(std::string_view array) const {
  const auto found = entries_.find(array);
  if (found == entries_.end())
    fail_input(name(), "an array named " + in_quotes(array), "none" + suggestion(array, names_));
  return zip_.open(zip_.entries()[found->second]);
}

NpyHeader NpzFile::header(std::string_view array) const { return read_npy_header(*open(array)); }

NpyArray NpzFile::read(std::string_view array) const { return read_npy(*open(array)); }

std::string array_where(const NpzFile& file, std::string_view array) {
  return file.name() + ", array " + in_quotes(array);
}

void write_npz(const std::string& path, const std::vector<std::pair<std::string, NpyArray>>& arrays, bool compressed,
               const Context& context) {
  std::set<std::string_view> names;
  for (const auto& [name, array] : arrays) {
    if (!names.insert(name).second) fail_input(path, "arrays of different names", in_quotes(name) + " twice");
  }
  AtomicFile file(path, context);
  ZipWriter zip(file);
  for (const auto& [name, array] : arrays) {
    const std::string header = npy_header(array);
    zip.add(name + std::string(kExtension), {header, array.bytes}, compressed);
  }
  zip.finish();
  file.commit();
}

}  // namespace assay
