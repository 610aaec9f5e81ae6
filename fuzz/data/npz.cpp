// Any bytes as .npz: arrays, a table, or an assay::Error. Tried a second time with correct CRCs, because otherwise
// changed bytes would rarely pass the first check.
#include "assay/data/io/npz.h"

#include <zlib.h>

#include <cstring>
#include <string>

#include "assay/data/io/array_table.h"
#include "fuzz/harness.h"

namespace {

void read_all_of(std::string_view bytes) {
  assay::fuzz::succeeds([&] { assay::read_npz_table("fuzz.npz", bytes); });
  assay::fuzz::succeeds([&] {
    const assay::NpzFile file("fuzz.npz", bytes);
    for (const auto& name : file.names()) assay::fuzz::succeeds([&] { file.read(name); });
  });
}

template <class T>
T load(const std::string& bytes, size_t at) {
  T value{};
  if (at + sizeof(T) <= bytes.size()) std::memcpy(&value, &bytes[at], sizeof(T));
  return value;
}

// The same archive with the correct CRC of every stored entry in its directory.
std::string with_fitting_crcs(std::string bytes) {
  constexpr uint32_t kCentralMagic = 0x02014b50;
  if (bytes.size() < 22) return bytes;
  size_t at = load<uint32_t>(bytes, bytes.size() - 6);
  while (at < bytes.size() - 22 && load<uint32_t>(bytes, at) == kCentralMagic) {
    const size_t local = load<uint32_t>(bytes, at + 42), size = load<uint32_t>(bytes, at + 20);
    const size_t begin = local + 30 + load<uint16_t>(bytes, local + 26) + load<uint16_t>(bytes, local + 28);
    if (load<uint16_t>(bytes, at + 10) == 0 && begin + size <= bytes.size()) {
      const auto crc = static_cast<uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(&bytes[begin]), size));
      std::memcpy(&bytes[at + 16], &crc, sizeof crc);
    }
    at += 46 + load<uint16_t>(bytes, at + 28) + load<uint16_t>(bytes, at + 30) + load<uint16_t>(bytes, at + 32);
  }
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes = assay::fuzz::bytes_of(data, size);
  read_all_of(bytes);
  read_all_of(with_fitting_crcs(std::string(bytes)));
  return 0;
}
