#include "assay/model/trees/flat_document.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "tests/message.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Kind = FlatDocument::Kind;

std::string json_error(std::string_view text) {
  return sentence([&] { parse_flat_json("f", text); });
}

std::string ubjson_error(std::string_view bytes) {
  return sentence([&] { parse_flat_ubjson("f", bytes); });
}

// With zeros inside.
template <size_t kSize>
std::string_view bytes_of(const char (&text)[kSize]) {
  return {text, kSize - 1};
}

std::string text_of(std::string_view json) {
  const FlatDocument document = parse_flat_json("f", json);
  return std::string(document.root().text());
}

TEST(FlatDocument, FindsValuesByTheirKeys) {
  const FlatDocument document = parse_flat_json(
      "f", R"( { "a" : [1, -2.5e1 ,true,false] , "b":{"c":[],"d":["x",{"e":null},[3],[]]},"a":7, "":{} } )");
  const FlatDocument::Value root = document.root();
  EXPECT_EQ(root.kind(), Kind::object);
  // The last of two.
  EXPECT_EQ(root["a"].number(), 7);
  EXPECT_EQ(root["b"]["c"].kind(), Kind::list);
  EXPECT_THAT(root["b"]["c"].items(), IsEmpty());
  const auto items = root["b"]["d"].items();
  ASSERT_EQ(items.size(), 4U);
  EXPECT_EQ(items[0].text(), "x");
  EXPECT_EQ(items[1]["e"].kind(), Kind::null);
  EXPECT_THAT(items[2].numbers(), ElementsAre(3));
  EXPECT_EQ(root[""].kind(), Kind::object);
  for (const auto& nothing : {root["z"], root["a"]["b"], root["b"]["d"]["e"], root["z"]["z"]}) {
    EXPECT_FALSE(nothing.exists());
    EXPECT_TRUE(std::isnan(nothing.number()));
    EXPECT_THAT(nothing.numbers(), IsEmpty());
    EXPECT_THAT(nothing.items(), IsEmpty());
    EXPECT_EQ(nothing.text(), "");
  }
  EXPECT_FALSE(FlatDocument().root().exists());
}

TEST(FlatJson, ReadsNumbers) {
  const FlatDocument document = parse_flat_json("f", "[0, -0.5, 1E2, 3e-45, true, false, Infinity, -Infinity, NaN]");
  const auto numbers = document.root().numbers();
  ASSERT_EQ(numbers.size(), 9U);
  EXPECT_THAT(numbers.first(4), ElementsAre(0, -0.5, 100, 3e-45));
  EXPECT_THAT(numbers.subspan(4, 2), ElementsAre(1, 0));
  EXPECT_EQ(numbers[6], std::numeric_limits<double>::infinity());
  EXPECT_EQ(numbers[7], -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(numbers[8]));
  // Doubles stay doubles where rounding them once more is harmless.
  EXPECT_EQ(parse_flat_json("f", "0.1").root().number(), 0.1);
  EXPECT_EQ(parse_flat_json("f", "1e300").root().number(), 1e300);
}

