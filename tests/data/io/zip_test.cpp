#include "assay/data/io/zip.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>

#include "assay/core/error.h"

namespace assay {
namespace {

using namespace std::string_literals;

std::string le(uint64_t value, int width) {
  std::string out;
  for (int i = 0; i < width; ++i) out += static_cast<char>((value >> (8 * i)) & 0xff);
  return out;
}

// Everything that an archive says, so that a test can make it say something else.
struct Raw {
  std::string name = "a.txt";
  std::string local_name = "a.txt";
  std::string packed = "hello";  // CRC 3610a686 by any CRC-32 table
  uint64_t crc = 0x3610a686;
  uint64_t size = 5;
  uint64_t packed_size = 5;
  uint64_t method = 0;
  uint64_t local_method = 0;
  uint64_t flags = 0;
  uint64_t disk = 0;
  uint64_t offset_error = 0;
  std::string extra;
  std::string after;  // between this entry's data and the next
};

struct RawEnd {
  int64_t count_error = 0;
  uint64_t disk = 0;
  int64_t offset_error = 0;
  bool zip64 = false;
  uint64_t end64_offset_error = 0;
  uint64_t disks = 1;
  std::string comment;
};

std::string archive(const std::vector<Raw>& entries, const RawEnd& end = {}) {
  std::string out, directory;
  for (const auto& raw : entries) {
    directory += "PK\1\2" + le(20, 2) + le(20, 2) + le(raw.flags, 2) + le(raw.method, 2) + le(0, 4) + le(raw.crc, 4) +
                 le(raw.packed_size, 4) + le(raw.size, 4) + le(raw.name.size(), 2) + le(raw.extra.size(), 2) +
                 le(0, 2) + le(raw.disk, 2) + le(0, 6) + le(out.size() + raw.offset_error, 4) + raw.name + raw.extra;
    out += "PK\3\4" + le(20, 2) + le(raw.flags, 2) + le(raw.local_method, 2) + le(0, 4) + le(raw.crc, 4) +
           le(raw.packed_size, 4) + le(raw.size, 4) + le(raw.local_name.size(), 2) + le(0, 2) + raw.local_name +
           raw.packed + raw.after;
  }
  const uint64_t offset = out.size() + static_cast<uint64_t>(end.offset_error);
  const uint64_t count = entries.size() + static_cast<uint64_t>(end.count_error);
  out += directory;
  const uint64_t end64 = out.size() + end.end64_offset_error;
  if (end.zip64) {
    out += "PK\6\6" + le(44, 8) + le(45, 2) + le(45, 2) + le(end.disk, 4) + le(0, 4) + le(count, 8) + le(count, 8) +
           le(directory.size(), 8) + le(offset, 8);
    out += "PK\6\7" + le(0, 4) + le(end64, 8) + le(end.disks, 4);
    return out + "PK\5\6" + le(0, 4) + le(0xffff, 2) + le(0xffff, 2) + le(0xffffffff, 4) + le(0xffffffff, 4) + le(0, 2);
  }
  return out + "PK\5\6" + le(end.disk, 2) + le(0, 2) + le(count, 2) + le(count, 2) + le(directory.size(), 4) +
         le(offset, 4) + le(end.comment.size(), 2) + end.comment;
}

std::string contents(const ZipReader& zip, size_t index) { return read_all(*zip.open(zip.entries().at(index))); }

std::string failure(const std::string& bytes) {
  try {
    const ZipReader zip("a.zip", bytes);
    for (size_t i = 0; i < zip.entries().size(); ++i) contents(zip, i);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.what();
  }
  return "no error";
}

Raw changed(const std::function<void(Raw&)>& change) {
  Raw raw;
  change(raw);
  return raw;
}

std::string file_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// `hello` x 4 through Python's zlib.compressobj(6, zlib.DEFLATED, -15).
const std::string kDeflated = "\xcb\x48\xcd\xc9\xc9\xcf\x40\x25\x00"s;
Raw deflated() {
  Raw raw;
  raw.packed = kDeflated;
  raw.packed_size = kDeflated.size();
  raw.size = 20;
  raw.crc = 0xab9a79f0;
  raw.method = raw.local_method = 8;
  return raw;
}

TEST(Zip, ReadsStoredAndDeflatedEntries) {
  Raw second = deflated();
  second.name = second.local_name = "b";
  second.flags = 8;
  second.after = "PK\7\b" + le(second.crc, 4) + le(second.packed_size, 4) + le(second.size, 4);
  RawEnd end;
  end.comment = "a comment with PK\5\6 in it, and more than twenty-two bytes after";
  const ZipReader zip("a.zip", archive({second, Raw()}, end));
  ASSERT_EQ(zip.entries().size(), 2U);
  EXPECT_EQ(zip.entries()[0].name, "b");
  EXPECT_EQ(contents(zip, 0), "hellohellohellohello");
  EXPECT_EQ(contents(zip, 1), "hello");
  EXPECT_EQ(zip.open(zip.entries()[1])->name(), "a.zip, entry 'a.txt'");
  EXPECT_TRUE(ZipReader("a.zip", archive({})).entries().empty());
}

TEST(Zip, ReadsZip64) {
  Raw raw;
  raw.extra = le(0x9999, 2) + le(1, 2) + "x" + le(1, 2) + le(24, 2) + le(5, 8) + le(5, 8) + le(0, 8);
  raw.size = raw.packed_size = 0xffffffff;
  raw.offset_error = 0xffffffff;
  RawEnd end;
  end.zip64 = true;
  EXPECT_EQ(contents(ZipReader("a.zip", archive({raw}, end)), 0), "hello");
  raw.extra.resize(20);
  EXPECT_EQ(failure(archive({raw}, end)), "a.zip, entry 'a.txt': expected whole zip64 sizes, found too few bytes");
  RawEnd far = end;
  far.end64_offset_error = uint64_t{1} << 60;
  EXPECT_NE(failure(archive({Raw()}, far)).find("expected a zip64 directory inside the file"), std::string::npos);
  far.end64_offset_error = static_cast<uint64_t>(-1);
  EXPECT_EQ(failure(archive({Raw()}, far)), "a.zip: expected a zip64 end record, found other bytes");
  RawEnd many = end;
  many.disks = 2;
  EXPECT_EQ(failure(archive({Raw()}, many)),
            "a.zip: expected a ZIP archive in one file, found a part of one that spans several");
}

TEST(Zip, RefusesWhatItCannotRead) {
  EXPECT_EQ(failure(archive({changed([](Raw& raw) { raw.flags = 1; })})),
            "a.zip, entry 'a.txt': expected no encryption, found an encrypted entry");
  EXPECT_EQ(failure(archive({changed([](Raw& raw) { raw.method = 12; })})),
            "a.zip, entry 'a.txt': expected an entry that is stored or deflated, found compression method 12");
  EXPECT_EQ(failure(archive({changed([](Raw& raw) { raw.disk = 1; })})),
            "a.zip, entry 'a.txt': expected a ZIP archive in one file, found a part of one that spans several");
  RawEnd end;
  end.disk = 1;
  EXPECT_EQ(failure(archive({Raw()}, end)),
            "a.zip: expected a ZIP archive in one file, found a part of one that spans several");
}

TEST(Zip, RefusesADamagedDirectory) {
  const std::string no_end =
      "a.zip: expected a ZIP archive, found no end of its directory; the file is cut short or not a ZIP archive";
  EXPECT_EQ(failure(""), no_end);
  EXPECT_EQ(failure("PK\5\6"), no_end);
  EXPECT_EQ(failure(std::string(100000, 'x')), no_end);
  EXPECT_EQ(failure(archive({Raw()}) + "x"), no_end);
  RawEnd end;
  end.count_error = 1;
  EXPECT_EQ(failure(archive({Raw()}, end)), "a.zip: expected a ZIP directory of 2 entries, found 1");
  end = {};
  end.offset_error = 1;
  EXPECT_EQ(failure(archive({Raw()}, end)),
            "a.zip: expected a ZIP directory before byte 91, found one of 51 bytes at byte 41");
  end.offset_error = -1;
  EXPECT_EQ(failure(archive({Raw()}, end)), "a.zip: expected a ZIP directory of 1 entries, found other bytes after 0");
  EXPECT_EQ(failure(archive({Raw(), Raw()})), "a.zip, entry 'a.txt': expected each name once, found it twice");
  std::string long_name = archive({Raw()});
  long_name[40 + 28] = '\xff';
  EXPECT_EQ(failure(long_name), "a.zip: expected a whole ZIP directory, found one that ends in the middle");
}

TEST(Zip, RefusesRangesThatOverlapOrLeaveTheFile) {
  Raw second;
  second.name = second.local_name = "b.txt";
  second.offset_error = static_cast<uint64_t>(-1);
  EXPECT_EQ(failure(archive({Raw(), second})),
            "a.zip, entry 'a.txt': expected data that ends before byte 39, found 5 bytes at byte 0");
  second.offset_error = static_cast<uint64_t>(-40);
  EXPECT_NE(failure(archive({Raw(), second})).find("expected data that ends before byte 0"), std::string::npos);
  EXPECT_EQ(failure(archive({changed([](Raw& raw) { raw.offset_error = 1000; })})),
            "a.zip, entry 'a.txt': expected data that ends before byte 40, found 5 bytes at byte 1000");
  EXPECT_EQ(failure(archive({changed([](Raw& raw) { raw.size = raw.packed_size = 4000000000; })})),
            "a.zip, entry 'a.txt': expected data that ends before byte 40, found 4000000000 bytes at byte 0");
  // A local header whose own name is longer pushes the data past its end.
  EXPECT_EQ(failure(archive({changed([](Raw& raw) {
              raw.local_name = "a.txt and more";
              raw.packed = "";
            })})),
            "a.zip, entry 'a.txt': expected data that ends before byte 44, found 5 bytes at byte 44");
}

TEST(Zip, RefusesDamagedEntries) {
  EXPECT_EQ(failure(archive({changed([](Raw& raw) { raw.crc ^= 1; })})),
            "a.zip, entry 'a.txt': expected data with CRC 3610a687, found 3610a686; the file is damaged");
  EXPECT_EQ(failure(archive({changed([](Raw& raw) { raw.size = 6; })})),
            "a.zip, entry 'a.txt': expected 6 bytes, its size, found 5");
  EXPECT_EQ(failure(archive({changed([](Raw& raw) { raw.local_name = "b.txt"; })})),
            "a.zip, entry 'a.txt': expected the name that the directory says, found another");
  EXPECT_EQ(failure(archive({changed([](Raw& raw) { raw.local_method = 8; })})),
            "a.zip, entry 'a.txt': expected the compression method that the directory says, found another");
  std::string no_header = archive({Raw()});
  no_header[0] = 'Q';
  EXPECT_EQ(failure(no_header),
            "a.zip, entry 'a.txt': expected a ZIP entry where the directory says it is, found other bytes");
}

TEST(Zip, RefusesDamagedCompressedData) {
  const auto with = [](const std::function<void(Raw&)>& change) {
    Raw raw = deflated();
    change(raw);
    return archive({raw});
  };
  EXPECT_EQ(failure(with([](Raw& raw) { raw.size = 19; })), "a.zip, entry 'a.txt': expected 19 bytes, found more");
  // A lie about the size takes no memory: it is compared with what arrives.
  EXPECT_EQ(failure(with([](Raw& raw) { raw.size = 4000000000; })),
            "a.zip, entry 'a.txt': expected 4000000000 bytes, found 20");
  EXPECT_NE(failure(with([](Raw& raw) { raw.crc ^= 1; })).find("the file is damaged"), std::string::npos);
  EXPECT_EQ(failure(with([](Raw& raw) { raw.packed_size -= 2; })),
            "a.zip, entry 'a.txt': expected whole compressed data, found data that ends in the middle");
  EXPECT_EQ(failure(with([](Raw& raw) { raw.packed[0] = '\xff'; })),
            "a.zip, entry 'a.txt': expected valid compressed data, found damaged data");
  EXPECT_EQ(failure(with([](Raw& raw) {
              raw.packed += "xyz";
              raw.packed_size += 3;
            })),
            "a.zip, entry 'a.txt': expected nothing after the compressed data, found 3 more bytes");
}

TEST(Zip, SurvivesEveryFlippedByteAndEveryCut) {
  const std::string whole = archive({Raw(), changed([](Raw& raw) { raw.name = raw.local_name = "b"; })});
  for (size_t i = 0; i < whole.size(); ++i) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::string bytes = whole;
      bytes[i] = static_cast<char>(bytes[i] ^ flip);
      failure(bytes);
    }
    EXPECT_NE(failure(whole.substr(0, i)), "no error");
  }
}

