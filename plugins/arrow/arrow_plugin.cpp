// The Parquet and Feather plugin: the only code of Assay that sees Arrow's headers.
//
// It opens or writes a file and hands rows over the Arrow C stream interface; what becomes of them (types, categories,
// missing values) is decided in assay/data/io/arrow_table.*. Nothing here may throw across the C boundary, and every
// batch of a file is validated before it leaves, because the C interface carries no buffer sizes.
#include <arrow/api.h>
#include <arrow/c/bridge.h>
#include <arrow/compute/cast.h>
#include <arrow/io/api.h>
#include <arrow/ipc/api.h>
#include <arrow/util/config.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/writer.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "assay/data/io/plugin.h"

namespace {

constexpr int64_t kBatchRows = int64_t{1} << 16;

using Reader = std::shared_ptr<arrow::RecordBatchReader>;

// Runs work() and turns a failed Status or an exception (Parquet throws) into a code and a message.
template <class F>
int guarded(char* error, size_t error_size, F&& work) {
  std::string message;
  try {
    const arrow::Status status = work();
    if (status.ok()) return 0;
    message = status.message();
  } catch (const std::exception& thrown) {
    message = thrown.what();
  } catch (...) {
    message = "an unknown failure in Arrow";
  }
  if (error_size > 0) {
    const size_t size = std::min(message.size(), error_size - 1);
    std::memcpy(error, message.data(), size);
    error[size] = '\0';
  }
  return 1;
}

// The batches of an IPC file, which Arrow offers by position only.
class FileBatches : public arrow::RecordBatchReader {
 public:
  explicit FileBatches(std::shared_ptr<arrow::ipc::RecordBatchFileReader> file) : file_(std::move(file)) {}

  std::shared_ptr<arrow::Schema> schema() const override { return file_->schema(); }
  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* out) override {
    out->reset();
    if (next_ == file_->num_record_batches()) return arrow::Status::OK();
    return file_->ReadRecordBatch(next_++).Value(out);
  }

 private:
  std::shared_ptr<arrow::ipc::RecordBatchFileReader> file_;
  int next_ = 0;
};

// What the C interface gets to see: batches that were validated, with text views turned into plain text.
class CheckedBatches : public arrow::RecordBatchReader {
 public:
  CheckedBatches(Reader from, std::shared_ptr<void> keep) : keep_(std::move(keep)), from_(std::move(from)) {
    auto fields = from_->schema()->fields();
    for (auto& field : fields) {
      const bool view = field->type()->id() == arrow::Type::STRING_VIEW;
      casts_.push_back(view);
      if (view) field = field->WithType(arrow::large_utf8());
    }
    schema_ = arrow::schema(std::move(fields), from_->schema()->metadata());
  }

  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }
  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* out) override {
    // Arrow's own callbacks do not catch, and Parquet throws on some damaged files.
    try {
      return read_next(out);
    } catch (const std::exception& thrown) {
      return arrow::Status::Invalid(thrown.what());
    }
  }

 private:
  arrow::Status read_next(std::shared_ptr<arrow::RecordBatch>* out) {
    std::shared_ptr<arrow::RecordBatch> batch;
    ARROW_RETURN_NOT_OK(from_->ReadNext(&batch));
    if (batch == nullptr) {
      out->reset();
      return arrow::Status::OK();
    }
    ARROW_RETURN_NOT_OK(batch->ValidateFull());
    auto columns = batch->columns();
    for (size_t j = 0; j < columns.size(); ++j) {
      if (!casts_[j]) continue;
      ARROW_ASSIGN_OR_RAISE(columns[j], arrow::compute::Cast(*columns[j], arrow::large_utf8()));
    }
    *out = arrow::RecordBatch::Make(schema_, batch->num_rows(), std::move(columns));
    return arrow::Status::OK();
  }

  std::shared_ptr<void> keep_;  // what `from_` reads through; destroyed after it
  Reader from_;
  std::shared_ptr<arrow::Schema> schema_;
  std::vector<bool> casts_;
};

arrow::Result<Reader> open_parquet(std::shared_ptr<arrow::io::RandomAccessFile> file) {
  // One thread, and no reading ahead: how many threads work is the caller's to say, and memory stays at one row group.
  parquet::ArrowReaderProperties properties(/*use_threads=*/false);
  properties.set_batch_size(kBatchRows);
  properties.set_pre_buffer(false);
  auto checks = parquet::default_reader_properties();
  checks.set_page_checksum_verification(true);  // of the pages that carry one
  parquet::arrow::FileReaderBuilder builder;
  ARROW_RETURN_NOT_OK(builder.Open(std::move(file), checks));
  std::unique_ptr<parquet::arrow::FileReader> reader;
  ARROW_RETURN_NOT_OK(builder.properties(properties)->Build(&reader));
  std::shared_ptr<parquet::arrow::FileReader> keep(std::move(reader));
  ARROW_ASSIGN_OR_RAISE(Reader batches, keep->GetRecordBatchReader());
  return std::make_shared<CheckedBatches>(std::move(batches), keep);
}

