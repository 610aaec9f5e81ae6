#include "assay/data/io/bytes.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include "assay/core/random.h"
#include "assay/data/io/unpacking.h"
#include "tests/message.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

class Bytes : public ::testing::Test {
 protected:
  Bytes() {
    // Tests run side by side: each has a folder of its own.
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(::testing::TempDir()) / (std::string("assay_bytes_") + test->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  static void write(const std::string& path, const std::string& bytes) {
    AtomicFile file(path);
    file.write(bytes);
    file.commit();
  }
  static std::string raw(const std::string& path) {
    std::ostringstream out;
    out << std::ifstream(path, std::ios::binary).rdbuf();
    return out.str();
  }
  size_t files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  fs::path folder_;
};

std::string random_text(size_t size) {
  RandomStream random(1, "bytes");
  std::string text(size, '\0');
  for (auto& c : text) c = static_cast<char>('a' + random.below(7));
  return text;
}

TEST_F(Bytes, CompressedFilesReadBackAndReallyAreCompressed) {
  const std::string text = random_text(300000);
  for (const std::string name : {"a.csv", "a.csv.gz", "a.csv.xz"}) {
    write(path(name), text);
    EXPECT_EQ(read_all(*open_bytes(path(name))), text);
  }
  EXPECT_EQ(raw(path("a.csv")), text);
  EXPECT_EQ(raw(path("a.csv.gz")).substr(0, 2), "\x1f\x8b");
  EXPECT_EQ(raw(path("a.csv.xz")).substr(1, 4), "7zXZ");
  EXPECT_LT(raw(path("a.csv.gz")).size(), text.size() / 2);
}

TEST_F(Bytes, SameContentGivesTheSameCompressedBytes) {
  write(path("a.gz"), "hello");
  write(path("b.gz"), "hello");
  EXPECT_EQ(raw(path("a.gz")), raw(path("b.gz")));
}

TEST_F(Bytes, CompressionIsKnownByContentNotByName) {
  write(path("a.gz"), "hello");
  fs::rename(path("a.gz"), path("a.csv"));
  EXPECT_EQ(read_all(*open_bytes(path("a.csv"))), "hello");
}

TEST_F(Bytes, SeveralMembersAreOneFile) {
  write(path("a.gz"), "hello ");
  write(path("b.gz"), "world");
  const std::string both = raw(path("a.gz")) + raw(path("b.gz"));
  EXPECT_EQ(read_all(*memory_bytes("m", both)), "hello world");
}

TEST_F(Bytes, TruncatedAndDamagedCompressionIsRefused) {
  for (const std::string kind : {"gz", "xz"}) {
    const std::string name = kind == "gz" ? "gzip" : "xz";
    write(path("a." + kind), random_text(100000));
    const std::string whole = raw(path("a." + kind));
    const auto complaint = [&](const std::string& bytes) {
      return message_of([&] { read_all(*memory_bytes("m", bytes)); });
    };
    EXPECT_EQ(complaint(whole.substr(0, whole.size() / 2)),
              "m: expected a whole " + name + " file, found one that ends in the middle");
    EXPECT_EQ(complaint(whole.substr(0, whole.size() - 1)),
              "m: expected a whole " + name + " file, found one that ends in the middle");
    std::string damaged = whole;
    for (size_t i = damaged.size() / 2; i < damaged.size() / 2 + 20; ++i)
      damaged[i] = static_cast<char>(damaged[i] ^ 0x5a);
    EXPECT_EQ(complaint(damaged), "m: expected a valid " + name + " file, found damaged compressed data");
  }
}

TEST_F(Bytes, LimitIsKept) {
  write(path("a.gz"), std::string(10000000, 'x'));
  EXPECT_EQ(message_of([&] { read_all(*open_bytes(path("a.gz")), 1000); }),
            path("a.gz") + ": expected at most 1000 bytes, found more");
  EXPECT_EQ(read_all(*open_bytes(path("a.gz")), 10000000).size(), 10000000u);
  EXPECT_EQ(read_all(*memory_bytes("m", "12345"), 5), "12345");
}

TEST_F(Bytes, WhatUnpacksToFarTooMuchIsRefused) {
  const std::string zeros(size_t{1} << 20, '\0');
  for (const std::string name : {"bomb.gz", "bomb.xz"}) {
    write(path(name), zeros);
    // Several members, one after another, are one file.
    std::string bomb;
    for (size_t i = 0; i < 257; i++) bomb += raw(path(name));
    ASSERT_LT(bomb.size(), zeros.size());
    const auto source = memory_bytes(name, bomb);
    std::string piece(zeros.size(), '\0');
    uint64_t given = 0;
    const std::string sentence = message_of([&] {
      while (const size_t count = source->read(piece)) given += count;
    });
    EXPECT_EQ(sentence.substr(0, name.size()), name);
    EXPECT_NE(sentence.find("256 times its size"), std::string::npos) << sentence;
    EXPECT_LE(given, uint64_t{256} << 20);
  }
}

TEST(UnpackingLimit, IsAFixedSizeAndThenARatio) {
  constexpr uint64_t kMiB = uint64_t{1} << 20;
  UnpackingLimit small;
  small.add_packed(1);
  small.add_unpacked("f", 256 * kMiB);
  EXPECT_NE(message_of([&] { small.add_unpacked("f", 1 * kMiB); }), "no error");
  UnpackingLimit large;
  large.add_packed(2 * kMiB);
  large.add_unpacked("f", 512 * kMiB);
  large.add_packed(1 * kMiB);
  large.add_unpacked("f", 256 * kMiB);
  EXPECT_EQ(message_of([&] { large.add_unpacked("f.gz", 1 * kMiB); }).substr(0, 14), "f.gz: expected");
}

TEST_F(Bytes, WithoutCommitTheOldFileStays) {
  write(path("a.csv"), "old");
  {
    AtomicFile file(path("a.csv"));
    file.write("new");
  }
  EXPECT_EQ(raw(path("a.csv")), "old");
  EXPECT_EQ(files(), 1u) << "the temporary file was left behind";
  {
    AtomicFile file(path("b.csv"));
    file.write("new");
  }
  EXPECT_FALSE(fs::exists(path("b.csv")));
  EXPECT_EQ(files(), 1u);
}

TEST_F(Bytes, ReplacementKeepsPermissionsAndFollowsLinks) {
  write(path("a.csv"), "old");
  ::chmod(path("a.csv").c_str(), 0640);
  fs::create_symlink("a.csv", path("link.csv"));
  write(path("link.csv"), "new");
  EXPECT_TRUE(fs::is_symlink(path("link.csv")));
  EXPECT_EQ(raw(path("a.csv")), "new");
  EXPECT_EQ(static_cast<unsigned>(fs::status(path("a.csv")).permissions()), 0640u);
}

TEST_F(Bytes, LinksToNothingYetAndVeryLongNamesWork) {
  fs::create_symlink("later.csv", path("link.csv"));
  write(path("link.csv"), "new");
  EXPECT_TRUE(fs::is_symlink(path("link.csv")));
  EXPECT_EQ(raw(path("later.csv")), "new");
  const std::string name(251, 'n');
  write(path(name + ".csv"), "long");
  EXPECT_EQ(raw(path(name + ".csv")), "long");
}

TEST_F(Bytes, WhatAKilledRunLeftIsNotInTheWay) {
  // The names that this process would take next.
  for (int serial = 0; serial < 200; ++serial) {
    std::ofstream(path("a.csv.tmp-" + std::to_string(::getpid()) + "-" + std::to_string(serial))) << "left";
  }
  write(path("a.csv"), "new");
  EXPECT_EQ(raw(path("a.csv")), "new");
}

TEST_F(Bytes, CancellationStopsWritingAndReading) {
  write(path("a.csv"), "old");
  const std::atomic<bool> cancelled{true};
  Context context;
  context.cancelled = &cancelled;
  EXPECT_EQ(message_of([&] { AtomicFile(path("a.csv"), context).write("new"); }), "interrupted");
  EXPECT_EQ(raw(path("a.csv")), "old");
  EXPECT_EQ(files(), 1u);
  EXPECT_EQ(message_of([&] { read_all(*open_bytes(path("a.csv"), context)); }), "interrupted");
}

// No signal comes to the thread that waits: a Python program's come to another one.
TEST_F(Bytes, CancellationEndsTheWaitForAPipe) {
  ASSERT_EQ(::mkfifo(path("in.csv").c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo(path("out.csv").c_str(), 0600), 0);
  const auto cancelled_after_a_while = [&](const std::function<void(const Context&)>& work) {
    std::atomic<bool> cancelled{false};
    Context context;
    context.cancelled = &cancelled;
    const std::jthread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      cancelled = true;
    });
    return message_of([&] { work(context); });
  };
  const auto read = [&](const Context& context) { read_all(*open_bytes(path("in.csv"), context)); };
  const auto write_much = [&](const Context& context) {
    AtomicFile(path("out.csv"), context).write(std::string(1 << 20, 'a'));
  };
  EXPECT_EQ(cancelled_after_a_while(read), "interrupted") << "nobody writes";
  EXPECT_EQ(cancelled_after_a_while(write_much), "interrupted") << "nobody reads";
  const int writer = ::open(path("in.csv").c_str(), O_RDWR);
  ASSERT_EQ(::write(writer, "a,b\n1", 5), 5);
  EXPECT_EQ(cancelled_after_a_while(read), "interrupted") << "no more comes";
  ::close(writer);
  const int reader = ::open(path("out.csv").c_str(), O_RDONLY | O_NONBLOCK);
  EXPECT_EQ(cancelled_after_a_while(write_much), "interrupted") << "the pipe is full";
  ::close(reader);
}

TEST_F(Bytes, APipeIsReadToItsEndHoweverItComes) {
  ASSERT_EQ(::mkfifo(path("in.csv").c_str(), 0600), 0);
  const std::string text = random_text(300000);
  const std::jthread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    std::ofstream out(path("in.csv"), std::ios::binary);
    for (size_t at = 0; at < text.size(); at += 100000) {
      out << text.substr(at, 100000) << std::flush;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  EXPECT_EQ(read_all(*open_bytes(path("in.csv"))), text);
}

// One read of megabytes that a kilobyte is unpacked to looks whether to stop more than once.
TEST_F(Bytes, UnpackingLooksWhetherToStop) {
  const std::string zeros(size_t{64} << 20, '0');
  for (const char* name : {"a.gz", "a.xz"}) {
    write(path(name), zeros);
    std::atomic<bool> cancelled{false};
    Context context;
    context.cancelled = &cancelled;
    const auto source = open_bytes(path(name), context);
    std::string out(zeros.size(), 0);
    const size_t first = source->read(out);
    EXPECT_GT(first, 0u);
    EXPECT_LE(first, size_t{4} << 20) << name;
    cancelled = true;
    EXPECT_EQ(message_of([&] { source->read(out); }), "interrupted") << name;
  }
}

TEST_F(Bytes, SpecialFilesAreWrittenDirectly) {
  write("/dev/null", "gone");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(Bytes, PlacesThatCannotBeReadOrWrittenAreNamed) {
  EXPECT_EQ(message_of([&] { open_bytes(path("none")); }),
            path("none") + ": cannot open it: No such file or directory");
  EXPECT_EQ(message_of([&] { open_bytes(folder_.string()); }), folder_.string() + ": expected a file, found a folder");
  EXPECT_EQ(message_of([&] { AtomicFile file(path("no/where.csv")); }),
            path("no/where.csv") + ": cannot write it: No such file or directory");
  EXPECT_EQ(message_of([&] { AtomicFile file(folder_.string()); }),
            folder_.string() + ": expected the name of a file to write, found a folder");
}

TEST_F(Bytes, ExtensionsLookThroughCompression) {
  EXPECT_EQ(format_extension("a/B.CSV.gz"), ".csv");
  EXPECT_EQ(format_extension("x.npz"), ".npz");
  EXPECT_EQ(format_extension("a.b/noextension"), "");
  EXPECT_EQ(format_extension("x.gz"), "");
  EXPECT_EQ(packing_of("A.CSV.GZ"), Packing::gzip);
  EXPECT_EQ(packing_of("a.xz"), Packing::xz);
  EXPECT_EQ(packing_of("a.csv"), Packing::none);
}

}  // namespace
}  // namespace assay
