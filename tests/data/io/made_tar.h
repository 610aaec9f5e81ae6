// Entries of tar archives, byte by byte as POSIX 1003.1 has them.
#pragma once

#include <fmt/format.h>

#include <string>

namespace assay {

// size: what the header says, in octal digits; empty: the truth.
inline std::string tar_entry(const std::string& name, const std::string& bytes, char kind = '0',
                             const std::string& size = "") {
  std::string header(512, '\0');
  header.replace(0, name.size(), name);
  header.replace(100, 7, "0000644");
  header.replace(124, 11, size.empty() ? fmt::format("{:011o}", bytes.size()) : fmt::format("{:>11}", size));
  header[156] = kind;
  header.replace(257, 5, "ustar");
  header.replace(263, 2, "00");
  header.replace(148, 8, "        ");
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  header.replace(148, 7, fmt::format("{:06o}", sum) + '\0');
  return header + bytes + std::string((512 - bytes.size() % 512) % 512, '\0');
}

inline std::string tar_end() { return std::string(1024, '\0'); }

}  // namespace assay
