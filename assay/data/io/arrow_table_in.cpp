#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <deque>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>

#include "assay/core/error.h"
#include "assay/data/io/arrow_table.h"
#include "assay/data/io/arrow_type.h"
#include "assay/data/io/arrow_window.h"
#include "assay/data/io/json_depth.h"
#include "assay/data/lost_digits.h"

namespace assay {
namespace {

// A structure of the C interface, released when it goes out of scope.
template <class T>
struct Owned : T {
  Owned() : T{} {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (this->release != nullptr) this->release(this);
  }
};

struct ReleaseStream {
  ArrowArrayStream* stream;
  ~ReleaseStream() {
    if (stream->release != nullptr) stream->release(stream);
  }
};

struct Number {
  float value = kMissing;
  bool rounded = false;
  double too_large = 0;  // the number, when float32 cannot hold it
  double wide = 0;       // the number before it was narrowed
};

template <class T>
Number to_number(T value) {
  if constexpr (std::is_same_v<T, float>) {
    return {value, false, 0, static_cast<double>(value)};
  } else if constexpr (std::is_same_v<T, double>) {
    if (std::isfinite(value) && std::abs(value) > FLT_MAX) return {kMissing, false, value, value};
    const auto narrow = static_cast<float>(value);
    return {narrow, is_rounded(value, narrow), 0, value};
  } else {
    uint64_t magnitude = static_cast<uint64_t>(value);
    if (value < T{0}) magnitude = uint64_t{0} - magnitude;
    const bool exact = magnitude == 0 || std::bit_width(magnitude) - std::countr_zero(magnitude) <= FLT_MANT_DIG;
    return {static_cast<float>(value), !exact, 0, static_cast<double>(value)};
  }
}

struct Field {
  std::string name;
  std::string where;  // "file, column 'name'"
  ArrowValue value = ArrowValue::null;
  int scale = 0;                         // of decimal numbers
  std::optional<ArrowValue> index = {};  // of a dictionary
  std::optional<size_t> target = {};     // the column of the table; none for the row names
  bool left_out = false;
  std::string odd_type = {};  // in words, of a type that no table holds; such a column may only be left out
  LevelCodes levels = {};
  size_t rounded = 0;
  std::vector<double> doubles = {};

  float code_of(std::string_view text) {
    const float code = levels.code_of(text);
    if (levels.size() > kMostLevels) fail_input(where, fmt::format("at most {} different texts", kMostLevels), "more");
    return code;
  }
};

// The schema's metadata, or nothing: pairs of texts, each preceded by its length.
std::unordered_map<std::string, std::string> parse_metadata(const char* metadata) {
  std::unordered_map<std::string, std::string> out;
  if (metadata == nullptr) return out;
  const auto next_int = [&] {
    const auto value = load_arrow<int32_t>(metadata, 0);
    metadata += sizeof value;
    return std::max(value, 0);
  };
  const auto next_text = [&] {
    const auto size = static_cast<size_t>(next_int());
    std::string text(metadata, size);
    metadata += size;
    return text;
  };
  for (int32_t pairs = next_int(); pairs > 0; --pairs) {
    const std::string key = next_text();
    out[key] = next_text();
  }
  return out;
}

// The columns that are the index of the DataFrame that was written, as pandas tells them.
std::vector<std::string> pandas_index(const std::string& where,
                                      const std::unordered_map<std::string, std::string>& metadata) {
  constexpr size_t kMostDepth = 16;
  const auto found = metadata.find("pandas");
  if (found == metadata.end()) return {};
  limit_json_depth(where, found->second, kMostDepth);
  const auto told = nlohmann::json::parse(found->second, nullptr, false);
  std::vector<std::string> names;
  if (!told.is_object() || !told.contains("index_columns") || !told["index_columns"].is_array()) return names;
  for (const auto& each : told["index_columns"]) {
    if (each.is_string()) names.push_back(each.get<std::string>());
  }
  return names;
}

class Importer {
 public:
  Importer(ArrowArrayStream& stream, std::string source, std::string_view kind, const Context& context,
           const ArrowReading& reading)
      : stream_(stream),
        kind_(kind),
        context_(context),
        kept_(reading.doubles),
        id_name_(reading.id),
        used_(reading.used) {
    table_.source = std::move(source);
  }

