#include "assay/report/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "assay/core/error.h"
#include "assay/core/sha256.h"
#include "assay/core/table_text.h"
#include "assay/data/io/npz.h"
#include "assay/report/study_folder.h"
#include "assay/study/io/json_parts.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr double kRelative = 1e-4;
constexpr double kAbsolute = 1e-6;
constexpr size_t kDepth = 32;
constexpr uint64_t kMostTextBytes = uint64_t{1} << 30;

// Bytes as they lie on the disk: open_bytes would unpack them.
std::string raw_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::error_code error;
  const uint64_t size = fs::file_size(path, error);
  if (!file || error) fail_io(path, "read it", error ? error.value() : EIO);
  if (size > kMostTextBytes) fail_input(path, "at most 1 GiB", fmt::format("{} bytes", size));
  std::string bytes(size, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(size));
  if (static_cast<uint64_t>(file.gcount()) != size) fail_io(path, "read it", EIO);
  return bytes;
}

// What is compared, by name with /, and why it cannot be: empty for regular files.
using ComparedFiles = std::map<std::string, std::string>;

ComparedFiles compared_files(const std::string& folder) {
  ComparedFiles files;
  const auto add = [&](const std::string& name) {
    const std::string found = instead_of_file(folder, name);
    if (found == "nothing") return;
    files[name] = found.empty() ? "" : fmt::format("expected a regular file, found {}", found);
  };
  for (const char* name : {"study.json", "scores.csv", "model.onnx"}) add(name);
  for (const auto& [inner, extension] : {std::pair("scores", ".json"), {"explanations", ".npz"}, {"pool", ".npz"}}) {
    const std::string found = instead_of_file(folder, inner);
    if (found == "nothing") continue;
    if (found != "a folder") {
      files[inner] = fmt::format("expected a folder, found {}", found.empty() ? "a file" : found);
      continue;
    }
    std::error_code error;
    fs::directory_iterator next(path_within(folder, inner), error);
    for (; !error && next != fs::directory_iterator(); next.increment(error)) {
      if (next->path().extension() == extension) add(fmt::format("{}/{}", inner, next->path().filename().string()));
    }
    if (error) fail_io(path_within(folder, inner), "look through it", error.value());
  }
  return files;
}

// Fields by their path without numbers in brackets. Options and names of files may be called the same, elsewhere.
const std::set<std::string_view>& derived_fields() {
  static const std::set<std::string_view> fields = {
      // What the studies are known to differ in.
      "facts.version", "facts.vector_target", "entries.provenance.version", "entries.provenance.vector_target",
      // What follows from numbers, and may jump where they move in the last digit.
      "verdict", "warnings", "criteria.order", "entries.dominated", "entries.dominated_by", "entries.scores.standing",
      "entries.scores.p"};
  return fields;
}

std::string shown(const JsonRead& value) {
  return in_quotes(value.dump(-1, ' ', false, JsonRead::error_handler_t::replace));
}

class JsonWalk {
 public:
  explicit JsonWalk(bool near) : near_(near) {}

  // field: the path without numbers in brackets.
  void compare(const std::string& path, const std::string& field, const JsonRead& a, const JsonRead& b) {
    if (near_ && derived_fields().contains(field)) return;
    if (a.is_object() && b.is_object()) {
      compare_objects(path, field, a, b);
    } else if (a.is_array() && b.is_array() && a.size() == b.size()) {
      for (size_t i = 0; i < a.size(); i++) compare(fmt::format("{}[{}]", path, i), field, a[i], b[i]);
    } else if (near_ && a.is_number() && b.is_number()) {
      if (!nearly_equal(a.get<double>(), b.get<double>())) differ(path, shown(a), shown(b));
    } else if (a.is_array() && b.is_array()) {
      differ(path, plural(a.size(), "item"), plural(b.size(), "item"));
    } else if (a != b) {
      differ(path, shown(a), shown(b));
    }
  }

