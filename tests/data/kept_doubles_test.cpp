#include "assay/data/kept_doubles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include "assay/data/datasets.h"
#include "assay/data/io/array_table.h"
#include "assay/data/io/npy.h"
#include "assay/data/io/number.h"
#include "assay/data/table_io.h"

namespace assay::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

class KeptDoublesOfFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              (std::string("assay-doubles-") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }

  std::filesystem::path folder_;
  KeptDoubles doubles_;
};

TEST_F(KeptDoublesOfFiles, CsvKeepsColumnsThatFloat32Rounds) {
  const std::string path = file("a.csv",
                                "name,whole,half,tenth,late,text\n"
                                "r,16777217,0.5,0.1,1,x\n"
                                "s,3,1.5,,+0.25,y\n"
                                "t,NA,-2,1e-50,1700000000001,x\n");
  const Table table = read_table(path, {.id = "name", .doubles = &doubles_});
  EXPECT_EQ(doubles_.columns().size(), 3U);
  EXPECT_THAT(*doubles_.find("whole"), ElementsAre(16777217, 3, ::testing::IsNan()));
  EXPECT_THAT(*doubles_.find("tenth"), ElementsAre(0.1, ::testing::IsNan(), 1e-50));
  EXPECT_THAT(*doubles_.find("late"), ElementsAre(1, 0.25, 1700000000001));
  EXPECT_EQ(table.values(0, 2), 0.1F);
  // Not where nobody asks, and not of categories.
  EXPECT_EQ(read_table(path, {.id = "name"}).values.values()[0], table.values.values()[0]);
  KeptDoubles categorical;
  read_table(path, {.categorical = {"tenth"}, .id = "name", .doubles = &categorical});
  EXPECT_EQ(categorical.find("tenth"), nullptr);
}

TEST_F(KeptDoublesOfFiles, PartsHaveTheirOwn) {
  std::string text = "x,y\n";
  for (size_t i = 0; i < 50; i++) text += std::to_string(i) + ".1," + std::to_string(i % 2) + "\n";
  const std::string path = file("a.csv", text);
  for (const Split split : {Split::train, Split::test}) {
    KeptDoubles doubles;
    const Table part =
        open_table(path, {.categorical = {"y"}, .label = "y", .doubles = &doubles}, {.split = split, .seed = 3});
    const std::vector<double>& cells = *doubles.find("x");
    ASSERT_EQ(cells.size(), part.rows());
    ASSERT_LT(part.rows(), 50U);
    for (size_t i = 0; i < part.rows(); i++) {
      EXPECT_EQ(static_cast<float>(cells[i]), part.values(i, 0));
      EXPECT_EQ(cells[i], std::stod(std::to_string(static_cast<int>(cells[i])) + ".1"));
    }
  }
}

TEST_F(KeptDoublesOfFiles, NpyKeepsThem) {
  NpyArray array = npy_from_doubles(std::vector<double>{0.5, 0.1, 1, std::nan(""), 2, 1e8 + 1});
  array.shape = {3, 2};
  AtomicFile out(folder_ / "a.npy", {});
  write_npy(out, array);
  out.commit();
  read_table(folder_ / "a.npy", {.doubles = &doubles_});
  EXPECT_THAT(doubles_.columns(), ElementsAre(Pair("x2", ElementsAre(0.1, ::testing::IsNan(), 1e8 + 1))));
}

TEST(KeptDoubles, ParsedAsTheTextSays) {
  EXPECT_EQ(parse_double("+0.1"), 0.1);
  EXPECT_EQ(parse_double("0.30000000000000004"), 0.30000000000000004);
  EXPECT_EQ(parse_double("-1.7e12"), -1.7e12);
  EXPECT_EQ(parse_double("1e-400"), 0);
}

}  // namespace
}  // namespace assay::testing
