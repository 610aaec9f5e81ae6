// Rows found from mark to mark are those that a plain reader finds byte by byte, wherever vectors and buffers end.
#include "assay/data/io/csv_parser.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "assay/core/random.h"
#include "assay/data/io/csv_rows.h"
#include "tests/every_target.h"
#include "tests/message.h"

namespace assay {
namespace {

struct TextRow {
  std::vector<std::string> cells;
  std::vector<bool> quoted;
  size_t line = 0;

  bool operator==(const TextRow&) const = default;
};

// Rows up to the end, or to the first error.
struct TextRows {
  std::vector<TextRow> rows;
  std::string error;

  bool operator==(const TextRows&) const = default;
};

std::string describe_difference(const TextRows& a, const TextRows& b) {
  return fmt::format("{} and {} rows, errors '{}' and '{}'", a.rows.size(), b.rows.size(), a.error, b.error);
}

// The rules of csv_rows.h, one byte after another.
class ByteByByte {
 public:
  ByteByByte(std::string text, char delimiter) : text_(std::move(text)), delimiter_(delimiter) {}

  TextRows read() {
    TextRows out;
    while (at_ < text_.size() && out.error.empty()) read_row(out);
    return out;
  }

 private:
  bool blank() const {
    return at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t') && text_[at_] != delimiter_;
  }
  bool stop() const {
    return at_ == text_.size() || text_[at_] == delimiter_ || text_[at_] == '\n' || text_[at_] == '\r';
  }

  void read_row(TextRows& out) {
    TextRow row;
    row.line = line_;
    for (;;) {
      while (blank()) at_++;
      const bool quoted = at_ < text_.size() && text_[at_] == '"';
      std::string cell;
      const std::string where = fmt::format("t.csv, line {}, column {}", row.line, row.cells.size() + 1);
      if (quoted) {
        for (at_++;; at_++) {
          if (at_ == text_.size()) {
            out.error = where + ": expected a closing quote, found the end of the file";
            return;
          }
          if (text_[at_] == '"' && (at_ + 1 == text_.size() || text_[at_ + 1] != '"')) break;
          if (text_[at_] == '"') at_++;
          if (text_[at_] == '\n') line_++;
          cell += text_[at_];
        }
        at_++;
        while (blank()) at_++;
        if (!stop()) {
          out.error = fmt::format("{}: expected the end of the cell after its closing quote, found '{}'", where,
                                  text_.substr(at_, 1));
          return;
        }
      } else {
        while (!stop()) cell += text_[at_++];
        while (!cell.empty() && (cell.back() == ' ' || cell.back() == '\t')) cell.pop_back();
      }
      row.cells.push_back(cell);
      row.quoted.push_back(quoted);
      if (at_ == text_.size() || text_[at_] != delimiter_) break;
      at_++;
    }
    if (text_.compare(at_, 2, "\r\n") == 0) at_++;
    if (at_ < text_.size()) at_++;
    line_++;
    if (row.cells.size() == 1 && row.cells[0].empty() && !row.quoted[0]) return;
    if (!out.rows.empty() && row.cells.size() != out.rows[0].cells.size()) {
      out.error = fmt::format("t.csv, line {}: expected {} cells as in line {}, found {}", row.line,
                              out.rows[0].cells.size(), out.rows[0].line, row.cells.size());
      return;
    }
    out.rows.push_back(row);
  }