  std::string result() const {
    if (count_ == 0) return {};
    return fmt::format("{} {}, {}", plural(count_, "field"), count_ == 1 ? "differs" : "differ",
                       count_ == 1 ? first_ : fmt::format("the first is {}", first_));
  }

 private:
  static std::string within(const std::string& path, const std::string& key) {
    return path.empty() ? key : fmt::format("{}.{}", path, key);
  }

  // A model that the study trains has other last digits, and another hash.
  static bool trained_model(const std::string& field, const JsonRead& value) {
    const auto is = [&](const char* key, const char* word) {
      const auto found = value.find(key);
      return found != value.end() && *found == word;
    };
    return field == "facts.inputs" && is("role", "model (trained)");
  }

  void compare_objects(const std::string& path, const std::string& field, const JsonRead& a, const JsonRead& b) {
    const bool trained = near_ && trained_model(field, a) && trained_model(field, b);
    for (const auto& item : a.items()) {
      if (trained && item.key() == "sha256") continue;
      const auto found = b.find(item.key());
      if (found == b.end()) {
        differ(within(path, item.key()), shown(item.value()), "nothing");
      } else {
        compare(within(path, item.key()), within(field, item.key()), item.value(), *found);
      }
    }
    for (const auto& item : b.items()) {
      if (!a.contains(item.key())) differ(within(path, item.key()), "nothing", shown(item.value()));
    }
  }

  void differ(const std::string& path, const std::string& a, const std::string& b) {
    if (count_++ == 0) first_ = fmt::format("{}: recorded {}, found {}", one_line(path), a, b);
  }

  bool near_;
  size_t count_ = 0;
  std::string first_;
};

std::optional<double> number_of(std::string_view text) {
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

// Splits at every separator, also inside quotes: both lines are split alike, and words must be equal anyway.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t from = 0; from <= text.size();) {
    const size_t to = std::min(text.find(separator, from), text.size());
    parts.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return parts;
}

bool nearly_equal_lines(std::string_view a, std::string_view b) {
  const auto first = split(a, ',');
  const auto second = split(b, ',');
  return std::ranges::equal(first, second, [](std::string_view x, std::string_view y) {
    const auto u = number_of(x);
    const auto v = number_of(y);
    return u && v ? nearly_equal(*u, *v) : x == y;
  });
}

// Of one array; empty where they are nearly equal.
std::string array_difference(const std::string& name, const NpyArray& a, const NpyArray& b) {
  if (a.shape != b.shape || a.is_text() != b.is_text()) {
    return fmt::format("the array {} is {}, recorded was {}", in_quotes(name), shape_text(b.shape),
                       shape_text(a.shape));
  }
  if (a.is_text()) {
    return to_strings(name, a) == to_strings(name, b) ? "" : fmt::format("the words of {} differ", in_quotes(name));
  }
  const std::vector<double> first = to_doubles(name, a);
  const std::vector<double> second = to_doubles(name, b);
  const size_t columns = std::max<size_t>(1, rows_and_columns(a.shape).second);
  for (size_t from = 0; from < first.size(); from += columns) {
    const size_t to = std::min(from + columns, first.size());
    double scale = 0;
    for (size_t i = from; i < to; i++) scale = std::fmax(scale, std::fmax(std::fabs(first[i]), std::fabs(second[i])));
    for (size_t i = from; i < to; i++) {
      if (nearly_equal(first[i], second[i], scale)) continue;
      return fmt::format("{} of row {}: recorded {}, found {}", in_quotes(name), i / columns + 1, first[i], second[i]);
    }
  }
  return {};
}

std::string arrays_difference(const std::string& recorded, const std::string& again, const Context& context) {
  const NpzFile first(recorded, context);
  const NpzFile second(again, context);
  if (first.names() != second.names()) return "it holds other arrays";
  for (const std::string& name : first.names()) {
    if (name == "meta") continue;  // names version and target
    std::string found = array_difference(name, first.read(name), second.read(name));
    if (!found.empty()) return found;
  }
  return {};
}