  Table run() {
    read_schema();
    table_.values = Matrix(0, table_.columns.size());
    for (;;) {
      context_.check_cancelled();
      Owned<ArrowArray> batch;
      check(stream_.get_next(&stream_, &batch));
      if (batch.release == nullptr) break;
      read_batch(batch);
    }
    table_.values.shrink_to_fit();
    for (Field& field : fields_) {
      if (!field.target) continue;
      Column& column = table_.columns[*field.target];
      column.rounded = field.rounded;
      if (kept_ != nullptr) {
        finish_doubles(field.doubles, table_.values.view(), *field.target);
        kept_->set(field.name, std::move(field.doubles));
      }
      if (field.value == ArrowValue::boolean) column.words_of_truth = {"False", "True"};
      if (column.kind != ColumnKind::categorical) continue;
      column.levels = field.levels.in_order_of_code();
      field.levels = {};
      sort_levels(table_, *field.target);
    }
    return std::move(table_);
  }

 private:
  void check(int code) {
    if (code == 0) return;
    const char* message = stream_.get_last_error == nullptr ? nullptr : stream_.get_last_error(&stream_);
    fail_input(table_.source, fmt::format("a valid {}", kind_),
               arrow_message(message != nullptr ? message : std::strerror(code)));
  }

  void read_schema() {
    Owned<ArrowSchema> schema;
    check(stream_.get_schema(&stream_, &schema));
    if (schema.release == nullptr || schema.format == nullptr || std::string_view(schema.format) != "+s") {
      fail_input(table_.source, "a table of columns", "Arrow data of another shape");
    }
    if (schema.n_children <= 0 || schema.children == nullptr) {
      fail_input(table_.source, "at least one column", "none");
    }
    const auto metadata = parse_metadata(schema.metadata);
    const auto named = [&](std::string_view key, const std::string& name) {
      const auto entry = metadata.find(std::string(key));
      return entry != metadata.end() && entry->second == name;
    };
    // An index is no feature: it names the rows, or is left out.
    const std::vector<std::string> index = pandas_index(table_.source, metadata);
    const bool own_names = metadata.contains(std::string(kArrowIdKey));
    std::unordered_set<std::string> names;
    for (int64_t j = 0; j < schema.n_children; ++j) {
      Field& field = fields_.emplace_back(read_field(schema.children[j], j));
      if (!names.insert(field.name).second) {
        fail_input(table_.source, "column names that differ", fmt::format("{} twice", in_quotes(field.name)));
      }
      const bool text = is_text(field.value);
      const bool of_index = std::ranges::find(index, field.name) != index.end();
      if (!field.odd_type.empty()) {
        if (is_used(field.name, of_index)) fail_input(field.where, "numbers, booleans or text", field.odd_type);
        field.left_out = true;
        continue;
      }
      const bool names_rows = !id_name_.empty() ? field.name == id_name_
                              : own_names       ? named(kArrowIdKey, field.name)
                                                : of_index && index.size() == 1;
      if (names_rows && (text || is_whole(field.value))) {
        table_.id_name = field.name.starts_with("__index_level_") ? "index" : field.name;
        continue;
      }
      field.left_out = of_index;
      if (field.left_out) continue;
      if (named(kArrowLabelKey, field.name)) table_.label = table_.columns.size();
      field.target = table_.columns.size();
      table_.columns.push_back({field.name, text ? ColumnKind::categorical : ColumnKind::numeric});
    }
    if (table_.columns.empty() && !index.empty()) fail_input(table_.source, "a column beside the index", "none");
    if (table_.columns.empty()) fail_input(table_.source, "a column of numbers, booleans or text", "none");
  }

