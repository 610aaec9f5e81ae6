#include "assay/model/ops/window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "assay/model/ops/node_setup.h"
#include "tests/message.h"
#include "tests/model/ops/single_node.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ints_attribute;
using testing::text_attribute;

Window window_of(std::vector<OnnxAttribute> attributes, std::vector<int64_t> input, std::vector<int64_t> kernel,
                 bool ceil_mode = false) {
  OnnxNode node;
  node.op_type = "MaxPool";
  node.attributes = std::move(attributes);
  const NodeSetup setup(node, 17, "test: node 1 (MaxPool)", {}, size_t{1} << 28);
  return make_window(setup, std::move(input), std::move(kernel), ceil_mode);
}

TEST(Window, StridesPadsAndDilations) {
  const Window window = window_of(
      {ints_attribute("strides", {2, 3}), ints_attribute("pads", {1, 0, 2, 4}), ints_attribute("dilations", {1, 2})},
      {7, 9}, {3, 2});
  // (7 + 3 - 3) / 2 + 1 and (9 + 4 - 3) / 3 + 1
  EXPECT_THAT(window.output, ElementsAre(4, 4));
  EXPECT_THAT(window.pads_begin, ElementsAre(1, 0));
  EXPECT_THAT(window.pads_end, ElementsAre(2, 4));
  EXPECT_EQ(window.start(0, 0), -1);
  EXPECT_EQ(window.start(0, 3), 5);
  EXPECT_TRUE(window.touches_padding());
}

TEST(Window, DefaultsAreStepsOfOneWithoutPadding) {
  const Window window = window_of({}, {5}, {3});
  EXPECT_THAT(window.output, ElementsAre(3));
  EXPECT_FALSE(window.touches_padding());
  EXPECT_FALSE(window_of({ints_attribute("strides", {2})}, {4}, {2}).touches_padding());
  // Padding at the end that no window reaches.
  EXPECT_FALSE(window_of({ints_attribute("strides", {2}), ints_attribute("pads", {0, 1})}, {4}, {2}).touches_padding());
  EXPECT_TRUE(window_of({ints_attribute("strides", {2})}, {5}, {2}, true).touches_padding());
}

TEST(Window, SamePadding) {
  const auto same = [](const char* which, int64_t input, int64_t kernel, int64_t stride, int64_t dilation = 1) {
    return window_of({text_attribute("auto_pad", which), ints_attribute("strides", {stride}),
                      ints_attribute("dilations", {dilation})},
                     {input}, {kernel});
  };
  const Window upper = same("SAME_UPPER", 32, 2, 1);
  EXPECT_THAT(upper.output, ElementsAre(32));
  EXPECT_THAT(upper.pads_begin, ElementsAre(0));
  EXPECT_THAT(upper.pads_end, ElementsAre(1));
  const Window lower = same("SAME_LOWER", 32, 2, 1);
  EXPECT_THAT(lower.pads_begin, ElementsAre(1));
  EXPECT_THAT(lower.pads_end, ElementsAre(0));
  // ceil(5 / 2) = 3 windows span (3 - 1) * 2 + 3 = 7 elements; with dilation 2 they span 9.
  EXPECT_THAT(same("SAME_UPPER", 5, 3, 2).output, ElementsAre(3));
  EXPECT_THAT(same("SAME_UPPER", 5, 3, 2).pads_begin, ElementsAre(1));
  EXPECT_THAT(same("SAME_UPPER", 5, 3, 2, 2).pads_end, ElementsAre(2));
  // Strides beyond the kernel need no padding, and never a negative one.
  EXPECT_THAT(same("SAME_UPPER", 6, 1, 4).pads_end, ElementsAre(0));
  EXPECT_THAT(same("SAME_UPPER", 0, 3, 2).output, ElementsAre(0));
}

TEST(Window, ValidIgnoresPads) {
  const Window window = window_of({text_attribute("auto_pad", "VALID"), ints_attribute("pads", {3, 3})}, {5}, {3});
  EXPECT_THAT(window.output, ElementsAre(3));
  EXPECT_THAT(window.pads_begin, ElementsAre(0));
}

TEST(Window, CeilModeKeepsOnlyWindowsThatStartInTheInput) {
  const auto outputs = [](int64_t input, int64_t kernel, int64_t stride, int64_t pad, bool ceil_mode) {
    return window_of({ints_attribute("strides", {stride}), ints_attribute("pads", {pad, pad})}, {input}, {kernel},
                     ceil_mode)
        .output.at(0);
  };
  EXPECT_EQ(outputs(4, 3, 2, 0, false), 1);
  EXPECT_EQ(outputs(4, 3, 2, 0, true), 2);
  EXPECT_EQ(outputs(5, 3, 2, 0, true), 2);  // nothing is left over
  // ONNX's test averagepool_2d_ceil_last_window_starts_on_pad: a second window would start in the padding at the end.
  EXPECT_EQ(outputs(2, 3, 3, 1, true), 1);
  EXPECT_EQ(outputs(3, 3, 3, 1, true), 2);
}

