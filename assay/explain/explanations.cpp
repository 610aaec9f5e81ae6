#include "assay/explain/explanations.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <unordered_set>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/data/io/array_table.h"
#include "assay/data/io/bytes.h"
#include "assay/data/io/npz.h"
#include "assay/data/io/plugin.h"
#include "assay/data/table_io.h"
#include "assay/explain/io/explanations_json.h"
#include "assay/explain/io/explanations_npz.h"
#include "assay/explain/io/explanations_table.h"

namespace assay {
namespace {

constexpr size_t kLongestWord = 60;

bool is_text_table(const std::string& extension) {
  return extension == ".csv" || extension == ".tsv" || extension == ".psv" || extension == ".txt" ||
         extension == ".data";
}

// A table that `assay data` wrote: its own reader knows which columns are numbers.
bool holds_table(const NpzFile& file) {
  if (!file.contains("meta") || !is_text(file.header("meta").type)) return false;
  const std::vector<std::string> meta = to_strings(file.name(), file.read("meta"));
  return meta.size() == 1 && meta[0].find("\"assay\":\"table\"") != std::string::npos;
}

// A word that a file name can have on every system.
std::string file_word(const std::string& name) {
  std::string word;
  for (const char c : name.substr(0, kLongestWord)) {
    const auto byte = static_cast<unsigned char>(c);
    word += std::isalnum(byte) != 0 || c == '-' || c == '_' ? c : '_';
  }
  return word.empty() ? "_" : word;
}

// The words of all names, with numbers behind those that would be the same.
std::vector<std::string> file_words(const std::vector<std::string>& names) {
  std::vector<std::string> words;
  std::unordered_set<std::string> taken;
  for (const std::string& name : names) {
    const std::string word = file_word(name);
    std::string fresh = word;
    // Whether a file system tells apart upper and lower case is not known here.
    for (size_t n = 2; !taken.insert(lower_case(fresh)).second; n++) fresh = fmt::format("{}-{}", word, n);
    words.push_back(fresh);
  }
  return words;
}

}  // namespace

void check_explanations_output(const std::string& path) {
  if (path == "-") return;
  const std::string extension = format_extension(path);
  const bool table = is_text_table(extension) || is_arrow_path(path);
  if (extension != ".npz" && extension != ".json" && !table) {
    fail_input(path, "a name that ends in .npz, .csv, .tsv, .parquet, .feather or .json",
               extension.empty() ? "one without an extension" : in_quotes(extension));
  }
  if (table) check_output(path);
  check_output_folder(path);
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) fail_input(path, "a file to write", "a folder");
  const auto folder = std::filesystem::path(path).parent_path();
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored)) return;
  if (::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0) fail_io(path, "write", errno);
}

void write_explanations(const Explanations& explanations, const std::string& path, const Context& context) {
  const std::string extension = path == "-" ? ".csv" : format_extension(path);
  if (extension == ".npz") return write_explanations_npz(explanations, path, context);
  if (extension != ".json") return write_table(explanations_table(explanations), path, context);
  AtomicFile file(path, context);
  file.write(explanations_json(path, explanations));
  file.write("\n");
  file.commit();
}

namespace {

Explanations read_by_extension(const std::string& path, const Context& context) {
  const std::string extension = path == "-" ? ".csv" : format_extension(path);
  if (extension == ".json") return explanations_from_json(path, read_all(*open_bytes(path, context)));
  if (extension == ".npy") return explanations_from_array(path, read_npy(*open_bytes(path, context)));
  if (extension == ".npz") {
    const NpzFile file(path, context);
    return holds_table(file) ? explanations_from_table(read_npz_table(path, context), true)
                             : explanations_from_npz(file);
  }
  if (is_text_table(extension)) {
    return explanations_from_csv(reopenable(path == "-" ? "/dev/stdin" : path, context), context);
  }
  KeptDoubles doubles;
  TableOptions options{.doubles = &doubles};
  Table table = read_table(path, options, context);
  options.id = column_of_ids(table, doubles);
  if (!options.id.empty()) table = read_table(path, options, context);
  Explanations made = explanations_from_table(std::move(table), is_arrow_path(path));
  if (!options.id.empty()) note_ids(made);
  return made;
}

}  // namespace

Explanations read_explanations(const std::string& path, const Context& context) {
  Explanations made = read_by_extension(path, context);
  if (!made.columns.empty() && made.columns.size() != made.players()) {
    fail_input(fmt::format("{}, 'meta'", path),
               fmt::format("{} lists in 'columns', one for each feature", made.players()),
               fmt::format("{}", made.columns.size()));
  }
  return made;
}

std::vector<std::string> result_paths(const std::string& path, const std::vector<std::string>& methods,
                                      const std::vector<std::string>& targets) {
  if (methods.size() == 1 && targets.empty()) return {path};
  if (path == "-") fail_input("standard output", "one result", "several (a file name gives each its own file)");
  const std::string extension = format_extension(path);
  // The extension is the last of its kind before .gz or .xz, whatever its case.
  const size_t at = extension.empty() ? path.size() : lower_case(path).rfind(extension);
  const std::vector<std::string> method_words = file_words(methods);
  const std::vector<std::string> target_words = targets.empty() ? std::vector<std::string>{""} : file_words(targets);
  std::vector<std::string> paths;
  for (const std::string& method : method_words) {
    for (const std::string& target : target_words) {
      std::string inserted;
      if (methods.size() > 1) inserted += fmt::format(".{}", method);
      if (!targets.empty()) inserted += fmt::format(".{}", target);
      paths.push_back(fmt::format("{}{}{}", path.substr(0, at), inserted, path.substr(at)));
    }
  }
  return paths;
}

}  // namespace assay
