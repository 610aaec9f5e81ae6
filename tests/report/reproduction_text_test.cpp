// The paper's experiments as text, Markdown and JSON, from numbers given here; and pictures.
#include "assay/report/reproduction_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "assay/report/png.h"
#include "assay/study/reproduce/claims.h"

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Three runs of iris: AVA below SHAP.
Reproduction example() {
  Reproduction made;
  made.variants = {"", "norm=raw"};
  made.plan.runs = 3;
  made.networks.push_back({.data = "iris", .auc_interval = {0.9, 1}});
  made.notes = {"adult is left out: its <files> are not found"};
  for (const char* variant : {"", "norm=raw"}) {
    for (const double run : {0.0, 0.1, 0.2}) {
      made.results.add({variant, "ava", "iris", "SHAP", "avg at r"}, 2 + run, 0.75);
      made.results.add({variant, "ava", "iris", "AVA", "avg at r"}, variant[0] == 0 ? 1 + run / 2 : NAN, 0.75);
    }
  }
  judge_claims(made);
  return made;
}

const ReproductionOrigin kOrigin{"assay reproduce ava", "9.8.7", 5, false};

TEST(ReproductionText, HasClaimsNumbersAndNotes) {
  const std::string text = reproduction_text(example());
  EXPECT_THAT(text, HasSubstr("- holds: AVA lowers average sensitivity on all data sets (section 7.4)\n"));
  EXPECT_THAT(text, HasSubstr("note: adult is left out"));
  // 2, 2.1, 2.2: mean 2.1, deviation 0.1; 2.1 -+ 4.3027 * 0.1 / sqrt 3. The paper: 0.22.
  EXPECT_THAT(text, ::testing::ContainsRegex("ava +iris +SHAP +avg at r +0.22 +2.1 +1.852 to 2.348 +3 +75 %"));
  EXPECT_THAT(text, Not(HasSubstr("norm=raw")));  // the set-up alone
  std::istringstream lines(text.substr(0, text.find("\nnumbers")));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
}

TEST(ReproductionText, VerdictsInAtMostSixLines) {
  std::vector<Claim> claims = paper_claims();
  using enum Verdict;
  const Verdict all[] = {holds, partly, fails, paper_disagrees, by_construction, cannot_be_tested};
  for (size_t i = 0; i < claims.size(); i++) claims[i].verdict = all[i % 6];
  const std::string lines = verdict_lines(claims);
  EXPECT_EQ(std::ranges::count(lines, '\n'), 6);
  EXPECT_THAT(lines, HasSubstr("- **holds** (2): SHAP is the most faithful explanation on the small data sets (Adult, "
                               "Iris); AVA lowers maximum sensitivity on all data sets.\n"));
  EXPECT_THAT(lines, Not(HasSubstr("SS apart")));  // asked later
}

TEST(ReproductionText, PageHasThePapersLayoutAndAnAnnex) {
  const std::string page = reproduction_markdown(example(), kOrigin, "page-");
  EXPECT_THAT(page, HasSubstr("Written by `assay reproduce ava` (assay 9.8.7, seed 5)"));
  EXPECT_THAT(page, HasSubstr("| average sensitivity, SHAP | 0.22 +- 0.25 -> 2.10 +- 0.25 |\n"));
  EXPECT_THAT(page, HasSubstr("| rows with a neighbour | 75 % |\n"));
  EXPECT_THAT(page, HasSubstr("| 7.4 | AVA lowers average sensitivity on all data sets | **holds** | Holds in 1 of 1 "
                              "comparison."));
  EXPECT_THAT(page, HasSubstr("Note: adult is left out: its &lt;files&gt; are not found.\n"));
  EXPECT_THAT(page, HasSubstr("<details><summary>norm=raw</summary>"));
  EXPECT_THAT(page, HasSubstr("2.1 (1.852 to 2.348), of 75 %"));
  EXPECT_THAT(page, Not(HasSubstr("Table 2: faithfulness")));
  const std::string before = page.substr(0, page.find("\n## Annex"));
  EXPECT_LE(std::ranges::count(before, '\n'), 250);
}

