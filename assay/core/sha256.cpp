#include "assay/core/sha256.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <vector>

#include "assay/core/error.h"

namespace assay {
namespace {

constexpr size_t kBlock = 64;
constexpr size_t kPiece = size_t{1} << 18;  // of a file

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr std::array<uint32_t, 64> kRound = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t big_endian(const unsigned char* bytes) {
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | uint32_t{bytes[3]};
}

// The standard's lower-case sigmas, which stretch 16 words to 64.
uint32_t stretch_0(uint32_t x) { return std::rotr(x, 7) ^ std::rotr(x, 18) ^ (x >> 3); }
uint32_t stretch_1(uint32_t x) { return std::rotr(x, 17) ^ std::rotr(x, 19) ^ (x >> 10); }
// Its upper-case ones.
uint32_t turn_0(uint32_t x) { return std::rotr(x, 2) ^ std::rotr(x, 13) ^ std::rotr(x, 22); }
uint32_t turn_1(uint32_t x) { return std::rotr(x, 6) ^ std::rotr(x, 11) ^ std::rotr(x, 25); }

class OpenFile {
 public:
  explicit OpenFile(const std::string& path)
      : path_(path), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (file_ < 0) fail_io(path, "open it", errno);
    struct stat status{};
    if (::fstat(file_, &status) != 0 || !S_ISREG(status.st_mode)) {
      ::close(file_);
      fail_input(path, "a regular file", S_ISDIR(status.st_mode) ? "a folder" : "something else");
    }
  }
  ~OpenFile() { ::close(file_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  // 0 at the end.
  size_t read(std::vector<char>& out) const {
    for (;;) {
      const ssize_t count = ::read(file_, out.data(), out.size());
      if (count >= 0) return static_cast<size_t>(count);
      if (errno != EINTR) fail_io(path_, "read it", errno);
    }
  }

 private:
  const std::string& path_;
  int file_;
};

}  // namespace

void Sha256::mix(const unsigned char* block) {
  std::array<uint32_t, 64> words;
  for (size_t t = 0; t < 16; t++) words[t] = big_endian(block + 4 * t);
  for (size_t t = 16; t < 64; t++) {
    words[t] = stretch_1(words[t - 2]) + words[t - 7] + stretch_0(words[t - 15]) + words[t - 16];
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (size_t t = 0; t < 64; t++) {
    const uint32_t first = h + turn_1(e) + ((e & f) ^ (~e & g)) + kRound[t] + words[t];
    const uint32_t second = turn_0(a) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const std::array<uint32_t, 8> mixed = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < state_.size(); i++) state_[i] += mixed[i];
}

void Sha256::add(std::string_view bytes) {
  if (bytes.empty()) return;  // an empty view may be of no memory at all, which memcpy must not be given
  const size_t held = length_ % kBlock;
  length_ += bytes.size();
  if (held > 0) {
    const size_t count = std::min(kBlock - held, bytes.size());
    std::memcpy(waiting_.data() + held, bytes.data(), count);
    bytes.remove_prefix(count);
    if (held + count < kBlock) return;
    mix(waiting_.data());
  }
  while (bytes.size() >= kBlock) {
    mix(reinterpret_cast<const unsigned char*>(bytes.data()));
    bytes.remove_prefix(kBlock);
  }
  if (!bytes.empty()) std::memcpy(waiting_.data(), bytes.data(), bytes.size());
}

std::string Sha256::hex() const {
  Sha256 last = *this;
  // A one bit, zeros, and the length in bits as 64: to the end of this block, or of the next where they do not fit.
  const size_t held = length_ % kBlock;
  std::string padding((held < 56 ? 56 : 120) - held, '\0');
  padding[0] = '\x80';
  for (int shift = 56; shift >= 0; shift -= 8) padding += static_cast<char>((length_ * 8) >> shift & 0xff);
  last.add(padding);
  std::string out;
  for (const uint32_t word : last.state_) {
    for (int shift = 28; shift >= 0; shift -= 4) out += "0123456789abcdef"[word >> shift & 0xf];
  }
  return out;
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.hex();
}

std::string file_sha256(const std::string& path, const Context& context) {
  const OpenFile file(path);
  std::vector<char> piece(kPiece);
  Sha256 hash;
  for (size_t count = file.read(piece); count > 0; count = file.read(piece)) {
    context.check_cancelled();
    hash.add({piece.data(), count});
  }
  return hash.hex();
}

}  // namespace assay
