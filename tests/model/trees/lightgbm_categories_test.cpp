#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/message.h"
#include "tests/model/trees/lightgbm_text.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using namespace assay::testing::lightgbm;

class LightgbmCategories : public ::testing::Test {
 protected:
  // Of a constant model with these feature_infos.
  static Booster read(const std::string& infos, const std::string& listed, const std::string& frame) {
    size_t count = 1;
    std::string names = "f0";
    for (const char c : infos) {
      if (c == ' ') names += fmt::format(" f{}", count++);
    }
    return read_lightgbm(
        "m.txt", fmt::format("tree\nversion=v4\nnum_tree_per_iteration=1\nmax_feature_idx={}\nobjective=regression\n"
                             "feature_names={}\nfeature_infos={}\n\nTree=0\n{}\n\nend of trees\n\nparameters:\n"
                             "[categorical_feature: {}]\nend of parameters\n\npandas_categorical:{}\n",
                             count - 1, names, infos, constant(1), listed, frame));
  }
};
constexpr const char* kUnmatched =
    "The file has the texts of categories but does not tell of which features: categories are the codes of the "
    "training "
    "table, 0, 1, 2 and so on.";

TEST_F(LightgbmCategories, AreCodesWithoutTexts) {
  EXPECT_THAT(read("[0:1] 3:5 none none", "1,3", "null").categories,
              ElementsAre(Pair(1, IsEmpty()), Pair(3, IsEmpty())));
  EXPECT_THAT(read("[0:1] none", "name:a,9,-1", "[]").categories, IsEmpty());
  EXPECT_THAT(read_lightgbm("m.txt", kLightgbmModel).categories, ElementsAre(Pair(2, IsEmpty())));
  // A categorical split is enough.
  const std::string bare = with(with(kLightgbmModel, "-1:1:0:34", "none"), "[categorical_feature: 2]\n", "");
  EXPECT_THAT(read_lightgbm("m.txt", bare).categories, ElementsAre(Pair(2, IsEmpty())));
}

TEST_F(LightgbmCategories, TakeTheTextsOfAFrameInItsOrder) {
  const Booster booster =
      read("[0:1] -1:1:0 none 2:0", "1,2,3", R"([["a", "b\u00e9"], [true, false], [1, 2.0, 2.5, "x y"]])");
  EXPECT_THAT(booster.categories, ElementsAre(Pair(1, ElementsAre("a", "bé")), Pair(2, ElementsAre("True", "False")),
                                              Pair(3, ElementsAre("1", "2", "2.5", "x y"))));
  EXPECT_EQ(booster.note, "");
}

// Ordered categories are numbers to LightGBM; numbers may be categories that no frame has texts for.
TEST_F(LightgbmCategories, AreMatchedWhereThereIsOneWay) {
  EXPECT_THAT(read("[-1:1] [0:2] 0:1:3", "2", R"([["l", "m", "h"], ["a", "b", "c", "d"]])").categories,
              ElementsAre(Pair(1, ElementsAre("l", "m", "h")), Pair(2, ElementsAre("a", "b", "c", "d"))));
  EXPECT_THAT(read("[0.5:1] 0:1:4 0:1:3", "1,2", R"([["a", "b", "c", "d"]])").categories,
              ElementsAre(Pair(1, IsEmpty()), Pair(2, ElementsAre("a", "b", "c", "d"))));
  // As many lists as categories, but not of them.
  EXPECT_THAT(read("[0.5:1] [0:3] 0:1:4", "2", R"([["a", "b", "c", "d"]])").categories,
              ElementsAre(Pair(1, ElementsAre("a", "b", "c", "d")), Pair(2, IsEmpty())));
}

TEST_F(LightgbmCategories, StayCodesWhereThereAreMoreWaysOrNone) {
  const Booster two = read("[0.5:1] 0:1:2 0:1:3", "1,2", R"([["a", "b", "c", "d"]])");
  EXPECT_THAT(two.categories, ElementsAre(Pair(1, IsEmpty()), Pair(2, IsEmpty())));
  EXPECT_EQ(two.note, kUnmatched);
  const Booster no_way = read("[0.5:1] 0:1:4", "1", R"([["a", "b", "c", "d"]])");
  EXPECT_THAT(no_way.categories, ElementsAre(Pair(1, IsEmpty())));
  EXPECT_EQ(no_way.note, kUnmatched);
  EXPECT_EQ(read("[0:1] 0:1", "1", R"([["a", "b"], ["c", "d"], ["e", "f"]])").note, kUnmatched);
}

TEST_F(LightgbmCategories, AreRefusedWhereTheyAreNoListsOfTexts) {
  const auto refused = [&](const std::string& frame) { return sentence([&] { read("0:1", "0", frame); }); };
  EXPECT_EQ(refused("[[\"a\""), "m.txt, pandas_categorical: expected a list of lists in JSON, found what is no JSON");
  EXPECT_EQ(refused("{}"), "m.txt, pandas_categorical: expected a list of lists in JSON, found object");
  EXPECT_EQ(refused("[3]"), "m.txt, pandas_categorical: expected a list of lists in JSON, found number in the list");
  EXPECT_EQ(refused("[[null]]"), "m.txt, pandas_categorical: expected texts and numbers, found null");
  EXPECT_EQ(sentence([&] { read("0:x", "", ""); }),
            "m.txt, feature_infos: expected [least:most], a list of categories or none, found '0:x'");
  EXPECT_EQ(refusal(with(kLightgbmModel, " -1:1:0:34", "")), "m.txt, feature_infos: expected 3 of them, found 2");
}

}  // namespace
}  // namespace assay
