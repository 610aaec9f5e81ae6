// NPZ: named NumPy arrays in one ZIP archive, as np.savez and np.savez_compressed write them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/data/io/npy.h"
#include "assay/data/io/zip.h"

namespace assay {

// Opens the archive and reads its directory; each array is read when it is asked for.
class NpzFile {
 public:
  explicit NpzFile(const std::string& path, const Context& context = {});
  // An archive in memory, which is copied; name is for messages.
  NpzFile(std::string name, std::string_view bytes);

  const std::string& name() const { return zip_.name(); }
  // In the order of the archive, without ".npy". Entries that are no arrays are left out.
  const std::vector<std::string>& names() const { return names_; }
  bool contains(std::string_view array) const;
  // Reads type and shape only.
  NpyHeader header(std::string_view array) const;
  NpyArray read(std::string_view array) const;

 private:
  void list_arrays();
  std::unique_ptr<ByteSource> open(std::string_view array) const;

  ZipReader zip_;
  std::vector<std::string> names_;
  std::map<std::string, size_t, std::less<>> entries_;  // the position in the archive by name
};

// How messages name an array of the file.
std::string array_where(const NpzFile& file, std::string_view array);

// Writes the arrays under their names, whole or not at all. The same arrays give the same bytes.
void write_npz(const std::string& path, const std::vector<std::pair<std::string, NpyArray>>& arrays, bool compressed,
               const Context& context = {});

}  // namespace assay
