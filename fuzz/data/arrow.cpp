// Arrow arrays with any bytes as sizes, offsets and buffers: a table or an assay::Error. The interface does not pass
// the length of a buffer, so a reader must trust it. Buffers here are as long as those of a valid array.
#include <array>
#include <cstring>
#include <string>

#include "assay/data/io/arrow_table.h"
#include "fuzz/harness.h"

namespace {

// Takes bytes from the front of the input; zeros after its end.
struct Bytes {
  const uint8_t* data;
  size_t size;
  uint8_t next() { return size == 0 ? 0 : (size--, *data++); }
  std::string take(size_t count) {
    std::string out(count, '\0');
    for (char& c : out) c = static_cast<char>(next());
    return out;
  }
};

struct Producer {
  explicit Producer(Bytes bytes) : bytes(bytes) {}
  Bytes bytes;
  std::string format, dictionary_format, name, metadata;
  ArrowSchema column{}, entries{};
  ArrowSchema* columns[1] = {&column};
  ArrowArray values{}, texts{};
  ArrowArray* children[1] = {&values};
  std::array<std::string, 6> buffers;
  std::array<const void*, 3> value_buffers{}, text_buffers{};
  int batches = 0;
};

Producer& of(ArrowArrayStream* stream) { return *static_cast<Producer*>(stream->private_data); }

// A small number, rarely a negative one.
int64_t number(Bytes& bytes) {
  const auto byte = bytes.next();
  if (byte == 255) return INT64_MIN;
  return byte == 254 ? -1 : byte % 9;
}

// Also sizes that no array has.
int64_t wild_number(Bytes& bytes) {
  const auto byte = bytes.next();
  if (byte == 255) return INT64_MAX;
  return byte == 254 ? int64_t{1} << 40 : number(bytes);
}

void fill(Producer& p, ArrowArray& array, std::array<const void*, 3>& pointers, size_t first) {
  array = {.length = number(p.bytes), .null_count = number(p.bytes), .offset = number(p.bytes), .n_buffers = 3};
  if (p.bytes.next() % 4 != 0) array.n_buffers = 2;
  const uint8_t absent = p.bytes.next();
  for (size_t b = 0; b < 3; b++) {
    std::string& buffer = p.buffers[first + b];
    buffer = p.bytes.take(b == 0 ? 8 : 40);
    buffer.resize(1024);
    pointers[b] = (absent >> b & 9) == 9 ? nullptr : buffer.data();
    // Offsets of texts stay inside of their bytes, or are negative.
    for (size_t at = 0; b == 1 && at < 40; at += 4) {
      buffer[at + 1] &= 1;
      buffer[at + 2] = 0;
      buffer[at + 3] = static_cast<char>(buffer[at + 3] & 0x80);
    }
  }
  array.buffers = pointers.data();
  array.release = [](ArrowArray* self) { self->release = nullptr; };
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Producer p(Bytes{data, size});
  ArrowArrayStream stream{
      .get_schema =
          [](ArrowArrayStream* self, ArrowSchema* out) {
            Producer& made = of(self);
            constexpr std::array<const char*, 16> kFormats = {"c", "C", "s", "S", "i", "I", "l",   "L",
                                                              "e", "f", "g", "b", "n", "u", "tdD", ""};
            made.format = kFormats[made.bytes.next() % 16];
            made.dictionary_format = kFormats[made.bytes.next() % 16];
            made.name = made.bytes.take(2);
            made.column = {.format = made.format.c_str(), .name = made.name.c_str()};
            made.entries = {.format = made.dictionary_format.c_str(), .name = ""};
            if (made.bytes.next() % 2 == 0) made.column.dictionary = &made.entries;
            *out = {.format = "+s", .name = "", .n_children = 1, .children = made.columns};
            out->release = [](ArrowSchema* schema) { schema->release = nullptr; };
            return 0;
          },
      .get_next =
          [](ArrowArrayStream* self, ArrowArray* out) {
            Producer& made = of(self);
            *out = {};
            if (made.batches++ == 2) return 0;
            fill(made, made.values, made.value_buffers, 0);
            fill(made, made.texts, made.text_buffers, 3);
            if (made.bytes.next() % 8 != 0) made.values.dictionary = &made.texts;
            *out = {.length = wild_number(made.bytes), .offset = wild_number(made.bytes), .n_children = 1};
            out->children = made.children;
            out->release = [](ArrowArray* batch) { batch->release = nullptr; };
            return 0;
          },
      .get_last_error = [](ArrowArrayStream*) -> const char* { return nullptr; },
      .release = [](ArrowArrayStream* self) { self->release = nullptr; },
      .private_data = &p};
  assay::fuzz::succeeds([&] {
    const assay::Table table = assay::table_from_arrow(&stream, "fuzz");
    assay::fuzz::require(table.values.cols() == table.columns.size());
  });
  assay::fuzz::require(stream.release == nullptr);
  return 0;
}
