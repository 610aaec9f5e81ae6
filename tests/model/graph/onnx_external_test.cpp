// Tensors in files beside the model: good ones, and every way out of the model's folder.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "assay/model/graph/onnx.h"
#include "tests/message.h"
#include "tests/model/graph/onnx_bytes.h"

namespace assay {
namespace {

using namespace std::string_literals;
using namespace onnx_bytes;
namespace fs = std::filesystem;

// A folder with a model of one external tensor of two floats.
class OnnxExternal : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_ / "inside");
    save(folder_ / "weights.bin", "head" + as_bytes(1.0F) + as_bytes(2.0F) + as_bytes(3.0F));
    save(root_ / "secret.bin", "12345678");
  }
  void TearDown() override { fs::remove_all(root_); }
  static void save(const fs::path& path, const std::string& content) {
    std::ofstream(path, std::ios::binary) << content;
  }
  static std::string entry(const std::string& key, const std::string& value) {
    return bytes(13, bytes(1, key) + bytes(2, value));
  }
  static std::string external(const std::string& location, const std::string& rest, int64_t size = 2) {
    return bytes(5, tensor(OnnxElement::float32, {size}, entry("location", location) + rest + number(14, 1)));
  }
  OnnxModel read(const std::string& graph) const {
    save(folder_ / "m.onnx", in_model(graph));
    return read_onnx((folder_ / "m.onnx").string());
  }
  // The message without the name of the folder.
  std::string refusal(const std::string& location, const std::string& rest = "", int64_t size = 2) const {
    const std::string message = message_of([&] { read(external(location, rest, size)); });
    const std::string start = (folder_ / "m.onnx").string() + ": tensor 'w': ";
    return message.starts_with(start) ? message.substr(start.size()) : message;
  }

  const fs::path root_ = fs::path(::testing::TempDir()) / ("assay_onnx_" + std::to_string(::getpid()));
  const fs::path folder_ = root_ / "model";
};

TEST_F(OnnxExternal, IsReadFromTheModelsFolder) {
  const OnnxModel model = read(external("weights.bin", entry("offset", "4") + entry("length", "8")) +
                               external("./weights.bin", entry("offset", "8") + entry("checksum", "?")));
  EXPECT_EQ(to_floats("", model.graph.initializers[0]), (std::vector<float>{1, 2}));
  EXPECT_EQ(to_floats("", model.graph.initializers[1]), (std::vector<float>{2, 3}));
  fs::create_symlink("../weights.bin", folder_ / "inside" / "link");
  EXPECT_EQ(refusal("inside/link"), "no error");
  // The folder is the one of the path that was asked for, from wherever that is.
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  EXPECT_EQ(read_onnx("m.onnx").graph.initializers.size(), 1U);
  fs::current_path(before);
}

// A study hashes what a model was read from: a file of several names is one, and a location that is not used is none.
TEST_F(OnnxExternal, FilesAreListed) {
  save(folder_ / "inside" / "other.bin", "12345678");
  fs::create_symlink("../weights.bin", folder_ / "inside" / "link");
  const std::string unused =
      bytes(5, tensor(OnnxElement::float32, {2}, entry("location", "no.bin") + bytes(9, "12345678")));
  const std::string graph = unused + external("weights.bin", "") + external("inside/other.bin", "") +
                            external("./weights.bin", entry("offset", "8")) + external("inside/link", "");
  const OnnxModel model = read(graph);
  EXPECT_EQ(model.external_files, (std::vector<std::string>{(folder_ / "weights.bin").string(),
                                                            (folder_ / "inside" / "other.bin").string()}));
  EXPECT_EQ(read(unused).external_files, std::vector<std::string>());
  // Once written, all is in one file.
  EXPECT_EQ(parse_onnx("m.onnx", serialise_onnx(model), "").external_files, std::vector<std::string>());
}

TEST_F(OnnxExternal, IsRefusedFromElsewhere) {
  const std::string only = "expected external data in the model's folder, found ";
  EXPECT_EQ(refusal("../secret.bin"), only + "'../secret.bin'");
  EXPECT_EQ(refusal("inside/../../secret.bin"), only + "'inside/../../secret.bin'");
  EXPECT_EQ(refusal("/etc/passwd"), only + "'/etc/passwd'");
  fs::create_symlink("../secret.bin", folder_ / "link");
  EXPECT_TRUE(refusal("link").starts_with(only + "'link', a link to '")) << refusal("link");
  fs::create_directory_symlink(root_, folder_ / "out");
  EXPECT_TRUE(refusal("out/secret.bin").starts_with(only)) << refusal("out/secret.bin");
  // A folder whose name only starts like the model's is another one.
  fs::create_directories(root_ / "model2");
  save(root_ / "model2" / "w", "12345678");
  fs::create_symlink("../model2/w", folder_ / "twin");
  EXPECT_TRUE(refusal("twin").starts_with(only)) << refusal("twin");
  EXPECT_EQ(message_of([] { parse_onnx("m.onnx", in_model(external("weights.bin", "")), ""); }),
            "m.onnx: tensor 'w': expected its external data in the file 'weights.bin', found a model that is not in a "
            "folder");
}

TEST_F(OnnxExternal, IsComparedWithTheFile) {
  const std::string in_file = "expected its external data in the file ";
  EXPECT_EQ(refusal("gone.bin"), in_file + "'gone.bin', found no such file");
  EXPECT_EQ(refusal("inside"), in_file + "'inside', found something that is not a regular file");
  EXPECT_EQ(refusal("a\0b"s), in_file + "'a\\x00b', found no name of a file");
  EXPECT_EQ(refusal(""), "expected the location of its external data, found none");
  EXPECT_EQ(refusal("weights.bin", entry("offset", "12")),
            "expected 8 bytes at offset 12 of 'weights.bin', found a file of 16 bytes");
  EXPECT_EQ(refusal("weights.bin", entry("offset", "18446744073709551615")),
            "expected 8 bytes at offset 18446744073709551615 of 'weights.bin', found a file of 16 bytes");
  EXPECT_EQ(refusal("weights.bin", "", int64_t{1} << 40),
            "expected 4398046511104 bytes at offset 0 of 'weights.bin', found a file of 16 bytes");
  EXPECT_EQ(refusal("weights.bin", entry("length", "4")),
            "expected 8 bytes of external data for FLOAT (2), found a length of 4");
  EXPECT_EQ(refusal("weights.bin", entry("offset", "-1")),
            "expected a whole number as the offset of its external data, found '-1'");
  EXPECT_EQ(refusal("weights.bin", bytes(9, "12345678")), "expected external data alone, found raw_data too");
}

TEST_F(OnnxExternal, IsNotAskedForAgainAndAgain) {
  save(folder_ / "large.bin", std::string(5 << 20, 'x'));
  std::string graph;
  for (int i = 0; i < 4; ++i) graph += external("large.bin", "", (5 << 20) / 4);
  EXPECT_EQ(read(graph).graph.initializers.size(), 4U);
  graph += external("large.bin", "", (5 << 20) / 4);
  EXPECT_EQ(message_of([&] { read(graph); }),
            (folder_ / "m.onnx").string() +
                ": tensor 'w': expected tensors that share little of 'large.bin', found more than "
                "four times its 5242880 bytes asked for");
}

}  // namespace
}  // namespace assay
