#include "assay/archive/folder_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>
#include <vector>

#include "assay/archive/io/entry_json.h"
#include "assay/archive/study_names.h"
#include "assay/core/error.h"
#include "assay/data/io/bytes.h"
#include "assay/data/io/npy.h"
#include "assay/data/io/npz.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

// Larger than the scores of any study: a larger file is not read.
constexpr uint64_t kMostBytes = uint64_t{1} << 32U;

Matrix rows_of(MatrixView<const float> values, const std::vector<size_t>& rows) {
  Matrix made(rows.size(), values.cols());
  for (size_t i = 0; i < rows.size(); i++) std::ranges::copy(values.row(rows[i]), made.row(i).begin());
  return made;
}

void load_pool(const std::string& path, PoolExplanations& pool, const Context& context) {
  const NpzFile file(path, context);
  const NpyArray numbers = file.read("rows");
  const Matrix values = to_matrix(path, file.read("values"));
  if (numbers.type != NpyType::int64 || numbers.shape.size() != 1 || numbers.count() != values.rows() ||
      (values.rows() > 0 && values.cols() != pool.players())) {
    fail_input(path, fmt::format("as many rows as values, each of {} players", pool.players()),
               fmt::format("{} rows and {} x {} values", numbers.count(), values.rows(), values.cols()));
  }
  std::vector<size_t> rows;
  for (size_t i = 0; i < numbers.count(); i++) {
    const auto row = numbers.item<int64_t>(i);
    const bool ascending = rows.empty() || row > static_cast<int64_t>(rows.back());
    if (row < 0 || static_cast<size_t>(row) >= pool.rows() || !ascending) {
      fail_input(path, fmt::format("ascending rows of a pool of {}", pool.rows()), fmt::format("{}", row));
    }
    rows.push_back(static_cast<size_t>(row));
  }
  pool.know(rows, values.view());
}

}  // namespace

FolderStore::FolderStore(std::string folder, bool only_reads) : folder_(std::move(folder)) {
  if (only_reads) return;
  for (const PartFolder& part : kPartFolders) {
    const std::string path = path_within(folder_, part.name);
    std::error_code problem;
    fs::create_directories(path, problem);
    if (problem) fail_io(path, "create the folder", problem.value());
  }
}

std::string FolderStore::explanations_path(const std::string& stem) const {
  return path_within(folder_, kExplanationsFolder.file(stem));
}
std::string FolderStore::pool_path(const std::string& stem) const {
  return path_within(folder_, kPoolFolder.file(stem));
}
std::string FolderStore::scores_path(const std::string& stem) const {
  return path_within(folder_, kScoresFolder.file(stem));
}

bool FolderStore::has(const std::string& stem, EntryKind kind) const {
  const auto is_there = [](const std::string& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored);
  };
  return is_there(scores_path(stem)) && is_there(explanations_path(stem)) &&
         (kind == EntryKind::aggregate || is_there(pool_path(stem)));
}

void FolderStore::save(const StudyEntry& entry, const PoolExplanations* pool, const Context& context) {
  write_explanations(entry.explanations, explanations_path(entry.stem), context);
  if (pool != nullptr) {
    const std::vector<size_t> rows = pool->known_rows();
    const std::vector<int64_t> numbers(rows.begin(), rows.end());
    write_npz(pool_path(entry.stem),
              {{"rows", npy_from_int64(numbers)}, {"values", npy_from_matrix(rows_of(pool->values(), rows).view())}},
              false, context);
  }
  AtomicFile file(scores_path(entry.stem), context);
  file.write(entry_json(entry));
  file.commit();
}

StudyEntry FolderStore::load(const std::string& stem, PoolExplanations* pool, const Context& context) const {
  try {
    return load_files(stem, pool, context);
  } catch (const Error& problem) {
    if (problem.kind() != ErrorKind::input) throw;
    fail_input(fmt::format("{}; a part that is deleted is made again", problem.what()));
  }
}

StudyEntry FolderStore::load_files(const std::string& stem, PoolExplanations* pool, const Context& context) const {
  const std::string path = scores_path(stem);
  const auto source = open_bytes(path, context);
  StudyEntry entry = entry_from_json(path, read_all(*source, kMostBytes));
  if (entry.stem != stem) fail_input(path, fmt::format("the entry {}", stem), entry.stem);
  entry.explanations = read_explanations(explanations_path(stem), context);
  if (pool != nullptr) load_pool(pool_path(stem), *pool, context);
  return entry;
}

}  // namespace assay
