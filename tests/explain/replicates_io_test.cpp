#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "assay/data/io/npz.h"
#include "assay/explain/explanations.h"
#include "tests/explain/reasons/some_explanations.h"
#include "tests/message.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

std::string file_for(const std::string& extension) {
  return ::testing::TempDir() + "replicates_" + ::testing::UnitTest::GetInstance()->current_test_info()->name() +
         extension;
}

Explanations with_three_replicates() {
  Explanations made = testing::made_of({{-3, 2}, {1, -4}}, {0, -2});
  made.replicates = Matrix(2, 3 * 2);
  for (size_t i = 0; i < 12; i++) made.replicates.values()[i] = 0.25F * static_cast<float>(i) - 1;
  return made;
}

TEST(ReplicatesInFiles, NpzKeepsThemAndOtherFormatsDoNot) {
  const Explanations made = with_three_replicates();
  ASSERT_EQ(made.replicate_count(), 3U);
  EXPECT_EQ(made.replicate(1, 2)[0], 1.5F);  // the 11th number: 10 / 4 - 1
  write_explanations(made, file_for(".npz"), {});
  const Explanations read = read_explanations(file_for(".npz"), {});
  ASSERT_EQ(read.replicate_count(), 3U);
  EXPECT_TRUE(std::ranges::equal(read.replicates.values(), made.replicates.values()));
  EXPECT_EQ(read.provenance.draw, kNothingDrawn);
  for (const char* extension : {".json", ".csv"}) {
    write_explanations(made, file_for(extension), {});
    EXPECT_EQ(read_explanations(file_for(extension), {}).replicate_count(), 0U) << extension;
  }
  EXPECT_EQ(testing::made_of({{1}}, {1}).replicate_count(), 0U);
}

// Shapes are checked before anything is read.
TEST(ReplicatesInFiles, ShapesThatDoNotFitAreNamed) {
  const std::string path = file_for(".npz");
  const auto refused = [&](NpyArray wrong) {
    std::vector<std::pair<std::string, NpyArray>> arrays;
    arrays.emplace_back("values", npy_from_matrix(with_three_replicates().values.view()));
    arrays.emplace_back("replicates", std::move(wrong));
    write_npz(path, arrays, false, {});
    return sentence([&] { read_explanations(path, {}); });
  };
  const std::string where = path + ", array 'replicates': expected 2 rows and a multiple of 2 columns, found ";
  EXPECT_EQ(refused(npy_from_matrix(Matrix(2, 3).view())), where + "2 x 3");
  EXPECT_EQ(refused(npy_from_matrix(Matrix(3, 2).view())), where + "3 x 2");
  EXPECT_EQ(refused(npy_from_doubles(std::vector<double>(4))), where + "4");
  EXPECT_EQ(refused(NpyArray{NpyType::float32, 4, {2, 0}, ""}), where + "2 x 0");
  EXPECT_THAT(refused(npy_from_strings(path, {"a", "b"})), HasSubstr("array 'replicates'"));
}

}  // namespace
}  // namespace assay