TEST(ReproductionText, JsonHasEveryRun) {
  const auto found = nlohmann::json::parse(reproduction_json(example(), kOrigin));
  EXPECT_EQ(found["command"], "assay reproduce ava");
  EXPECT_EQ(found["version"], "9.8.7");
  EXPECT_EQ(found["setup"]["norm"], "auto");
  EXPECT_EQ(found["methods"]["DL"], "deeplift");
  ASSERT_EQ(found["cells"].size(), 4U);
  EXPECT_EQ(found["cells"][0]["cell"], (nlohmann::json{"", "ava", "iris", "SHAP", "avg at r"}));
  EXPECT_EQ(found["cells"][0]["runs"], (nlohmann::json{2, 2.1, 2.2}));
  EXPECT_EQ(found["cells"][0]["paper"], 0.22);
  EXPECT_EQ(found["cells"][0]["coverage"], 0.75);
  EXPECT_TRUE(found["cells"][3]["runs"][0].is_null());
  const auto& claim = found["claims"][5];
  EXPECT_EQ(claim["id"], "ava-average");
  EXPECT_EQ(claim["verdict"], "holds");
  EXPECT_EQ(claim["parts"][0]["second"][0], (nlohmann::json{"", "ava", "iris", "AVA", "avg at r"}));
  EXPECT_EQ(claim["our_numbers_alone"]["norm=raw"], "cannot be tested");
}

uint32_t big_endian(const std::string& bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; i++) value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
  return value;
}

// Read back by the rules of the format: signature, chunks with checksums, and the pixels behind zlib.
TEST(Png, ReadsBackPixelByPixel) {
  const std::vector<uint8_t> rgb = {1, 2, 3, 250, 251, 252, 0, 0, 0, 255, 255, 255, 9, 8, 7, 6, 5, 4};  // 3 x 2
  const std::string png = png_bytes(rgb, 3, 2);
  ASSERT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1a\n");
  std::string packed;
  std::vector<std::string> kinds;
  for (size_t at = 8; at < png.size();) {
    const uint32_t size = big_endian(png, at);
    kinds.push_back(png.substr(at + 4, 4));
    const std::string body = png.substr(at + 4, size + 4);
    EXPECT_EQ(big_endian(png, at + 8 + size),
              ::crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size())));
    if (kinds.back() == "IHDR") {
      EXPECT_EQ(big_endian(body, 4), 3U);
      EXPECT_EQ(big_endian(body, 8), 2U);
      EXPECT_EQ(body.substr(12), std::string("\x08\x02\x00\x00\x00", 5));
    }
    if (kinds.back() == "IDAT") packed = body.substr(4);
    at += size + 12;
  }
  EXPECT_EQ(kinds, (std::vector<std::string>{"IHDR", "IDAT", "IEND"}));
  std::string raw(2 * (3 * 3 + 1), '\0');
  uLongf size = raw.size();
  ASSERT_EQ(::uncompress(reinterpret_cast<Bytef*>(raw.data()), &size, reinterpret_cast<const Bytef*>(packed.data()),
                         static_cast<uLong>(packed.size())),
            Z_OK);
  ASSERT_EQ(size, raw.size());
  for (size_t y = 0; y < 2; y++) {
    EXPECT_EQ(raw[y * 10], '\0');
    for (size_t x = 0; x < 9; x++) EXPECT_EQ(static_cast<uint8_t>(raw[y * 10 + 1 + x]), rgb[y * 9 + x]);
  }
}

TEST(Png, ColoursOfAttributions) {
  Picture picture{.name = "made", .title = "made", .values = {1, -1, 0, 0}};
  const std::string coloured = picture_png(picture, 1);
  EXPECT_EQ(coloured, png_bytes(std::vector<uint8_t>{255, 51, 0, 0, 77, 255, 255, 255, 255, 255, 255, 255}, 2, 2));
  picture.attribution = false;
  picture.values = {1, 0.5F, 0, 0};
  EXPECT_EQ(picture_png(picture, 1),
            png_bytes(std::vector<uint8_t>{255, 255, 255, 128, 128, 128, 0, 0, 0, 0, 0, 0}, 2, 2));
}

}  // namespace
}  // namespace assay