  Field read_field(const ArrowSchema* schema, int64_t position) const {
    Field field;
    if (schema == nullptr || schema->format == nullptr) {
      fail_input(table_.source, "a well-formed Arrow schema", fmt::format("no column {}", position + 1));
    }
    if (schema->name != nullptr) field.name = schema->name;
    if (field.name.empty()) {
      fail_input(table_.source, "a name for every column", fmt::format("column {} without one", position + 1));
    }
    field.where = fmt::format("{}, column {}", table_.source, in_quotes(field.name));
    const char* format = schema->format;
    if (schema->dictionary != nullptr) {
      field.index = arrow_value(format);
      if (!field.index || !is_whole(*field.index)) {
        fail_input(field.where, "a dictionary with whole numbers as codes", arrow_type_words(format));
      }
      format = schema->dictionary->format;
      if (schema->dictionary->dictionary != nullptr) {
        fail_input(field.where, "numbers, booleans or text", "dictionaries within dictionaries");
      }
    }
    const std::string_view type = format == nullptr ? "" : format;
    const auto value = arrow_value(type);
    if (!value) {
      field.odd_type = arrow_type_words(type);
      field.index = {};
    }
    field.value = value.value_or(ArrowValue::null);
    field.scale = arrow_scale(type);
    return field;
  }

  bool is_used(std::string_view name, bool of_index) const {
    if (name == id_name_) return true;
    if (used_ == nullptr) return !of_index;
    return std::ranges::any_of(*used_, [&](std::string_view used) {
      return std::ranges::equal(used, name, [](char a, char b) { return a == b || (a == '_' && b == ' '); });
    });
  }

  void read_batch(const ArrowArray& batch) {
    const auto refuse = [&](std::string_view found) { fail_input(table_.source, "well-formed Arrow batches", found); };
    if (batch.n_children != static_cast<int64_t>(fields_.size()) || batch.children == nullptr) {
      refuse("one with another number of columns");
    }
    if (batch.length < 0 || batch.offset < 0) refuse("one of negative size");
    if (batch.null_count > 0) refuse("one with rows that are null as a whole");
    // All shapes are checked before memory is taken for as many rows as the batch claims.
    std::vector<ArrowWindow> rows;
    ArrowArray nothing{};
    nothing.release = [](ArrowArray*) {};
    for (size_t j = 0; j < fields_.size(); ++j) {
      const Field& field = fields_[j];
      // Nothing is looked at in a column that is left out, whose type has buffers of its own.
      const bool skipped = !field.odd_type.empty();
      rows.emplace_back(field.where, skipped ? &nothing : batch.children[j], field.index.value_or(field.value),
                        skipped ? 0 : batch.offset, skipped ? 0 : batch.length, field.scale);
    }
    first_row_ = table_.values.rows();
    for (int64_t i = 0; i < batch.length; ++i) table_.values.append_row();
    for (size_t j = 0; j < fields_.size(); ++j) {
      context_.check_cancelled();
      Field& field = fields_[j];
      if (field.left_out) continue;
      if (field.index) {
        const ArrowArray* entries = batch.children[j]->dictionary;
        const int64_t size = entries == nullptr ? 0 : entries->length;
        read_dictionary(field, rows[j], ArrowWindow(field.where, entries, field.value, 0, size, field.scale));
      } else if (is_text(field.value)) {
        read_text(field, rows[j]);
      } else {
        read_numbers(field, rows[j]);
      }
    }
  }

  void read_text(Field& field, const ArrowWindow& rows) {
    if (!field.target) {
      for (int64_t i = 0; i < rows.count(); ++i) table_.ids.emplace_back(rows.valid(i) ? rows.text(i) : "");
      return;
    }
    for (int64_t i = 0; i < rows.count(); ++i) {
      cell(field, i) = rows.valid(i) ? field.code_of(rows.text(i)) : kMissing;
    }
  }

