#include "assay/core/options.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/message.h"

namespace assay {
namespace {

struct Example {
  int64_t samples = 2048;
  double tolerance = 0.5;
  bool paired = true;
  std::string form = "mean";

  void describe(OptionVisitor& visit) {
    visit.integer("samples", samples, "coalitions per row", "", 2, 1000000);
    visit.real("tolerance", tolerance, "largest error", "logits", 0, std::numeric_limits<double>::infinity());
    visit.flag("paired", paired, "complementary pairs");
    visit.choice("form", form, "which", {"mean", "pooled"});
  }
};

Example parse(const char* text) { return options_from<Example>(parse_spec("--method", text)); }

TEST(Specs, SplitsItemsAndOptions) {
  const auto specs = parse_specs("--methods", "kernel_shap:samples=2048:paired=true,deeplift");
  ASSERT_EQ(specs.size(), 2u);
  EXPECT_EQ(specs[0].name, "kernel_shap");
  ASSERT_EQ(specs[0].options.size(), 2u);
  EXPECT_EQ(specs[0].options[1], (std::pair<std::string, std::string>("paired", "true")));
  EXPECT_EQ(specs[1].name, "deeplift");
  EXPECT_TRUE(specs[1].options.empty());
}

TEST(Specs, BracketsKeepCommasAndColons) {
  const auto specs = parse_specs("x", "convex:weights=[0.2,0.8]:note=[a:b],mean");
  ASSERT_EQ(specs.size(), 2u);
  EXPECT_EQ(specs[0].options[0].second, "[0.2,0.8]");
  EXPECT_EQ(specs[0].options[1].second, "[a:b]");
}

TEST(Specs, RefusesWhatIsNotWellFormed) {
  const auto message = [](const char* text) { return message_of([&] { parse_specs("--methods", text); }); };
  EXPECT_EQ(message(""), "--methods: expected a name, as in name:option=value, found ''");
  EXPECT_EQ(message("a,,b"), "--methods: expected a name, as in name:option=value, found ''");
  EXPECT_EQ(message("a:b"), "--methods: expected option=value after a:, found 'b'");
  EXPECT_EQ(message("a:=1"), "--methods: expected option=value after a:, found '=1'");
  EXPECT_EQ(message("a:b=1:b=2"), "--methods: expected option 'b' of a once, found it twice");
  EXPECT_EQ(message("a:b=[1"), "--methods: expected a ']' for each '[', found 'a:b=[1'");
  EXPECT_EQ(message("a:b=1]"), "--methods: expected a '[' before each ']', found 'a:b=1]'");
  EXPECT_EQ(message_of([] { parse_spec("--model", "a,b"); }), "--model: expected one item, found 2");
}

TEST(Options, DefaultsAndValues) {
  EXPECT_EQ(parse("m").samples, 2048);
  const auto options = parse("m:samples=17:tolerance=1e-3:paired=false:form=pooled");
  EXPECT_EQ(options.samples, 17);
  EXPECT_EQ(options.tolerance, 1e-3);
  EXPECT_FALSE(options.paired);
  EXPECT_EQ(options.form, "pooled");
}

TEST(Options, EachBadValueIsRefusedInOneSentence) {
  const auto message = [](const char* text) { return message_of([&] { parse(text); }); };
  EXPECT_EQ(message("m:samples=1"), "m, option samples: expected a whole number, 2 to 1000000, found '1'");
  EXPECT_EQ(message("m:samples=2.5"), "m, option samples: expected a whole number, 2 to 1000000, found '2.5'");
  EXPECT_EQ(message("m:samples="), "m, option samples: expected a whole number, 2 to 1000000, found ''");
  EXPECT_EQ(message("m:tolerance=-1"), "m, option tolerance: expected a number, 0 or more, found '-1'");
  EXPECT_EQ(message("m:tolerance=nan"), "m, option tolerance: expected a number, 0 or more, found 'nan'");
  EXPECT_EQ(message("m:paired=yes"), "m, option paired: expected true or false, found 'yes'");
  EXPECT_EQ(message("m:form=max"), "m, option form: expected mean or pooled, found 'max'");
  EXPECT_EQ(message("m:sample=5"),
            "m has no option 'sample' (did you mean 'samples'?); its options are samples, tolerance, paired and form");
}

// A study's settings come from a file and may hold any bytes; a zero byte would cut the sentence short.
TEST(Options, NamesFromOutsideAreMadeSafe) {
  const std::string bad("\0m", 2);
  EXPECT_EQ(message_of([&] { options_from<Example>({bad, {{"samples", "x"}}}); }).substr(0, 13), "\\x00m, option");
  EXPECT_EQ(message_of([&] { options_from<Example>({bad, {{"b", "x"}}}); }).substr(0, 9), "\\x00m has");
  EXPECT_EQ(message_of([&] { parse_specs("--m", bad + ":x"); }), "--m: expected option=value after \\x00m:, found 'x'");
}

TEST(Options, ListShowsEachFieldWithItsDefault) {
  const auto fields = list_options<Example>();
  ASSERT_EQ(fields.size(), 4u);
  EXPECT_EQ(fields[0].name, "samples");
  EXPECT_EQ(fields[0].value, "2048");
  EXPECT_EQ(fields[0].range, "2 to 1000000");
  EXPECT_EQ(fields[1].unit, "logits");
  EXPECT_EQ(fields[1].range, "0 or more");
  EXPECT_EQ(fields[2].range, "true or false");
  EXPECT_EQ(fields[3].range, "mean or pooled");
}

struct Wide {
  std::optional<double> radius = {};
  std::optional<int64_t> subset = {};
  std::vector<double> shares = {0.1, 0.5};