TEST(Window, PartsInsideTheInput) {
  const Window window = window_of({ints_attribute("pads", {3, 3}), ints_attribute("dilations", {2})}, {4}, {3});
  // Windows start at -3, -2, ..., 2 and look at every second position, those of 0..3 being inside.
  std::vector<std::vector<int64_t>> seen;
  for (int64_t o = 0; o < window.output[0]; o++) {
    const WindowPart part = window_part(window, 0, o);
    seen.emplace_back();
    for (int64_t k = part.first; k < part.last; k++) seen.back().push_back(window.start(0, o) + 2 * k);
  }
  EXPECT_THAT(seen, ElementsAre(ElementsAre(1), ElementsAre(0, 2), ElementsAre(1, 3), ElementsAre(0, 2),
                                ElementsAre(1, 3), ElementsAre(2)));
  // A window whose elements step over the whole input.
  const Window around = window_of({ints_attribute("pads", {1, 1}), ints_attribute("dilations", {2})}, {1}, {2});
  const WindowPart none = window_part(around, 0, 0);
  EXPECT_EQ(none.first, none.last);
}

TEST(Window, RefusesWhatCannotBe) {
  const int64_t huge = INT64_MAX;
  const auto refusal = [](std::vector<OnnxAttribute> attributes, std::vector<int64_t> input,
                          std::vector<int64_t> kernel) {
    return sentence([&] { window_of(std::move(attributes), std::move(input), std::move(kernel)); });
  };
  EXPECT_EQ(refusal({}, {4, 4}, {2}),
            "test: node 1 (MaxPool): its window has 1 dimension, but the input has 2 spatial ones");
  EXPECT_THAT(refusal({}, {4}, {5}), HasSubstr("spans 5 elements, more than the 4 of the padded input (0 + 4 + 0)"));
  EXPECT_THAT(refusal({}, {4}, {0}), HasSubstr("window of 0 elements"));
  EXPECT_THAT(refusal({}, {4}, {-3}), HasSubstr("window of -3 elements"));
  EXPECT_THAT(refusal({}, {4}, {huge}), HasSubstr("too large"));
  EXPECT_THAT(refusal({ints_attribute("dilations", {int64_t{1} << 40})}, {4}, {3}), HasSubstr("too large"));
  EXPECT_THAT(refusal({ints_attribute("dilations", {huge})}, {4}, {2}),
              HasSubstr("'dilations' must hold numbers from 1"));
  EXPECT_THAT(refusal({ints_attribute("strides", {0})}, {4}, {2}), HasSubstr("'strides' must hold numbers from 1"));
  EXPECT_THAT(refusal({ints_attribute("strides", {huge})}, {4}, {2}), HasSubstr("found 9223372036854775807"));
  EXPECT_THAT(refusal({ints_attribute("strides", {1, 1})}, {4}, {2}),
              HasSubstr("'strides' must have 1 number, found 2"));
  EXPECT_THAT(refusal({ints_attribute("pads", {1})}, {4}, {2}), HasSubstr("'pads' must have 2 numbers, found 1"));
  EXPECT_THAT(refusal({ints_attribute("pads", {-1, 0})}, {4}, {2}), HasSubstr("'pads' must hold numbers from 0"));
  EXPECT_THAT(refusal({ints_attribute("pads", {0, huge})}, {4}, {2}), HasSubstr("'pads' must hold numbers from 0"));
  EXPECT_THAT(refusal({text_attribute("auto_pad", "SAME")}, {4}, {2}), HasSubstr("SAME_LOWER or VALID, found 'SAME'"));
}

TEST(Window, TheLargestThatAreAllowedDoNotOverflow) {
  const int64_t most = kMostElements;
  const Window window =
      window_of({ints_attribute("strides", {most}), ints_attribute("pads", {most, most})}, {most}, {most}, true);
  EXPECT_THAT(window.output, ElementsAre(3));
  EXPECT_THAT(window_of({text_attribute("auto_pad", "SAME_LOWER")}, {most}, {most}).pads_begin, ElementsAre(most / 2));
  EXPECT_EQ(window_part(window, 0, 0).first, most);
}

}  // namespace
}  // namespace assay