// How two files whose bytes differ do so; empty where that is within the tolerance.
std::string file_difference(const std::string& name, const std::string& recorded, const std::string& again, bool near,
                            const Context& context) {
  if (name.ends_with(".json")) {
    std::string found = json_difference(recorded, raw_bytes(recorded), raw_bytes(again), near);
    return !found.empty() || near ? found : "the bytes differ, though they say the same";
  }
  if (name.ends_with(".csv")) return lines_difference(raw_bytes(recorded), raw_bytes(again), near);
  // Weights are not judged one by one: what the model explains and scores is.
  if (near) return name.ends_with(".npz") ? arrays_difference(recorded, again, context) : std::string();
  return fmt::format("recorded sha256 {}, found {}", file_sha256(recorded, context), file_sha256(again, context));
}

bool same_bytes(const std::string& a, const std::string& b, const Context& context) {
  std::error_code error;
  return fs::file_size(a, error) == fs::file_size(b, error) && file_sha256(a, context) == file_sha256(b, context);
}

}  // namespace

bool nearly_equal(double a, double b, double scale) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  if (!std::isfinite(scale)) scale = 0;
  return std::fabs(a - b) <= kRelative * std::max({std::fabs(a), std::fabs(b), scale}) + kAbsolute;
}

std::string json_difference(std::string_view where, std::string_view recorded, std::string_view again, bool near) {
  JsonWalk walk(near);
  walk.compare("", "", parsed_json(where, recorded, kDepth), parsed_json(where, again, kDepth));
  return walk.result();
}

std::string lines_difference(std::string_view recorded, std::string_view again, bool near) {
  const auto first = split(recorded, '\n');
  const auto second = split(again, '\n');
  for (size_t i = 0; i < std::min(first.size(), second.size()); i++) {
    if (first[i] == second[i] || (near && nearly_equal_lines(first[i], second[i]))) continue;
    return fmt::format("line {} differs: recorded {}, found {}", i + 1, in_quotes(first[i]), in_quotes(second[i]));
  }
  if (first.size() == second.size()) return {};
  return fmt::format("recorded {}, found {}", plural(first.size() - 1, "line"), with_commas(second.size() - 1));
}

FolderComparison compare_study_folders(const std::string& recorded, const std::string& again, const Context& context) {
  const StudyFolder first = open_study_folder(recorded, context);
  const StudyFolder second = open_study_folder(again, context);
  FolderComparison made;
  made.exact = first.summary.version == second.summary.version && first.vector_target == second.vector_target;
  if (!made.exact) {
    made.why_not_exact = fmt::format(
        "recorded by version {} with {}, run again by version {} with {}: numbers are compared to 1e-4 of their size, "
        "and "
        "what follows from them (order, significance, verdict) is not",
        one_line(first.summary.version), one_line(first.vector_target), one_line(second.summary.version),
        one_line(second.vector_target));
  }
  const ComparedFiles found = compared_files(again);
  const ComparedFiles expected = compared_files(recorded);
  ComparedFiles names = expected;
  for (const auto& [name, problem] : found) {
    if (std::string& known = names[name]; known.empty()) known = problem;
  }
  made.files = names.size();
  for (const auto& [name, problem] : names) {
    context.check_cancelled();
    const std::string shown_name = one_line(name);
    if (!problem.empty()) {
      made.different.push_back(fmt::format("{}: {}", shown_name, problem));
      continue;
    }
    if (!found.contains(name)) {
      made.different.push_back(fmt::format("{}: recorded, but the new run has none", shown_name));
      continue;
    }
    if (!expected.contains(name)) {
      made.different.push_back(fmt::format("{}: not recorded, but the new run has one", shown_name));
      continue;
    }
    const std::string a = path_within(recorded, name);
    const std::string b = path_within(again, name);
    const bool equal = same_bytes(a, b, context);
    const std::string difference = equal ? std::string() : file_difference(name, a, b, !made.exact, context);
    if (equal || (!made.exact && difference.empty())) {
      made.same.push_back(name);
    } else {
      made.different.push_back(fmt::format("{}: {}", shown_name, difference));
    }
  }
  return made;
}

}  // namespace assay