  void describe(OptionVisitor& visit) {
    visit.real_or("radius", radius, "auto", "how far", "", 0, std::numeric_limits<double>::infinity());
    visit.integer_or("subset", subset, "auto", "how many", "players", 1, 100);
    visit.reals("shares", shares, "which", "", 0, 1);
  }
};

Wide parse_wide(const char* text) { return options_from<Wide>(parse_spec("--criteria", text)); }

TEST(Options, AWordStandsForANumberThatIsFoundLater) {
  EXPECT_FALSE(parse_wide("c").radius);
  EXPECT_FALSE(parse_wide("c:radius=auto:subset=auto").radius);
  EXPECT_EQ(parse_wide("c:radius=2.5").radius, 2.5);
  EXPECT_EQ(parse_wide("c:subset=7").subset, 7);
  const auto message = [](const char* text) { return message_of([&] { parse_wide(text); }); };
  EXPECT_EQ(message("c:radius=wide"), "c, option radius: expected auto, or a number, 0 or more, found 'wide'");
  EXPECT_EQ(message("c:radius=-1"), "c, option radius: expected auto, or a number, 0 or more, found '-1'");
  EXPECT_EQ(message("c:radius=nan"), "c, option radius: expected auto, or a number, 0 or more, found 'nan'");
  EXPECT_EQ(message("c:subset=0"), "c, option subset: expected auto, or a whole number, 1 to 100, found '0'");
  EXPECT_EQ(message("c:subset=1.5"), "c, option subset: expected auto, or a whole number, 1 to 100, found '1.5'");
}

TEST(Options, ListsOfNumbersAreInBrackets) {
  EXPECT_EQ(parse_wide("c").shares, (std::vector<double>{0.1, 0.5}));
  EXPECT_EQ(parse_wide("c:shares=[0.2,1,0]").shares, (std::vector<double>{0.2, 1, 0}));
  EXPECT_EQ(parse_wide("c:shares=0.25").shares, (std::vector<double>{0.25}));
  const auto message = [](const char* text) { return message_of([&] { parse_wide(text); }); };
  for (const char* bad : {"[]", "[0.1,]", "[2]", "[a]", "[nan]", "[0.1 0.2]", ""}) {
    EXPECT_EQ(message(fmt::format("c:shares={}", bad).c_str()),
              fmt::format("c, option shares: expected numbers in [ ] joined by commas, each 0 to 1, found '{}'", bad));
  }
}

TEST(Options, ListShowsWordsAndBrackets) {
  const auto fields = list_options<Wide>({.radius = {}, .subset = 3});
  ASSERT_EQ(fields.size(), 3u);
  EXPECT_EQ(fields[0].value, "auto");
  EXPECT_EQ(fields[0].range, "auto, or 0 or more");
  EXPECT_EQ(fields[1].value, "3");
  EXPECT_EQ(fields[1].unit, "players");
  EXPECT_EQ(fields[2].value, "[0.1,0.5]");
  EXPECT_EQ(fields[2].range, "numbers in [ ], each 0 to 1");
}

}  // namespace
}  // namespace assay
