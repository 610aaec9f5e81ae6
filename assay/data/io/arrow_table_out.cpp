#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>

#include "assay/core/error.h"
#include "assay/data/io/arrow_table.h"

namespace assay {
namespace {

// Batches of this many rows keep a second copy of the table out of memory.
constexpr size_t kBatchRows = size_t{1} << 16;

// Texts end to end, as Arrow's utf8 arrays hold them.
struct TextBlock {
  std::vector<int32_t> offsets = {0};
  std::string bytes = {};

  void add(std::string_view text) {
    bytes += text;
    if (bytes.size() > INT32_MAX) fail_input("Arrow takes at most 2 GiB of text in one column's categories or batch");
    offsets.push_back(static_cast<int32_t>(bytes.size()));
  }
};
using SharedText = std::shared_ptr<const TextBlock>;

// What an exported array points at. The array's release callback frees it.
struct ArrayOwner {
  std::vector<uint8_t> validity = {};
  std::vector<float> numbers = {};
  std::vector<int32_t> codes = {};
  SharedText text = {};
  std::array<const void*, 3> buffers = {};
  std::vector<ArrowArray> children = {};
  std::vector<ArrowArray*> child_pointers = {};
  ArrowArray dictionary = {};
};

struct SchemaOwner {
  std::string format;
  std::string name;
  std::string metadata = {};
  std::vector<ArrowSchema> children = {};
  std::vector<ArrowSchema*> child_pointers = {};
  ArrowSchema dictionary = {};
};

// For arrays and schemas alike. A consumer may have moved a child away, which leaves its release null.
template <class Owner, class T>
void release_node(T* node) {
  auto* owner = static_cast<Owner*>(node->private_data);
  for (T& child : owner->children) {
    if (child.release != nullptr) child.release(&child);
  }
  if (owner->dictionary.release != nullptr) owner->dictionary.release(&owner->dictionary);
  delete owner;
  node->release = nullptr;
}

template <class T>
void point_at(std::vector<T>& children, std::vector<T*>& pointers) {
  for (T& child : children) pointers.push_back(&child);
}

void fill_array(std::unique_ptr<ArrayOwner> owner, size_t length, size_t nulls, int64_t buffers, ArrowArray* out) {
  point_at(owner->children, owner->child_pointers);
  owner->buffers[0] = owner->validity.empty() ? nullptr : owner->validity.data();
  *out = {.length = static_cast<int64_t>(length),
          .null_count = static_cast<int64_t>(nulls),
          .offset = 0,
          .n_buffers = buffers,
          .n_children = static_cast<int64_t>(owner->children.size()),
          .buffers = owner->buffers.data(),
          .children = owner->child_pointers.empty() ? nullptr : owner->child_pointers.data(),
          .dictionary = owner->dictionary.release == nullptr ? nullptr : &owner->dictionary,
          .release = release_node<ArrayOwner, ArrowArray>,
          .private_data = owner.get()};
  (void)owner.release();  // the C struct owns it now
}

void fill_schema(std::unique_ptr<SchemaOwner> owner, int64_t flags, ArrowSchema* out) {
  point_at(owner->children, owner->child_pointers);
  *out = {.format = owner->format.c_str(),
          .name = owner->name.c_str(),
          .metadata = owner->metadata.empty() ? nullptr : owner->metadata.data(),
          .flags = flags,
          .n_children = static_cast<int64_t>(owner->children.size()),
          .children = owner->child_pointers.empty() ? nullptr : owner->child_pointers.data(),
          .dictionary = owner->dictionary.release == nullptr ? nullptr : &owner->dictionary,
          .release = release_node<SchemaOwner, ArrowSchema>,
          .private_data = owner.get()};
  (void)owner.release();  // the C struct owns it now
}

void export_text(SharedText text, ArrowArray* out) {
  auto owner = std::make_unique<ArrayOwner>();
  const size_t length = text->offsets.size() - 1;
  owner->buffers[1] = text->offsets.data();
  owner->buffers[2] = text->bytes.data();
  owner->text = std::move(text);
  fill_array(std::move(owner), length, 0, 3, out);
}

std::string encode_metadata(const std::vector<std::pair<std::string_view, std::string_view>>& entries) {
  std::string out;
  const auto add_int = [&](size_t value) {
    const auto number = static_cast<int32_t>(value);
    out.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  if (entries.empty()) return out;
  add_int(entries.size());
  for (const auto& [key, value] : entries) {
    for (const auto text : {key, value}) {
      add_int(text.size());
      out += text;
    }
  }
  return out;
}

class Exporter {
 public:
  explicit Exporter(const Table& table) : table_(table) {
    assert(table.columns.size() == table.values.cols());
    assert(table.id_name.empty() || table.ids.size() == table.rows());
    for (const Column& column : table.columns) {
      auto text = std::make_shared<TextBlock>();
      for (const std::string& level : column.levels) text->add(level);
      dictionaries_.push_back(std::move(text));
    }
  }

  void schema(ArrowSchema* out) const {
    auto root = std::make_unique<SchemaOwner>(SchemaOwner{.format = "+s", .name = ""});
    // Sized first: the pointers into `children` must not move, and a throw midway must leak nothing.
    root->children.resize(table_.columns.size() + (has_ids() ? 1 : 0));
    ArrowSchema whole{};
    std::vector<std::pair<std::string_view, std::string_view>> metadata;
    if (table_.label) metadata.emplace_back(kArrowLabelKey, table_.columns[*table_.label].name);
    if (has_ids()) metadata.emplace_back(kArrowIdKey, table_.id_name);
    root->metadata = encode_metadata(metadata);
    auto* next = root->children.data();
    fill_schema(std::move(root), 0, &whole);
    try {
      if (has_ids()) leaf("u", table_.id_name, 0, next++);
      for (const Column& column : table_.columns) leaf(column, next++);
    } catch (...) {
      whole.release(&whole);
      throw;
    }
    *out = whole;
  }

  void next(ArrowArray* out) {
    *out = {};
    if (next_row_ >= table_.rows()) return;
    const size_t begin = next_row_;
    const size_t end = std::min(table_.rows(), begin + kBatchRows);
    auto root = std::make_unique<ArrayOwner>();
    root->children.resize(table_.columns.size() + (has_ids() ? 1 : 0));
    ArrowArray whole{};
    auto* child = root->children.data();
    fill_array(std::move(root), end - begin, 0, 1, &whole);
    try {
      if (has_ids()) {
        auto text = std::make_shared<TextBlock>();
        for (size_t i = begin; i < end; ++i) text->add(table_.ids[i]);
        export_text(std::move(text), child++);
      }
      for (size_t j = 0; j < table_.columns.size(); ++j) export_column(j, begin, end, child++);
    } catch (...) {
      whole.release(&whole);
      throw;
    }
    next_row_ = end;
    *out = whole;
  }

  std::string error;

 private:
  bool has_ids() const { return !table_.id_name.empty(); }

  static void leaf(std::string format, const std::string& name, int64_t flags, ArrowSchema* out) {
    fill_schema(std::make_unique<SchemaOwner>(SchemaOwner{.format = std::move(format), .name = name}), flags, out);
  }
  static void leaf(const Column& column, ArrowSchema* out) {
    if (column.kind == ColumnKind::numeric) return leaf("f", column.name, ARROW_FLAG_NULLABLE, out);
    auto owner = std::make_unique<SchemaOwner>(SchemaOwner{.format = "i", .name = column.name});
    leaf("u", "", 0, &owner->dictionary);
    fill_schema(std::move(owner), ARROW_FLAG_NULLABLE, out);
  }

  void export_column(size_t j, size_t begin, size_t end, ArrowArray* out) const {
    const bool categorical = table_.columns[j].kind == ColumnKind::categorical;
    auto owner = std::make_unique<ArrayOwner>();
    std::vector<uint8_t> validity((end - begin + 7) / 8);
    size_t nulls = 0;
    if (categorical) {
      owner->codes.resize(end - begin);
    } else {
      owner->numbers.resize(end - begin);
    }
    for (size_t i = 0; i < end - begin; ++i) {
      const float value = table_.values(begin + i, j);
      if (std::isnan(value)) {
        ++nulls;
        continue;
      }
      validity[i / 8] = static_cast<uint8_t>(validity[i / 8] | 1u << (i % 8));
      if (categorical) {
        assert(value >= 0 && value < static_cast<float>(table_.columns[j].levels.size()));
        owner->codes[i] = static_cast<int32_t>(value);
      } else {
        owner->numbers[i] = value;
      }
    }
    if (nulls > 0) owner->validity = std::move(validity);
    owner->buffers[1] = categorical ? static_cast<const void*>(owner->codes.data()) : owner->numbers.data();
    if (categorical) export_text(dictionaries_[j], &owner->dictionary);
    fill_array(std::move(owner), end - begin, nulls, 2, out);
  }

  const Table& table_;
  std::vector<SharedText> dictionaries_;  // one for each column, shared by all batches
  size_t next_row_ = 0;
};

Exporter& exporter(ArrowArrayStream* stream) { return *static_cast<Exporter*>(stream->private_data); }

// No exception may leave a C callback.
template <class F>
int guarded(ArrowArrayStream* stream, F&& work) {
  try {
    work(exporter(stream));
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  } catch (const std::exception& error) {
    exporter(stream).error = error.what();
    return EINVAL;
  }
}

}  // namespace

void table_to_arrow(const Table& table, ArrowArrayStream* out) {
  auto state = std::make_unique<Exporter>(table);
  *out = {
      .get_schema = [](ArrowArrayStream* stream,
                       ArrowSchema* schema) { return guarded(stream, [&](Exporter& from) { from.schema(schema); }); },
      .get_next = [](ArrowArrayStream* stream,
                     ArrowArray* array) { return guarded(stream, [&](Exporter& from) { from.next(array); }); },
      .get_last_error = [](ArrowArrayStream* stream) -> const char* {
        const std::string& error = exporter(stream).error;
        return error.empty() ? nullptr : error.c_str();
      },
      .release =
          [](ArrowArrayStream* stream) {
            delete &exporter(stream);
            stream->release = nullptr;
          },
      .private_data = state.get()};
  (void)state.release();  // the C struct owns it now
}

}  // namespace assay
