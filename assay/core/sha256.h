// SHA-256 (FIPS 180-4): the fingerprint that says which model and data went into a study, and whether its files are
// still what they were.
//
// Our own, because a hash of a hundred lines is no reason to link OpenSSL. One pass, 64 bytes at a time, 100 MB a
// second or more; no secrets are hashed here, so nothing guards against timing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "assay/core/context.h"

namespace assay {

class Sha256 {
 public:
  void add(std::string_view bytes);
  // The hash of everything added so far, as 64 lower-case hexadecimal digits. More may be added afterwards.
  std::string hex() const;

 private:
  void mix(const unsigned char* block);

  // The first 32 bits of the fractional parts of the square roots of the first eight primes.
  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> waiting_ = {};  // the first length_ % 64 bytes of a block that is not full
  uint64_t length_ = 0;                         // in bytes
};

std::string sha256_hex(std::string_view bytes);

// The hash of a file's bytes as they lie on the disk (compressed files are not unpacked). Anything but a regular file
// is an input error: reading a pipe would wait for it and use it up. Stops when the context is cancelled.
std::string file_sha256(const std::string& path, const Context& context);

}  // namespace assay
