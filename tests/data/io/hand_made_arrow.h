// Arrow streams built by hand, for tests of what reads them.
#pragma once

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/data/io/arrow_table.h"

namespace assay {

// An array built by hand: the parts a producer would hand over, and a count of how often each was released.
struct Piece {
  std::string format;
  std::string name;
  int64_t length = 0;
  int64_t offset = 0;
  int64_t null_count = 0;
  std::vector<std::string> buffers = {};  // an empty one becomes a null pointer
  std::shared_ptr<Piece> dictionary = nullptr;
};

template <class T>
std::string raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

template <class T>
Piece numbers(std::string name, std::string format, const std::vector<T>& values) {
  return {std::move(format), std::move(name), static_cast<int64_t>(values.size()), 0, 0, {"", raw(values)}};
}

template <class Offset = int32_t>
Piece text(std::string name, const std::vector<std::string>& values) {
  std::vector<Offset> offsets = {0};
  std::string bytes;
  for (const auto& value : values) {
    bytes += value;
    offsets.push_back(static_cast<Offset>(bytes.size()));
  }
  return {sizeof(Offset) == 4 ? "u" : "U", std::move(name), static_cast<int64_t>(values.size()), 0, 0,
          {"", raw(offsets), bytes}};
}

template <class Index>
Piece coded(std::string name, std::string format, const std::vector<Index>& codes, Piece entries) {
  Piece piece = numbers(std::move(name), std::move(format), codes);
  piece.dictionary = std::make_shared<Piece>(std::move(entries));
  return piece;
}

// The bits say which rows are there, the first row last: 0b101 is rows 0 and 2.
inline Piece with_validity(Piece piece, uint8_t bits) {
  piece.buffers[0] = raw<uint8_t>({bits});
  piece.null_count = -1;
  return piece;
}

inline Piece sliced(Piece piece, int64_t offset, int64_t length) {
  piece.offset = offset;
  piece.length = length;
  return piece;
}

// A stream over such pieces. Everything it handed out must have been released once when it is destroyed.
class HandMade {
 public:
  explicit HandMade(std::vector<std::vector<Piece>> batches) : batches_(std::move(batches)) {
    stream = {.get_schema = [](ArrowArrayStream* s, ArrowSchema* out) { return self(s).give_schema(out); },
              .get_next = [](ArrowArrayStream* s, ArrowArray* out) { return self(s).give_batch(out); },
              .get_last_error = [](ArrowArrayStream* s) -> const char* { return self(s).error.c_str(); },
              .release =
                  [](ArrowArrayStream* s) {
                    ++self(s).stream_releases_;
                    s->release = nullptr;
                  },
              .private_data = this};
  }
  ~HandMade() {
    EXPECT_EQ(stream_releases_, 1);
    for (const auto& [node, releases] : releases_) EXPECT_EQ(releases, 1);
  }

  Table read(const std::string& source = "hand.parquet") { return table_from_arrow(&stream, source, "Parquet file"); }

  ArrowArrayStream stream{};
  std::string metadata;
  std::string error;
  std::optional<size_t> fail_at;                                // the batch that get_next fails on
  std::function<void(ArrowArray&)> spoil = [](ArrowArray&) {};  // of the whole batch

 private:
  static HandMade& self(ArrowArrayStream* s) { return *static_cast<HandMade*>(s->private_data); }

  // The children stay alive here until the end, so that a second release would be seen and not crash.
  struct Node {
    ArrowSchema schema{};
    ArrowArray array{};
    std::vector<const void*> buffers;
    std::vector<ArrowSchema*> schema_children;
    std::vector<ArrowArray*> array_children;
    HandMade* owner = nullptr;
  };

  static void release_schema(ArrowSchema* schema) {
    auto* node = static_cast<Node*>(schema->private_data);
    ++node->owner->releases_[node];
    schema->release = nullptr;
  }
  static void release_array(ArrowArray* array) {
    auto* node = static_cast<Node*>(array->private_data);
    ++node->owner->releases_[node];
    array->release = nullptr;
  }

  Node& node() {
    Node& made = nodes_.emplace_back();
    made.owner = this;
    return made;
  }

  ArrowSchema* schema_of(const Piece& piece) {
    Node& made = node();
    made.schema = {.format = piece.format.c_str(),
                   .name = piece.name.c_str(),
                   .metadata = nullptr,
                   .flags = ARROW_FLAG_NULLABLE,
                   .n_children = 0,
                   .children = nullptr,
                   .dictionary = piece.dictionary ? schema_of(*piece.dictionary) : nullptr,
                   .release = [](ArrowSchema*) {},
                   .private_data = nullptr};
    return &made.schema;
  }
  ArrowArray* array_of(const Piece& piece) {
    Node& made = node();
    for (const auto& buffer : piece.buffers) made.buffers.push_back(buffer.empty() ? nullptr : buffer.data());
    made.array = {.length = piece.length,
                  .null_count = piece.null_count,
                  .offset = piece.offset,
                  .n_buffers = static_cast<int64_t>(made.buffers.size()),
                  .n_children = 0,
                  .buffers = made.buffers.data(),
                  .children = nullptr,
                  .dictionary = piece.dictionary ? array_of(*piece.dictionary) : nullptr,
                  .release = [](ArrowArray*) {},
                  .private_data = nullptr};
    return &made.array;
  }

  int give_schema(ArrowSchema* out) {
    Node& root = node();
    for (const Piece& piece : batches_.at(0)) root.schema_children.push_back(schema_of(piece));
    *out = {.format = "+s",
            .name = "",
            .metadata = metadata.empty() ? nullptr : metadata.data(),
            .flags = 0,
            .n_children = static_cast<int64_t>(root.schema_children.size()),
            .children = root.schema_children.data(),
            .dictionary = nullptr,
            .release = release_schema,
            .private_data = &root};
    releases_[&root] = 0;
    return 0;
  }
  int give_batch(ArrowArray* out) {
    *out = {};
    if (fail_at == next_) return EIO;
    if (next_ == batches_.size()) return 0;
    const auto& batch = batches_[next_++];
    Node& root = node();
    root.buffers = {nullptr};
    for (const Piece& piece : batch) root.array_children.push_back(array_of(piece));
    *out = {.length = batch.empty() ? 0 : batch[0].length,
            .null_count = 0,
            .offset = 0,
            .n_buffers = 1,
            .n_children = static_cast<int64_t>(batch.size()),
            .buffers = root.buffers.data(),
            .children = root.array_children.data(),
            .dictionary = nullptr,
            .release = release_array,
            .private_data = &root};
    releases_[&root] = 0;
    spoil(*out);
    return 0;
  }

  std::vector<std::vector<Piece>> batches_;
  size_t next_ = 0;
  std::deque<Node> nodes_;
  std::map<const Node*, int> releases_;
  int stream_releases_ = 0;
};

}  // namespace assay
