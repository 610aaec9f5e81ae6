#include "assay/model/model_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/message.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

std::string refused(std::string_view bytes) {
  return message_of([&] { parse_model("m", bytes, ""); });
}

TEST(ModelFile, WhatIsNoModelIsNamed) {
  const std::string wanted =
      "m: expected an ONNX model, or what save_model of XGBoost (.json, .ubj) or LightGBM (.txt) writes, found ";
  EXPECT_EQ(refused(""), wanted + "an empty file");
  EXPECT_EQ(refused("\x80\x04\x95"), wanted + "a Python pickle, which is not opened here");
  EXPECT_EQ(refused(std::string("PK\x03\x04\0\0", 6)), wanted + "a zip archive, as PyTorch, Keras and NumPy write");
  EXPECT_EQ(refused("booster[0]:\n0:[f0<1] yes=1"), wanted + "a dump of the trees as text");
  EXPECT_EQ(refused(R"({"name": "tree", "tree_info": []})"), wanted + "a dump of the trees (dump_model)");
  EXPECT_EQ(refused("  {}"), wanted + "JSON of another kind");
  EXPECT_EQ(refused("[1, 2]"), wanted + "JSON of another kind");
  EXPECT_EQ(refused("a,b\n1,2\n"), wanted + "a text of another kind");
}

TEST(ModelFile, FilesOfEachKindGoToTheirReader) {
  EXPECT_THAT(refused("tree\nversion=v4\n"), HasSubstr("m"));
  EXPECT_THAT(refused("tree\nversion=v4\n"), ::testing::Not(HasSubstr("ONNX")));
  EXPECT_THAT(refused(R"({"learner": 3, "version": []})"), ::testing::Not(HasSubstr("ONNX")));
  EXPECT_THAT(refused(std::string("\x08\x07", 2)), HasSubstr("ONNX"));
  EXPECT_EQ(refused("\xEF\xBB\xBFtree\nversion=v4\n"), refused("tree\nversion=v4\n"));
  EXPECT_EQ(refused("\xEF\xBB\xBF{\"learner\": 3}"), refused("{\"learner\": 3}"));
  EXPECT_THAT(refused(" {L\0\0\0\0\0\0\0\7learner"), HasSubstr("expected an ONNX model"));
}

}  // namespace
}  // namespace assay