// Feather version 2 is the IPC file. Files called .arrow are sometimes the IPC stream (Hugging Face's datasets), which
// the first bytes tell apart.
arrow::Result<Reader> open_feather(std::shared_ptr<arrow::io::RandomAccessFile> file) {
  ARROW_ASSIGN_OR_RAISE(const auto head, file->ReadAt(0, 8));
  const auto start = static_cast<std::string_view>(*head);
  ARROW_RETURN_NOT_OK(file->Seek(0));
  auto options = arrow::ipc::IpcReadOptions::Defaults();
  options.use_threads = false;
  if (start.starts_with("ARROW1")) {
    ARROW_ASSIGN_OR_RAISE(auto reader, arrow::ipc::RecordBatchFileReader::Open(file, options));
    return std::make_shared<CheckedBatches>(std::make_shared<FileBatches>(std::move(reader)), file);
  }
  if (start.starts_with("\xff\xff\xff\xff")) {
    ARROW_ASSIGN_OR_RAISE(auto reader, arrow::ipc::RecordBatchStreamReader::Open(file, options));
    return std::make_shared<CheckedBatches>(std::move(reader), file);
  }
  if (start.starts_with("FEA1"))
    return arrow::Status::Invalid("Feather of version 1, which must be written again as version 2");
  return arrow::Status::Invalid("a file that does not start as one");
}

int read(const char* path, const void* bytes, size_t size, const char* format, ArrowArrayStream* out, char* error,
         size_t error_size) {
  return guarded(error, error_size, [&]() -> arrow::Status {
    std::shared_ptr<arrow::io::RandomAccessFile> file;
    if (bytes != nullptr) {
      file = std::make_shared<arrow::io::BufferReader>(
          std::make_shared<arrow::Buffer>(static_cast<const uint8_t*>(bytes), static_cast<int64_t>(size)));
    } else {
      ARROW_ASSIGN_OR_RAISE(file, arrow::io::ReadableFile::Open(path));
    }
    const bool parquet = std::string_view(format) == "parquet";
    ARROW_ASSIGN_OR_RAISE(Reader reader, parquet ? open_parquet(std::move(file)) : open_feather(std::move(file)));
    return arrow::ExportRecordBatchReader(std::move(reader), out);
  });
}

// Hands Arrow's writes to the caller's sink.
class SinkStream : public arrow::io::OutputStream {
 public:
  SinkStream(AssayByteSink sink, void* context) : sink_(sink), context_(context) {}
  ~SinkStream() override = default;

  using arrow::io::OutputStream::Write;
  arrow::Status Write(const void* bytes, int64_t size) override {
    if (size > 0 && sink_(context_, bytes, static_cast<size_t>(size)) != 0) {
      return arrow::Status::IOError("the file could not be written");
    }
    position_ += size;
    return arrow::Status::OK();
  }
  arrow::Status Close() override {
    closed_ = true;
    return arrow::Status::OK();
  }
  bool closed() const override { return closed_; }
  arrow::Result<int64_t> Tell() const override { return position_; }

 private:
  AssayByteSink sink_;
  void* context_;
  int64_t position_ = 0;
  bool closed_ = false;
};

// Calls write(batch) for each batch.
template <class F>
arrow::Status for_each_batch(arrow::RecordBatchReader& reader, F&& write) {
  for (;;) {
    std::shared_ptr<arrow::RecordBatch> batch;
    ARROW_RETURN_NOT_OK(reader.ReadNext(&batch));
    if (batch == nullptr) return arrow::Status::OK();
    ARROW_RETURN_NOT_OK(write(*batch));
  }
}

arrow::Status write_parquet(arrow::RecordBatchReader& reader, std::shared_ptr<arrow::io::OutputStream> out) {
  // Snappy is what every reader has. The stored schema brings dictionaries and our metadata back.
  parquet::WriterProperties::Builder builder;
  const auto properties = builder.compression(parquet::Compression::SNAPPY)->enable_page_checksum()->build();
  const auto arrow_properties = parquet::ArrowWriterProperties::Builder().store_schema()->build();
  ARROW_ASSIGN_OR_RAISE(const auto writer,
                        parquet::arrow::FileWriter::Open(*reader.schema(), arrow::default_memory_pool(), std::move(out),
                                                         properties, arrow_properties));
  ARROW_RETURN_NOT_OK(
      for_each_batch(reader, [&](const arrow::RecordBatch& batch) { return writer->WriteRecordBatch(batch); }));
  return writer->Close();
}

arrow::Status write_feather(arrow::RecordBatchReader& reader, std::shared_ptr<arrow::io::OutputStream> out) {
  auto options = arrow::ipc::IpcWriteOptions::Defaults();
  options.use_threads = false;
  ARROW_ASSIGN_OR_RAISE(options.codec, arrow::util::Codec::Create(arrow::Compression::LZ4_FRAME));
  ARROW_ASSIGN_OR_RAISE(const auto writer, arrow::ipc::MakeFileWriter(std::move(out), reader.schema(), options));
  ARROW_RETURN_NOT_OK(
      for_each_batch(reader, [&](const arrow::RecordBatch& batch) { return writer->WriteRecordBatch(batch); }));
  return writer->Close();
}

int write(const char* format, ArrowArrayStream* in, AssayByteSink sink, void* context, char* error, size_t error_size) {
  return guarded(error, error_size, [&]() -> arrow::Status {
    // Takes the stream over, also when it fails.
    ARROW_ASSIGN_OR_RAISE(const Reader reader, arrow::ImportRecordBatchReader(in));
    auto out = std::make_shared<SinkStream>(sink, context);
    return std::string_view(format) == "parquet" ? write_parquet(*reader, out) : write_feather(*reader, out);
  });
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const AssayTablePlugin* assay_table_plugin_v1() {
  static constexpr AssayTablePlugin kPlugin{ASSAY_TABLE_PLUGIN_VERSION, "Arrow " ARROW_VERSION_STRING, read, write};
  return &kPlugin;
}