TEST(Zip, WritesTheSameBytesForTheSameContent) {
  const std::string path = ::testing::TempDir() + "zip_test.zip";
  const auto write = [&] {
    AtomicFile file(path);
    ZipWriter zip(file);
    zip.add("a.txt", {"hel", {}, "lo"}, false);
    zip.add("b\xc3\xa9", {"hellohello", "hellohello"}, true);
    zip.add("empty", {}, false);
    zip.finish();
    file.commit();
    return file_bytes(path);
  };
  const std::string bytes = write();
  EXPECT_EQ(bytes, write());
  // The first entry by hand: version 20, no flags, stored, 00:00:00 on 1980-01-01.
  EXPECT_EQ(bytes.substr(0, 40), "PK\3\4"s + le(20, 2) + le(0, 2) + le(0, 2) + le(0, 2) + le(0x21, 2) +
                                     le(0x3610a686, 4) + le(5, 4) + le(5, 4) + le(5, 2) + le(0, 2) + "a.txthello");
  const ZipReader zip(path);
  ASSERT_EQ(zip.entries().size(), 3U);
  EXPECT_EQ(contents(zip, 0), "hello");
  EXPECT_EQ(contents(zip, 1), "hellohellohellohello");
  EXPECT_EQ(zip.entries()[1].crc, 0xab9a79f0U);
  EXPECT_EQ(contents(zip, 2), "");
}

TEST(Zip, WritesZip64ForManyEntries) {
  const std::string path = ::testing::TempDir() + "zip_test_many.zip";
  constexpr size_t kCount = 65540;
  {
    AtomicFile file(path);
    ZipWriter zip(file);
    for (size_t i = 0; i < kCount; ++i) zip.add(std::to_string(i), {"x"}, false);
    zip.finish();
    file.commit();
  }
  EXPECT_NE(file_bytes(path).find("PK\6\6"), std::string::npos);
  const ZipReader zip(path);
  ASSERT_EQ(zip.entries().size(), kCount);
  EXPECT_EQ(contents(zip, kCount - 1), "x");
  std::remove(path.c_str());
}

TEST(Zip, ReadsACompressedArchive) {
  const std::string path = ::testing::TempDir() + "zip_test.zip.xz";
  {
    AtomicFile file(path);
    file.write(archive({Raw()}));
    file.commit();
  }
  EXPECT_EQ(contents(ZipReader(path), 0), "hello");
}

}  // namespace
}  // namespace assay
