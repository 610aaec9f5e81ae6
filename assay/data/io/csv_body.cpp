#include "assay/data/io/csv_body.h"

#include <algorithm>
#include <memory>

#include "assay/core/error.h"
#include "assay/core/parallel.h"
#include "assay/data/io/csv_buffer.h"
#include "assay/data/kept_doubles.h"

namespace assay {
namespace {

// Several parts for each thread, so that they end at about the same time. Small enough to stay in a core's own cache.
constexpr size_t kPartBytes = size_t{64} << 10;
constexpr size_t kSharedBlockBytes = size_t{1} << 20;

// Reads a block of rows after another: its parts at once, which are then added to the body in their order.
class BodyReader {
 public:
  BodyReader(const ByteOpener& open, CsvForm& form, const CsvCells& cells, const Context& context)
      : form_(form),
        cells_(cells),
        context_(context),
        buffer_(open(), form.delimiter, form.skip_lines,
                context.thread_count() > 1 ? kSharedBlockBytes : CsvBuffer::kSize),
        rows_(buffer_.name(), form.delimiter) {
    const size_t width = form.columns.size();
    body_.values = Matrix(0, static_cast<size_t>(std::ranges::count_if(form.columns, has_values, &CsvColumn::role)));
    body_.levels.resize(width);
    body_.rounded.resize(width);
    body_.doubles.resize(width);
  }

  std::optional<CsvBody> read() {
    std::optional<uint64_t> unread = buffer_.remaining();
    ProgressScope progress(unread ? context_ : Context{}, "reading " + buffer_.name(), unread.value_or(0));
    if (!read_first_row()) return std::move(body_);
    for (;;) {
      context_.check_cancelled();
      read_block();
      if (unread) progress.advance(*unread - *buffer_.remaining());
      unread = buffer_.remaining();
      if (buffer_.at_end()) break;
      buffer_.fill(line_);
    }
    if (!kinds_hold_) return std::nullopt;
    return std::move(body_);
  }

 private:
  // A part and who reads it.
  struct Reader {
    explicit Reader(const CsvParser& like) : parser(like.name(), like.delimiter()) {}

    CsvParser parser;
    CsvPart part;
    std::vector<LevelCodes> levels;  // of this part
    bool failed = false;
  };

  // The first row says how many cells all rows have, and is passed over if it is the header. False if there is none.
  bool read_first_row() {
    rows_.set_line(buffer_.first_line());
    rows_.set_text(buffer_.begin(), buffer_.end(), buffer_.at_end());
    while (!rows_.next()) {
      if (buffer_.at_end()) return false;
      buffer_.take(rows_.position());
      buffer_.fill(rows_.next_line());
      rows_.set_text(buffer_.begin(), buffer_.end(), buffer_.at_end());
    }
    if (rows_.cells().size() != form_.columns.size()) {
      fail_input(buffer_.name(), "a file that does not change", "one that did");
    }
    width_line_ = rows_.line();
    buffer_.take(form_.has_header ? rows_.position() : rows_.row());
    line_ = form_.has_header ? rows_.next_line() : rows_.line();
    // The levels of a part take time for each column, so a part must have many rows.
    if (any_categorical()) {
      constexpr size_t kLeastRows = 32;
      part_bytes_ = std::max(kPartBytes, kLeastRows * static_cast<size_t>(rows_.position() - rows_.row()));
    }
    return true;
  }

