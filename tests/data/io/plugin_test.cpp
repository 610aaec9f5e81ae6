#include "assay/data/io/plugin.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <new>
#include <string>

#include "assay/core/error.h"
#include "assay/data/io/bytes.h"

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

class TablePlugin : public ::testing::Test {
 protected:
  TablePlugin() {
    std::string pattern = (fs::temp_directory_path() / "assay-plugin-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    file_ = (folder_ / "x.parquet").string();
    std::ofstream(file_) << "not a table";
  }
  ~TablePlugin() override {
    ::unsetenv("ASSAY_PLUGIN_DIR");
    fs::remove_all(folder_);
  }

  void look_in(const fs::path& folder) const { ::setenv("ASSAY_PLUGIN_DIR", folder.c_str(), 1); }

  std::string message_of(const std::function<void()>& work) const {
    try {
      work();
    } catch (const Error& error) {
      return error.what();
    }
    ADD_FAILURE() << "no error";
    return "";
  }
  std::string message() const {
    return message_of([&] { read_arrow_table(file_); });
  }

  // Needs the plugin beside the test program, where a build with ASSAY_ARROW_ROOT puts it.
  static bool built() { return fs::exists(fs::read_symlink("/proc/self/exe").parent_path() / "libassay_arrow.so"); }

  fs::path folder_;
  std::string file_;
};

Table sample() {
  Table table;
  table.columns = {{"x"}, {"colour", ColumnKind::categorical, {"blue", "red"}}};
  table.values = Matrix(3, 2);
  table.values(0, 0) = 0.25f;
  table.values(1, 0) = NAN;
  table.values(2, 1) = 1;
  table.label = 1;
  table.id_name = "id";
  table.ids = {"a", "b", "c"};
  return table;
}

TEST_F(TablePlugin, NamesOfArrowFiles) {
  for (const char* name : {"a.parquet", "a.pq", "A.FEATHER", "b/c.arrow", "a.parquet.gz", "a.pq.xz"}) {
    EXPECT_TRUE(is_arrow_path(name)) << name;
  }
  for (const char* name : {"a.csv", "parquet", "a.parquet.zip", ""}) EXPECT_FALSE(is_arrow_path(name)) << name;
  EXPECT_THAT(message_of([] { read_arrow_table("a.csv"); }), HasSubstr("a.csv: expected a name that ends in .parquet"));
}

TEST_F(TablePlugin, MissingPluginSaysWhatToDo) {
  look_in(folder_);
  const auto wanted = AllOf(HasSubstr(file_ + ": Parquet and Feather need the Arrow plugin"),
                            HasSubstr("libassay_arrow.so is not in " + folder_.string()), HasSubstr("`make build`"),
                            HasSubstr("pyarrow wheel"), HasSubstr("ASSAY_PLUGIN_DIR"));
  EXPECT_THAT(message(), wanted);
  EXPECT_THAT(message_of([&] { write_arrow_table(sample(), file_); }), wanted);
}

TEST_F(TablePlugin, MissingFileIsSaidFirst) {
  look_in(folder_);
  EXPECT_THAT(message_of([] { read_arrow_table("/nowhere/x.parquet"); }), HasSubstr("/nowhere/x.parquet: cannot open"));
}

TEST_F(TablePlugin, RefusesAFileThatIsNoLibrary) {
  look_in(folder_);
  std::ofstream(folder_ / "libassay_arrow.so") << "text";
  EXPECT_THAT(message(), HasSubstr(file_ + ": the Arrow plugin cannot be loaded: "));
}

TEST_F(TablePlugin, RefusesALibraryThatIsNoPlugin) {
  Dl_info zlib{};
  const fs::path library = ::dladdr(reinterpret_cast<void*>(&::crc32), &zlib) != 0 ? zlib.dli_fname : "";
  if (library.string().find(".so") == std::string::npos) GTEST_SKIP() << "zlib is not a shared library here";
  look_in(folder_);
  fs::create_symlink(fs::canonical(library), folder_ / "libassay_arrow.so");
  EXPECT_THAT(message(), HasSubstr("found a library without assay_table_plugin_v1"));
}

TEST_F(TablePlugin, RefusesAnotherVersion) {
  AssayTablePlugin plugin{7, "future", nullptr, nullptr};
  EXPECT_THAT(message_of([&] { checked_plugin(&plugin, "p.so"); }),
              HasSubstr("p.so: expected a table plugin of version 1, found version 7"));
  plugin.version = ASSAY_TABLE_PLUGIN_VERSION;
  EXPECT_THAT(message_of([&] { checked_plugin(&plugin, "p.so"); }), HasSubstr("cannot read and write"));
  EXPECT_THAT(message_of([&] { checked_plugin(nullptr, "p.so"); }), HasSubstr("found an empty one"));
}

TEST_F(TablePlugin, FilesRoundTrip) {
  if (!built()) GTEST_SKIP() << "built without ASSAY_ARROW_ROOT";
  const Table table = sample();
  for (const char* name : {"t.parquet", "t.pq.gz", "t.feather", "t.arrow.xz"}) {
    const std::string path = (folder_ / name).string();
    write_arrow_table(table, path);
    const Table back = read_arrow_table(path);
    ASSERT_EQ(column_names(back), column_names(table)) << name;
    EXPECT_EQ(back.columns[1].levels, table.columns[1].levels);
    EXPECT_EQ(back.ids, table.ids);
    EXPECT_EQ(back.id_name, "id");
    EXPECT_EQ(back.label, table.label);
    EXPECT_EQ(back.values(0, 0), 0.25f);
    EXPECT_TRUE(std::isnan(back.values(1, 0)));
    EXPECT_EQ(back.values(2, 1), 1);
  }
}

TEST_F(TablePlugin, DamagedFilesAreErrors) {
  if (!built()) GTEST_SKIP() << "built without ASSAY_ARROW_ROOT";
  EXPECT_THAT(message(), HasSubstr(file_ + ": expected a valid Parquet file, found "));
  for (const char* name : {"t.parquet", "t.feather"}) {
    const std::string path = (folder_ / name).string();
    write_arrow_table(sample(), path);
    const std::string whole = read_all(*open_bytes(path));
    // Every byte spoilt in turn: an error, or other values where nothing guards them, but never a crash.
    for (size_t i = 0; i < whole.size(); ++i) {
      std::string spoilt = whole;
      spoilt[i] = static_cast<char>(spoilt[i] ^ 0x55);
      std::ofstream(path, std::ios::binary) << spoilt;
      try {
        read_arrow_table(path);
      } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr(path));
      } catch (const std::bad_alloc&) {
        SUCCEED();  // a size that was spoilt
      }
    }
    for (const size_t size : {size_t{0}, size_t{5}, whole.size() / 2, whole.size() - 1}) {
      std::ofstream(path, std::ios::binary) << whole.substr(0, size);
      EXPECT_THAT(message_of([&] { read_arrow_table(path); }), HasSubstr(path + ": expected a valid ")) << size;
    }
  }
}

TEST_F(TablePlugin, AFailedWriteIsAnError) {
  if (!built()) GTEST_SKIP() << "built without ASSAY_ARROW_ROOT";
  EXPECT_THAT(message_of([] { write_arrow_table(sample(), "/nowhere/x.parquet"); }), HasSubstr("cannot write it"));
  const std::string full = (folder_ / "full.parquet").string();
  fs::create_symlink("/dev/full", full);
  EXPECT_THAT(message_of([&] { write_arrow_table(sample(), full); }), HasSubstr("No space left"));
}

}  // namespace
}  // namespace assay