  std::string text_;
  char delimiter_;
  size_t at_ = 0;
  size_t line_ = 1;
};

template <class Rows>
TextRow row_of(const Rows& rows) {
  TextRow row{{rows.cells().begin(), rows.cells().end()}, {}, rows.line()};
  for (size_t j = 0; j < row.cells.size(); j++) row.quoted.push_back(rows.quoted_cell(j));
  return row;
}

TextRows from_mark_to_mark(const std::string& text, char delimiter) {
  TextRows out;
  const std::string error = message_of([&] {
    CsvRows rows(memory_bytes("t.csv", text), delimiter);
    while (rows.next()) out.rows.push_back(row_of(rows));
  });
  if (error != "no error") out.error = error;
  return out;
}

// The parser alone, whose text ends after `first` bytes at first, and again after every `step` bytes more.
TextRows in_pieces(const std::string& text, char delimiter, size_t first, size_t step) {
  TextRows out;
  const std::string padded = text + std::string(kCsvPadding, '"');
  const std::string error = message_of([&] {
    CsvParser parser("t.csv", delimiter);
    const char* const end = padded.data() + text.size();
    const char* begin = padded.data();
    for (size_t size = std::min(first, text.size());; size = std::min(size + step, text.size())) {
      parser.set_text(begin, padded.data() + size, size == text.size());
      while (parser.next()) out.rows.push_back(row_of(parser));
      begin = parser.position();
      if (padded.data() + size == end) break;
    }
  });
  if (error != "no error") out.error = error;
  return out;
}

// Cells of all kinds, most of them well formed; `clean` in percent.
std::string random_table(RandomStream& random, uint32_t rows, uint32_t width, char delimiter, uint32_t clean) {
  const std::vector<std::string> ends{"\n", "\n", "\r\n", "\r"};
  const std::string end = ends[random.below(4)];
  const auto any_text = [&](std::string_view alphabet) {
    std::string text;
    for (uint32_t size = random.below(random.below(8) == 0 ? 90 : 9); size > 0; size--) {
      text += alphabet[random.below(static_cast<uint32_t>(alphabet.size()))];
    }
    return text;
  };
  std::string text;
  for (uint32_t i = 0; i < rows; i++) {
    for (uint32_t j = 0; j < width; j++) {
      if (j > 0) text += delimiter;
      if (random.below(9) == 0) text += random.below(2) == 0 ? " " : "\t ";
      switch (random.below(4)) {
        case 0: text += "-0.73645407"; break;
        case 1: text += any_text("ab12 "); break;
        case 2:
          text += '"';
          for (const char c : any_text("ab,;|\t \"\n\r")) text += c == '"' ? "\"\"" : std::string(1, c);
          text += '"';
          break;
        default: text += random.below(2) == 0 ? "" : "5\" pipe";
      }
      if (random.below(9) == 0) text += ' ';
      if (random.below(100) >= clean) text += any_text("a\"\n\r,;");
    }
    if (i + 1 < rows || random.below(2) == 0) text += random.below(9) == 0 ? ends[random.below(4)] : end;
    if (random.below(20) == 0) text += end;
  }
  return text;
}

TEST(CsvMarks, AreThoseOfALoopOverBytesAtAllAlignmentsAndLengths) {
  on_every_target([] {
    RandomStream random(21, "marks");
    constexpr std::string_view kBytes = "aZ0 .,;\t|\"\"\n\r-\x7F";
    std::vector<uint32_t> found(400);
    for (size_t size = 0; size <= 200; size++) {
      for (size_t offset = 0; offset < 64; offset += 1 + random.below(3)) {
        std::string text(offset + size + kCsvPadding, '"');
        for (size_t i = 0; i < size; i++) text[offset + i] = kBytes[random.below(kBytes.size())];
        const bool odd = size > 0 && random.below(2) == 0;
        if (odd) text[offset + random.below(static_cast<uint32_t>(size))] = "\0\x80\xFF"[random.below(3)];
        const char delimiter = ",;\t|"[random.below(4)];
        std::vector<uint32_t> expected;
        for (size_t i = 0; i < size; i++) {
          const char c = text[offset + i];
          if (c == delimiter || c == '"' || c == '\n' || c == '\r') expected.push_back(static_cast<uint32_t>(i));
        }
        const MarkedText marked = find_csv_marks(text.data() + offset, size, delimiter, found.data());
        ASSERT_EQ(std::vector(found.begin(), found.begin() + static_cast<ptrdiff_t>(marked.marks)), expected)
            << size << " bytes at " << offset;
        ASSERT_EQ(marked.plain, !odd) << size << " bytes at " << offset;
      }
    }
    // Only marks: as many as there is room for.
    const std::string all(130 + kCsvPadding, ',');
    EXPECT_EQ(find_csv_marks(all.data(), 130, ',', found.data()).marks, 130u);
  });
}

TEST(CsvMarks, GoOnFromWindowToWindowAndEndWithTheText) {
  // One mark far behind the first window, then none.
  for (const size_t size : {1u, 8191u, 8192u, 8193u, 30000u}) {
    std::string text(size + kCsvPadding, 'x');
    text[size - 1] = '\n';
    CsvMarks marks;
    marks.start(text.data(), text.data() + size, ',');
    EXPECT_EQ(marks.next(), text.data() + size - 1);
    EXPECT_EQ(marks.next(), text.data() + size);
    EXPECT_EQ(marks.next(), text.data() + size);
  }
}

TEST(CsvParser, FindsTheRowsOfAReaderByteByByte) {
  on_every_target([] {
    RandomStream random(22, "tables");
    for (int i = 0; i < 3000; i++) {
      const char delimiter = ",;\t|"[random.below(4)];
      const uint32_t clean = i % 2 == 0 ? 100 : 97;
      const std::string text = random_table(random, 1 + random.below(12), 1 + random.below(5), delimiter, clean);
      const TextRows expected = ByteByByte(text, delimiter).read();
      const TextRows found = from_mark_to_mark(text, delimiter);
      ASSERT_EQ(found, expected) << describe_difference(found, expected) << " of\n" << text;
    }
  });
}

TEST(CsvParser, ItDoesNotMatterWhereTheTextIsCut) {
  RandomStream random(23, "cuts");
  for (int i = 0; i < 300; i++) {
    const std::string text = random_table(random, 1 + random.below(6), 1 + random.below(4), ',', 100);
    const TextRows expected = ByteByByte(text, ',').read();
    for (size_t cut = 0; cut <= text.size(); cut++) {
      const TextRows found = in_pieces(text, ',', cut, text.size());
      ASSERT_EQ(found, expected) << "cut at " << cut << ": " << describe_difference(found, expected) << " of\n" << text;
    }
    ASSERT_EQ(in_pieces(text, ',', 1, 1), expected) << text;
  }
}

// The start of the table moves over the end of a block of 64 bytes, of a window of marks and of the buffer.
TEST(CsvParser, ItDoesNotMatterWhereBlocksWindowsAndBuffersEnd) {
  RandomStream random(24, "ends");
  for (const size_t end : {size_t{128}, size_t{8} << 10, size_t{256} << 10}) {
    for (size_t i = 0; i < 140; i++) {
      std::string text = std::string(end - 70 + i, 'x') + ",\"a\"\"\nb\"\r\n1,\xC3\xA9\r\n\r\n";
      text += random_table(random, 4, 2, ',', 100);
      const TextRows expected = ByteByByte(text, ',').read();
      const TextRows found = from_mark_to_mark(text, ',');
      ASSERT_TRUE(found == expected) << end << ' ' << i << ": " << describe_difference(found, expected);
    }
  }
}

TEST(CsvParser, OddBytesAreFoundWhereverTheyAre) {
  for (size_t i = 0; i < 200; i++) {
    const std::string before(i, 'x');
    const auto complaint = [&](const std::string& text) { return from_mark_to_mark(text, ',').error; };
    EXPECT_EQ(complaint("a,b\n" + before + ",\xFF\n1,2\n"),
              "t.csv, line 2, column 2: expected UTF-8 text, found bytes that are not valid UTF-8");
    EXPECT_EQ(complaint("a,b\n" + before + std::string("\0,1\n", 4)),
              "t.csv, line 2, column 1: expected text, found a NUL byte (is this a binary file?)");
    EXPECT_EQ(complaint(before + "\xFF,b\n1,2\n"),
              "t.csv, line 1, column 1: expected UTF-8 text, found bytes that are not valid UTF-8");
    // Only in another row.
    EXPECT_EQ(complaint("a,\xC3\xA9\n" + before + ",1\n"), "");
  }
  // In a row that goes on for several windows of marks.
  EXPECT_EQ(from_mark_to_mark("a,b\n\xFF" + std::string(30000, 'x') + ",1\n", ',').error,
            "t.csv, line 2, column 1: expected UTF-8 text, found bytes that are not valid UTF-8");
}

}  // namespace
}  // namespace assay
