#include "assay/archive/study_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/message.h"

namespace assay::testing {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

StudySettings small_settings() {
  return {.arguments = {"--data=a b.csv", "--methods=lime,gradient", "\xFF\n"},
          .seed = UINT64_MAX,
          .version = "0.1.0",
          .vector_target = "AVX2",
          .inputs = {{"model", "m.onnx", std::string(64, 'a')}, {"data (rows)", "iris"}},
          .program = "assay.study",
          .choices = {{{"sample", "200"}, {"methods", "lime,occlusion"}}}};
}

json small_json() { return json::parse(settings_json(small_settings())); }

std::string refusal(const json& changed) {
  return sentence([&] { settings_from_json("s.json", changed.dump()); });
}

TEST(StudySettings, ReadsWhatItWrites) {
  const StudySettings read = settings_from_json("s.json", settings_json(small_settings()));
  EXPECT_THAT(read.arguments, ElementsAre("--data=a b.csv", "--methods=lime,gradient", "\xEF\xBF\xBD\n"));
  EXPECT_EQ(read.seed, UINT64_MAX);
  EXPECT_EQ(read.version, "0.1.0");
  EXPECT_EQ(read.vector_target, "AVX2");
  EXPECT_EQ(read.program, "assay.study");
  EXPECT_EQ(read.choices, small_settings().choices);
  EXPECT_EQ(*read.choices.find("methods"), "lime,occlusion");
  EXPECT_EQ(read.choices.find("curves"), nullptr);
  ASSERT_EQ(read.inputs.size(), 2U);
  EXPECT_EQ(read.inputs[0].role, "model");
  EXPECT_EQ(read.inputs[0].sha256, std::string(64, 'a'));
  EXPECT_EQ(read.inputs[1].name, "iris");
  EXPECT_EQ(read.inputs[1].sha256, "");
}

TEST(StudySettings, WithoutAProgramTheyAreTheCommandLines) {
  json text = small_json();
  text.erase("program");
  text.erase("choices");  // as files have it that were written before there were any
  EXPECT_TRUE(settings_from_json("s.json", text.dump()).choices.empty());
  EXPECT_EQ(settings_from_json("s.json", text.dump()).program, "assay study");
  EXPECT_EQ(StudySettings{}.program, "assay study");
  EXPECT_EQ(json::parse(settings_json({})).at("program"), "assay study");
}

TEST(StudySettings, HostileTextIsAnInputError) {
  for (const char* key : {"schema", "version", "vector_target", "seed", "arguments", "inputs"}) {
    json text = small_json();
    text.erase(key);
    EXPECT_THAT(refusal(text), StartsWith("s.json: ")) << key;
    EXPECT_THAT(refusal(text), HasSubstr(key));
  }
  const std::vector<std::pair<std::string, json>> changes = {{"schema", "assay.settings/2"},
                                                             {"program", 3},
                                                             {"program", json::array({"assay study"})},
                                                             {"version", nullptr},
                                                             {"vector_target", 1},
                                                             {"seed", -1},
                                                             {"seed", 0.5},
                                                             {"seed", "0"},
                                                             {"arguments", "--data"},
                                                             {"arguments", json::array({1})},
                                                             {"choices", "sample"},
                                                             {"choices", json::array({1})},
                                                             {"choices", json::array({{"sample", 1}})},
                                                             {"choices", {{"a", "1"}, {"a", "2"}}},
                                                             {"inputs", json::object()},
                                                             {"inputs", json::array({1})},
                                                             {"inputs", json::array({{{"role", "data"}}})}};
  for (const auto& [key, value] : changes) {
    json text = small_json();
    text[key] = value;
    EXPECT_THAT(refusal(text), StartsWith("s.json")) << key << " " << value;
  }
  json bad_hash = small_json();
  bad_hash["inputs"][0]["sha256"] = "../../etc";
  EXPECT_THAT(refusal(bad_hash), HasSubstr("64"));
  for (const std::string text : {"", "[]", "{", "nul", "\xFF", "{\"a\":[[[[[[[[[[]]]]]]]]]]}"}) {
    EXPECT_THAT(sentence([&] { settings_from_json("s.json", text); }), StartsWith("s.json: ")) << text;
  }
}

TEST(StudySettings, AnotherProgramIsNamed) {
  StudySettings found = small_settings();
  EXPECT_EQ(message_of([&] { require_program("s/settings.json", found, kStudyFunction); }), "no error");
  EXPECT_EQ(sentence([&] { require_program("s/settings.json", found, kStudyCommand); }),
            "s/settings.json: it was made by assay.study of the Python package, which goes on with it or runs it "
            "again; `assay verify --files-only` checks its files");
  found.program = "assay study";
  EXPECT_EQ(message_of([&] { require_program("s/settings.json", found, kStudyCommand); }), "no error");
  EXPECT_THAT(sentence([&] { require_program("s/settings.json", found, kStudyFunction); }),
              HasSubstr("made by the command `assay study`, "));
  found.program = "a\nb";
  EXPECT_THAT(sentence([&] { require_program("s/settings.json", found, kStudyFunction); }),
              HasSubstr("made by 'a\\x0ab', "));
}

}  // namespace
}  // namespace assay::testing
