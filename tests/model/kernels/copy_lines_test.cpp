#include "assay/model/kernels/copy_lines.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "assay/core/vector_target.h"

namespace assay {
namespace {

// What lies between channels and beyond the last one of them.
constexpr size_t kGap = 19;
constexpr float kUntouched = -1;

struct Shape {
  size_t channels, lines, width, line_step;

  size_t from_channel() const { return lines * line_step + 3; }
  size_t to_channel() const { return lines * width + kGap; }
  // To the last element that may be read, so that a sanitizer sees what reads beyond.
  size_t read() const { return (channels - 1) * from_channel() + (lines - 1) * line_step + width; }
  size_t written() const { return channels * to_channel(); }
};

std::vector<float> by_loops(const Shape& shape, const std::vector<float>& from) {
  std::vector<float> to(shape.written(), kUntouched);
  for (size_t c = 0; c < shape.channels; c++) {
    for (size_t l = 0; l < shape.lines; l++) {
      for (size_t i = 0; i < shape.width; i++) {
        to[c * shape.to_channel() + l * shape.width + i] = from[c * shape.from_channel() + l * shape.line_step + i];
      }
    }
  }
  return to;
}

std::vector<float> copied(const Shape& shape, const std::vector<float>& from) {
  std::vector<float> to(shape.written(), kUntouched);
  copy_lines({.from = from.data(),
              .line_step = shape.line_step,
              .from_channel = shape.from_channel(),
              .to = to.data(),
              .to_channel = shape.to_channel(),
              .channels = shape.channels,
              .lines = shape.lines,
              .width = shape.width});
  return to;
}

// Every element of the source is another number, and what is not copied to keeps its own.
TEST(CopyLines, AreThoseOfPlainLoopsAndNothingElseIsWritten) {
  const std::string before = vector_target();
  for (const std::string& target : vector_targets()) {
    pin_vector_target(target);
    for (size_t width = 1; width <= 40; width++) {
      for (size_t lines = 1; lines <= 5; lines++) {
        for (size_t channels = 1; channels <= 3; channels++) {
          for (const size_t beyond : {0, 1, 5, 24}) {
            const Shape shape{channels, lines, width, width + beyond};
            std::vector<float> from(shape.read());
            std::iota(from.begin(), from.end(), 0.0F);
            EXPECT_EQ(copied(shape, from), by_loops(shape, from))
                << target << ": " << channels << " channels, " << lines << " lines of " << width << ", "
                << shape.line_step << " apart";
          }
        }
      }
    }
  }
  pin_vector_target(before);
}

// Two lines of three out of rows of four, in two channels nine apart.
TEST(CopyLines, OfAnImageByHand) {
  const std::vector<float> from = {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17};
  std::vector<float> to(14, kUntouched);
  copy_lines({.from = from.data(),
              .line_step = 4,
              .from_channel = 9,
              .to = to.data(),
              .to_channel = 7,
              .channels = 2,
              .lines = 2,
              .width = 3});
  EXPECT_EQ(to, (std::vector<float>{1, 2, 3, 5, 6, 7, -1, 11, 12, 13, 15, 16, 17, -1}));
}

// No channels or no lines: nothing is touched.
TEST(CopyLines, OfNothingTouchNothing) {
  const std::vector<float> from = {1, 2, 3, 4};
  for (const auto& [channels, lines] : std::vector<std::pair<size_t, size_t>>{{0, 1}, {1, 0}}) {
    for (const size_t width : {2, 4}) {
      std::vector<float> to(4, kUntouched);
      copy_lines({.from = from.data(),
                  .line_step = 4,
                  .from_channel = 4,
                  .to = to.data(),
                  .to_channel = 4,
                  .channels = channels,
                  .lines = lines,
                  .width = width});
      EXPECT_EQ(to, std::vector<float>(4, kUntouched));
    }
  }
}

}  // namespace
}  // namespace assay