  void read_numbers(Field& field, const ArrowWindow& rows) {
    if (!field.target) {
      table_.ids.resize(first_row_ + static_cast<size_t>(rows.count()));
      rows.for_each_number([&](int64_t i, auto value) { id(i) = fmt::format("{}", value); });
      return;
    }
    for (int64_t i = 0; i < rows.count(); ++i) cell(field, i) = kMissing;
    rows.for_each_number([&](int64_t i, auto value) { store(field, i, to_number(value)); });
  }

  // Each batch may bring its own dictionary, so entries are translated batch by batch.
  void read_dictionary(Field& field, const ArrowWindow& rows, const ArrowWindow& entries) {
    const auto size = static_cast<size_t>(entries.count());
    const bool text = is_text(field.value);
    std::vector<Number> numbers(size);
    std::vector<std::string> names(!field.target && !text ? size : 0);
    entries.for_each_number([&](int64_t k, auto value) {
      numbers[k] = to_number(value);
      if (!names.empty()) names[k] = fmt::format("{}", value);
    });
    if (text && field.target) {
      for (int64_t k = 0; k < entries.count(); ++k) {
        if (entries.valid(k)) numbers[k].value = field.code_of(entries.text(k));
      }
    }
    if (!field.target) table_.ids.resize(first_row_ + static_cast<size_t>(rows.count()));
    if (field.target) {
      for (int64_t i = 0; i < rows.count(); ++i) cell(field, i) = kMissing;
    }
    rows.for_each_number([&](int64_t i, auto code) {
      if constexpr (std::is_integral_v<decltype(code)>) {
        // A negative code becomes a huge one, and is refused with it.
        const auto k = static_cast<uint64_t>(code);
        if (k >= size) {
          fail_input(fmt::format("{}, row {}", field.where, first_row_ + i + 1),
                     fmt::format("a dictionary code below {}", size), fmt::format("{}", code));
        }
        const auto entry = static_cast<int64_t>(k);
        if (field.target) {
          store(field, i, numbers[k]);
        } else if (entries.valid(entry)) {
          id(i) = text ? std::string(entries.text(entry)) : names[k];
        }
      }
    });
  }

  void store(Field& field, int64_t i, const Number& number) {
    if (number.too_large != 0) {
      fail_input(fmt::format("{}, row {}", field.where, first_row_ + i + 1), "a number within the range of float32",
                 fmt::format("{}", number.too_large));
    }
    cell(field, i) = number.value;
    if (kept_ != nullptr && !is_text(field.value) && !std::isnan(number.value)) {
      keep_double(field.doubles, table_.values.view(), first_row_ + static_cast<size_t>(i), *field.target, number.wide);
    }
    field.rounded += number.rounded ? 1 : 0;
  }

  float& cell(const Field& field, int64_t i) { return table_.values(first_row_ + i, *field.target); }
  std::string& id(int64_t i) { return table_.ids[first_row_ + i]; }

  ArrowArrayStream& stream_;
  std::string_view kind_;
  const Context& context_;
  KeptDoubles* kept_;
  std::string id_name_;
  const std::vector<std::string>* used_;
  Table table_;
  std::deque<Field> fields_;
  size_t first_row_ = 0;  // of the batch being read
};

}  // namespace

Table table_from_arrow(ArrowArrayStream* stream, std::string source, std::string_view kind, const Context& context,
                       const ArrowReading& reading) {
  if (stream == nullptr || stream->release == nullptr || stream->get_schema == nullptr || stream->get_next == nullptr) {
    fail_input(source, "an Arrow stream", "none, or one already read");
  }
  const ReleaseStream release{stream};
  return Importer(*stream, std::move(source), kind, context, reading).run();
}

}  // namespace assay