  void read_block() {
    std::vector<const char*> bounds{buffer_.begin()};
    if (context_.thread_count() > 1) {
      rows_.set_line(line_);
      bounds = csv_part_starts(buffer_.begin(), buffer_.end(), part_bytes_, rows_);
    }
    const size_t parts = bounds.size();
    bounds.push_back(buffer_.end());
    while (readers_.size() < parts) readers_.push_back(std::make_unique<Reader>(rows_));
    const auto set_text = [&](size_t i, size_t line) {
      CsvParser& parser = readers_[i]->parser;
      parser.set_width(form_.columns.size(), width_line_);
      parser.set_line(line);
      parser.set_text(bounds[i], bounds[i + 1], i + 1 < parts || buffer_.at_end());
    };
    if (parts > 1) {
      parallel_blocks(context_.quiet(), parts, 1, [&](const Block& block) {
        set_text(block.index, 1);
        read_alone(*readers_[block.index]);
      });
    }
    for (size_t i = 0; i < parts; ++i) {
      Reader& reader = *readers_[i];
      // In order, with its true line and all levels so far: this throws what reading row by row would throw.
      const bool again = parts == 1 || reader.failed || too_many_levels(reader);
      if (again) {
        set_text(i, line_);
        reader.part.read(reader.parser, form_.columns, cells_, body_.levels);
        line_ = reader.parser.next_line();
      } else {
        line_ += reader.parser.next_line() - 1;
        take_levels(reader);
      }
      add(reader.part);
    }
    buffer_.take(readers_[parts - 1]->parser.position());
  }

  bool any_categorical() const { return std::ranges::count(form_.columns, CsvRole::categorical, &CsvColumn::role) > 0; }

  // As if there were no other part.
  void read_alone(Reader& reader) const {
    reader.levels.clear();
    if (any_categorical()) reader.levels.resize(form_.columns.size());
    reader.failed = false;
    try {
      reader.part.read(reader.parser, form_.columns, cells_, reader.levels);
    } catch (const Error&) {
      reader.failed = true;
    }
  }

  // Whether a column may have more than are allowed with those of this part.
  bool too_many_levels(const Reader& reader) const {
    for (size_t j = 0; j < reader.levels.size(); ++j) {
      if (body_.levels[j].size() + reader.levels[j].size() > kMostLevels) return true;
    }
    return false;
  }

  // Makes the codes of the part those of the body.
  void take_levels(Reader& reader) {
    size_t place = 0;
    for (size_t j = 0; j < reader.levels.size(); ++j) {
      if (!has_values(form_.columns[j].role)) continue;
      std::vector<float> codes;
      for (const std::string& text : reader.levels[j].in_order_of_code()) {
        codes.push_back(body_.levels[j].code_of(text));
      }
      const auto values = reader.part.values();
      for (size_t row = 0; row < values.rows() && !codes.empty(); ++row) {
        float& code = values(row, place);
        if (code == code) code = codes[static_cast<size_t>(code)];
      }
      ++place;
    }
  }

  void add(CsvPart& part) {
    for (const size_t column : part.turned()) {
      form_.columns[column].role = CsvRole::categorical;
      kinds_hold_ = false;
    }
    if (!kinds_hold_) {
      body_.values = Matrix(0, body_.values.cols());
      return;
    }
    const auto values = part.values();
    const size_t first = body_.values.rows();
    for (size_t row = 0; row < values.rows(); ++row) {
      std::ranges::copy(values.row(row), body_.values.append_row().begin());
    }
    std::ranges::move(part.ids(), std::back_inserter(body_.ids));
    size_t place = 0;
    for (size_t j = 0; j < form_.columns.size(); ++j) {
      body_.rounded[j] += part.rounded()[j];
      if (!has_values(form_.columns[j].role)) continue;
      if (cells_.keeps_doubles() && !part.doubles()[j].empty()) {
        for (size_t row = 0; row < part.doubles()[j].size(); ++row) {
          keep_double(body_.doubles[j], body_.values.view(), first + row, place, part.doubles()[j][row]);
        }
      }
      ++place;
    }
  }

  CsvForm& form_;
  const CsvCells& cells_;
  const Context& context_;
  CsvBuffer buffer_;
  CsvParser rows_;  // finds the first row, and where rows start
  std::vector<std::unique_ptr<Reader>> readers_;
  size_t part_bytes_ = kPartBytes;
  size_t line_ = 1;  // of the first row that is not read yet
  size_t width_line_ = 0;
  bool kinds_hold_ = true;
  CsvBody body_;
};

}  // namespace

std::optional<CsvBody> read_csv_body(const ByteOpener& open, CsvForm& form, const CsvCells& cells,
                                     const Context& context) {
  return BodyReader(open, form, cells, context).read();
}

}  // namespace assay