TEST(FlatJson, ReadsTexts) {
  EXPECT_EQ(text_of(R"("a b")"), "a b");
  EXPECT_EQ(text_of(R"("\"\\\/\b\f\n\r\t")"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(text_of(R"("x\u0041\u00fc\u20ac\ud83d\ude00y")"), "xA\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80y");
}

TEST(FlatJson, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(json_error(""), "f: expected a value of JSON, found the end of the file at byte 0");
  EXPECT_EQ(json_error("  hello"), "f: expected a value of JSON, found 'h' at byte 2");
  EXPECT_EQ(json_error("1 2"), "f: expected the end of the document, found '2' at byte 2");
  EXPECT_EQ(json_error("[1,]"), "f: expected a number in an array of numbers, found ']' at byte 3");
  EXPECT_EQ(json_error("[1 2]"), "f: expected ',' or ']' in an array of JSON, found '2' at byte 3");
  EXPECT_EQ(json_error("[1,\"a\"]"), "f: expected a number in an array of numbers, found '\"' at byte 3");
  EXPECT_EQ(json_error("[\"a\",1]"), "f: expected no numbers in an array that begins without, found '1' at byte 5");
  EXPECT_EQ(json_error("[\"a\" \"b\"]"), "f: expected ',' or ']' in an array of JSON, found '\"' at byte 5");
  EXPECT_EQ(json_error("{a:1}"), "f: expected a key of JSON in double quotes, found 'a' at byte 1");
  EXPECT_EQ(json_error("{\"a\" 1}"), "f: expected ':' after a key of JSON, found '1' at byte 5");
  EXPECT_EQ(json_error("{\"a\":1 \"b\":2}"), "f: expected ',' or '}' in an object of JSON, found '\"' at byte 7");
  EXPECT_EQ(json_error("\"a"), "f: expected '\"' at the end of a text, found the end of the file at byte 2");
  EXPECT_EQ(json_error("\"a\\"), "f: expected an escape of JSON after '\\', found the end of the file at byte 3");
  EXPECT_EQ(json_error(R"("\x")"), "f: expected an escape of JSON after '\\', found 'x' at byte 2");
  EXPECT_EQ(json_error(R"("\u12g4")"), "f: expected four hexadecimal digits, found '1' at byte 3");
  EXPECT_EQ(json_error(R"("\u-123")"), "f: expected four hexadecimal digits, found '-' at byte 3");
  EXPECT_EQ(json_error(R"("\ud800x")"), "f: expected a pair of surrogates, found 'x' at byte 7");
  EXPECT_EQ(json_error(R"("\udc00")"), "f: expected a pair of surrogates, found '\"' at byte 7");
  EXPECT_EQ(json_error(R"("\ud800\u0041")"),
            "f: expected the second half of a pair of surrogates, found '\"' at byte 13");
  for (const char* number : {"-", "-inf", "-nan", "1e999", "1e-999", "--1"}) {
    EXPECT_EQ(json_error(number),
              "f: expected a number of JSON that a double can hold, found '" + std::string(1, *number) + "' at byte 0")
        << number;
  }
}

TEST(FlatJson, BoundsDepth) {
  const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(json_error(nested(kDeepestDocument)), "no error");
  EXPECT_EQ(json_error(nested(kDeepestDocument + 2)), "f: expected at most 32 levels of JSON, found '[' at byte 33");
  EXPECT_EQ(json_error(std::string(1'000'000, '[')), "f: expected at most 32 levels of JSON, found '[' at byte 33");
}

TEST(FlatUbjson, ReadsEveryType) {
  const FlatDocument document =
      parse_flat_ubjson("f", bytes_of("{i\x01"
                                      "a[i\xffU\xffI\xff\xfel\x00\x00\x01\x00L\xff\xff\xff\xff\xff\xff\xff\xff"
                                      "d\xbf\x00\x00\x00"
                                      "D\x3f\xb9\x99\x99\x99\x99\x99\x9aTF]"
                                      "U\x01"
                                      "bSI\x00\x02hi"
                                      "l\x00\x00\x00\x01"
                                      "cCx"
                                      "i\x01"
                                      "dZ"
                                      "i\x01"
                                      "e[$I#i\x02\x00\x01\xff\xff"
                                      "i\x01"
                                      "f[$S#i\x02i\x01xi\x00"
                                      "i\x01"
                                      "g{$i#i\x01i\x01h\x05"
                                      "i\x01"
                                      "h[#i\x00"
                                      "i\x01"
                                      "i[$d#i\x00"
                                      "i\x01"
                                      "j[$[#i\x02i\x01]]"
                                      "}"));
  const FlatDocument::Value root = document.root();
  EXPECT_THAT(root["a"].numbers(), ElementsAre(-1, 255, -2, 256, -1, -0.5, 0.1, 1, 0));
  EXPECT_EQ(root["b"].text(), "hi");
  EXPECT_EQ(root["c"].text(), "x");
  EXPECT_EQ(root["d"].kind(), Kind::null);
  EXPECT_THAT(root["e"].numbers(), ElementsAre(1, -1));
  ASSERT_EQ(root["f"].items().size(), 2U);
  EXPECT_EQ(root["f"].items()[0].text(), "x");
  EXPECT_EQ(root["g"]["h"].number(), 5);
  EXPECT_EQ(root["h"].kind(), Kind::list);
  EXPECT_EQ(root["i"].kind(), Kind::numbers);
  EXPECT_THAT(root["i"].numbers(), IsEmpty());
  ASSERT_EQ(root["j"].items().size(), 2U);
  EXPECT_THAT(root["j"].items()[0].numbers(), ElementsAre(1));
}

TEST(FlatUbjson, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(ubjson_error(""), "f: expected a value of UBJSON, found the end of the file at byte 0");
  EXPECT_EQ(ubjson_error("x"), "f: expected a value of UBJSON, found 'x' at byte 0");
  EXPECT_EQ(ubjson_error("ZZ"), "f: expected the end of the document, found 'Z' at byte 1");
  EXPECT_EQ(ubjson_error("l\x01"), "f: expected 4 more bytes at byte 1, found 1");
  EXPECT_EQ(ubjson_error("{d"), "f: expected a length of UBJSON, found 'd' at byte 1");
  EXPECT_EQ(ubjson_error("Si\xff"), "f: expected a length of at most the 0 bytes that are left at byte 1, found -1");
  EXPECT_EQ(ubjson_error("Si\x05"
                         "abc"),
            "f: expected a length of at most the 3 bytes that are left at byte 1, found 5");
  EXPECT_EQ(ubjson_error("[$ix"), "f: expected '#' after a type of UBJSON, found 'x' at byte 3");
  EXPECT_EQ(ubjson_error("[i\x01Z]"), "f: expected a number in an array of numbers, found 'Z' at byte 3");
  EXPECT_EQ(ubjson_error("[Zi\x01]"), "f: expected no numbers in an array that begins without, found 'i' at byte 2");
  EXPECT_EQ(ubjson_error("[Z"), "f: expected a value or the end of an array, found the end of the file at byte 2");
}

// Short files that claim to be large.
TEST(FlatUbjson, TakesNoMemoryForWhatIsNotThere) {
  EXPECT_EQ(ubjson_error(bytes_of("[$l#L\x7f\xff\xff\xff\xff\xff\xff\xff"
                                  "abcd")),
            "f: expected a length of at most the 4 bytes that are left at byte 4, found 9.223372036854776e+18");
  EXPECT_EQ(ubjson_error(bytes_of("[$l#i\x04"
                                  "abcdefgh")),
            "f: expected 16 more bytes at byte 6, found 8");
  for (const char* type : {"Z", "T", "F", "N"}) {
    EXPECT_EQ(ubjson_error(std::string("[$") + type + std::string("#l\x00\xff\xff\xff", 6)),
              std::string("f: expected a type whose values have bytes, found '") + type + "' at byte 2");
  }
  std::string nested;
  for (int i = 0; i < 1000; i++) nested += "[$[#i\x01";
  EXPECT_EQ(ubjson_error(nested).substr(0, 42), "f: expected at most 32 levels of UBJSON, f");
  EXPECT_EQ(ubjson_error(std::string(1'000'000, '[')).substr(0, 42), "f: expected at most 32 levels of UBJSON, f");
}

}  // namespace
}  // namespace assay
