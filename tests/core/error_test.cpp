#include "assay/core/error.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/message.h"

namespace assay {
namespace {

TEST(Errors, SayWhereWhatWasExpectedAndWhatWasFound) {
  EXPECT_EQ(message_of([] { fail_input("a.csv, line 3", "a number", "'x'"); }),
            "a.csv, line 3: expected a number, found 'x'");
  EXPECT_EQ(message_of([] { fail_io("a.csv", "open it", 2); }), "a.csv: cannot open it: No such file or directory");
}

TEST(Errors, TextFromOutsideIsMadeSafeAndShort) {
  EXPECT_EQ(in_quotes("a\nb\x1b[31m"), "'a\\x0ab\\x1b[31m'");
  EXPECT_EQ(in_quotes(std::string(100, 'a')), fmt::format("'{}...'", std::string(60, 'a')));
  // 59 letters and a two-byte letter: the cut at 60 bytes would split it.
  EXPECT_EQ(in_quotes(std::string(59, 'a').append("\xC3\xA9zzz")), fmt::format("'{}...'", std::string(59, 'a')));
}

// Above ASCII there are control characters, too: U+009B begins an escape sequence, U+2028 ends a line, U+202E turns the
// text around. A name may be in any script.
TEST(Errors, NoTextCommandsATerminal) {
  EXPECT_EQ(one_line("a\u009B31m"), "a\\u{9b}31m");
  EXPECT_EQ(one_line("\u0080\u0085"), "\\u{80}\\u{85}");
  EXPECT_EQ(one_line("a\u2028b\u2029"), "a\\u{2028}b\\u{2029}");
  for (const char* turned : {"\u200E", "\u200F", "\u202A", "\u202E", "\u2066", "\u2069", "\u061C", "\U000E0041"}) {
    EXPECT_EQ(one_line(turned).substr(0, 3), "\\u{") << turned;
  }
  for (const char* kept : {"\u00A0", "\u00E9", "\u061B", "\u2010", "\u2027", "\u202F", "\u4E2D", "\U0001F600"}) {
    EXPECT_EQ(one_line(kept), kept);
  }
}

TEST(Errors, LowerCaseIsAsciiAlone) { EXPECT_EQ(lower_case("A.Csv\xC3\x89Z"), "a.csv\xC3\x89z"); }

TEST(Errors, SuggestsANearName) {
  const std::vector<std::string> known = {"iris", "adult", "mnist"};
  EXPECT_EQ(suggestion("irs", known), " (did you mean 'iris'?)");
  EXPECT_EQ(suggestion("adlut", known), " (did you mean 'adult'?)");
  EXPECT_EQ(suggestion("weather", known), "");
  EXPECT_EQ(suggestion(std::string(100000, 'x'), known), "");
}

TEST(Errors, EntriesOfATableAreFoundByTheirName) {
  struct Entry {
    std::string name;
    int value = 0;
  };
  const std::vector<Entry> table = {{"mean", 1}, {"median", 2}};
  const auto find = [&](std::string_view name) -> const Entry& {
    return find_by_name("aggregator", std::span<const Entry>(table), name);
  };
  EXPECT_EQ(&find("median"), &table[1]);
  EXPECT_EQ(message_of([&] { find("men"); }),
            "aggregator: expected mean or median, found 'men' (did you mean 'mean'?)");
  EXPECT_EQ(message_of([&] { find("ranks"); }), "aggregator: expected mean or median, found 'ranks'");
}

TEST(Errors, ListsReadAsSentences) {
  EXPECT_EQ(joined({}), "");
  EXPECT_EQ(joined({"a"}), "a");
  EXPECT_EQ(joined({"a", "b"}), "a and b");
  EXPECT_EQ(joined({"a", "b", "c"}, "or"), "a, b or c");
}

}  // namespace
}  // namespace assay
