#include "assay/archive/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "assay/archive/folder_claim.h"
#include "assay/archive/io/entry_json.h"
#include "assay/archive/io/json_parts.h"
#include "assay/archive/study_folder.h"
#include "assay/archive/study_names.h"
#include "assay/core/error.h"
#include "assay/core/rounding.h"
#include "assay/core/sha256.h"
#include "assay/core/table_text.h"
#include "assay/data/io/npz.h"
#include "assay/evaluate/rounding.h"
#include "assay/explain/rounding.h"
#include "assay/study/rounding.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

// Relative tolerance for numbers that are computed in float64 by the same steps from the same recorded numbers.
constexpr double kSameNumbers = 1e-9;
// For means of the model's own outputs, which are float32: relative to the larger of 1 and the number.
constexpr double kSameOutputs = 1e-4;
// Relative and absolute. Two rows whose scores are equal up to rounding may change places in the area under the curve.
constexpr double kQualityRounding = 1e-3;
constexpr size_t kComparedDepth = 32;
constexpr uint64_t kMostTextBytes = uint64_t{1} << 30;

// The bytes on the disk: open_bytes would decompress them.
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

// Names of files to compare, with /, and for each why it cannot be compared; empty for regular files.
using ComparedFiles = std::map<std::string, std::string>;

ComparedFiles compared_files(const std::string& folder, HeldTo by) {
  ComparedFiles files;
  const auto add = [&](std::string_view name) {
    const std::string found = instead_of_file(folder, name);
    if (found == "nothing") return;
    files[std::string(name)] = found.empty() ? "" : fmt::format("expected a regular file, found {}", found);
  };
  for (const std::string_view name : {kStudyJson, kScoresCsv, kModelOnnx}) add(name);
  if (by != HeldTo::other_version) add(kReportHtml);
  for (const PartFolder& part : kPartFolders) {
    const std::string inner(part.name);
    const std::string found = instead_of_file(folder, inner);
    if (found == "nothing") continue;
    if (found != "a folder") {
      files[inner] = fmt::format("expected a folder, found {}", found.empty() ? "a file" : found);
      continue;
    }
    std::error_code error;
    fs::directory_iterator next(path_within(folder, inner), error);
    for (; !error && next != fs::directory_iterator(); next.increment(error)) {
      if (next->path().extension() == part.extension)
        add(fmt::format("{}/{}", inner, next->path().filename().string()));
    }
    if (error) fail_io(path_within(folder, inner), "look through it", error.value());
  }
  return files;
}

// Files of a study that may be left out of the comparison: hashes, settings, times, and with another version the page.
bool never_compared(std::string_view name) {
  return name == kManifestJson || name == kSettingsJson || name == kRunJson || name == kReportHtml;
}

// Sorted paths of all that is in a folder, at any depth, except folders. Links are not followed.
std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  fs::recursive_directory_iterator next(folder, error);
  for (; !error && next != fs::recursive_directory_iterator(); next.increment(error)) {
    if (fs::is_directory(next->symlink_status())) continue;
    names.push_back(next->path().lexically_relative(folder).generic_string());
  }
  if (error) fail_io(folder, "look through it", error.value());
  std::ranges::sort(names);
  return names;
}

// Paths of fields, without numbers in brackets. Whole paths, because options may have the same names.
const std::set<std::string_view>& fields_of_the_machine() {
  static const std::set<std::string_view> fields = {"facts.version", "facts.vector_target"};
  return fields;
}

// The conclusions in study.json. Their words and rules change from version to version.
const std::set<std::string_view>& concluded_fields() {
  static const std::set<std::string_view> fields = {"advice",
                                                    "verdict",
                                                    "warnings",
                                                    "cohorts",
                                                    "criteria.order",
                                                    "entries.dominated",
                                                    "entries.dominated_by",
                                                    "entries.scores.standing",
                                                    "entries.scores.p"};
  return fields;
}

constexpr std::string_view kCohortQuality = "cohorts.columns.cohorts.quality.";
constexpr std::string_view kCohortProbability = "cohorts.columns.cohorts.mean_probability";

class JsonWalk {
 public:
  explicit JsonWalk(HeldTo by) : by_(by) {}

  // field: the path without numbers in brackets.
  void compare(const std::string& path, const std::string& field, const JsonRead& a, const JsonRead& b) {
    if (by_ != HeldTo::exact && fields_of_the_machine().contains(field)) return;
    if (by_ == HeldTo::other_version && concluded_fields().contains(field)) return;
    if (a.is_object() && b.is_object()) {
      compare_objects(path, field, a, b);
    } else if (a.is_array() && b.is_array() && a.size() == b.size()) {
      for (size_t i = 0; i < a.size(); i++) compare(fmt::format("{}[{}]", path, i), field, a[i], b[i]);
    } else if (by_ != HeldTo::exact && a.is_number() && b.is_number()) {
      const double x = a.get<double>();
      const double y = b.get<double>();
      const double size = std::max(std::fabs(x), std::fabs(y));
      // These are not made from recorded numbers but by the model, whose outputs round differently.
      const auto under = [&](std::string_view first, std::string_view second) {
        return field.starts_with(first) || field.starts_with(second);
      };
      const bool of_quality = under("facts.quality.", "advice.quality.") || field.starts_with(kCohortQuality) ||
                              field == kCohortProbability;
      const double by_model = of_quality                                             ? kQualityRounding
                              : under("facts.reference_facts.", "advice.reference.") ? kSameOutputs
                              : under("rows.probability", "rows.target_probability") ? kSameOutputs
                                                                                     : 0;
      if (!RoundingCheck::agree(x, y, by_model > 0 ? by_model * (1 + size) : kSameNumbers * size)) {
        differ(path, quoted_json(a), quoted_json(b));
      }
    } else if (a.is_array() && b.is_array()) {
      differ(path, plural(a.size(), "item"), plural(b.size(), "item"));
    } else if (a != b) {
      differ(path, quoted_json(a), quoted_json(b));
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

  void compare_objects(const std::string& path, const std::string& field, const JsonRead& a, const JsonRead& b) {
    for (const auto& item : a.items()) {
      const auto found = b.find(item.key());
      if (found == b.end()) {
        differ(within(path, item.key()), quoted_json(item.value()), "nothing");
      } else {
        compare(within(path, item.key()), within(field, item.key()), item.value(), *found);
      }
    }
    for (const auto& item : b.items()) {
      if (!a.contains(item.key())) differ(within(path, item.key()), "nothing", quoted_json(item.value()));
    }
  }

  void differ(const std::string& path, const std::string& a, const std::string& b) {
    if (count_++ == 0) first_ = fmt::format("{}: recorded {}, found {}", one_line(path), a, b);
  }

  HeldTo by_;
  size_t count_ = 0;
  std::string first_;
};

// A key of `a`, at any depth, that `b` does not have; empty if none. Reading by fields would not notice it.
std::string other_keys(const JsonRead& a, const JsonRead& b) {
  if (a.is_array() && b.is_array()) {
    for (size_t i = 0; i < std::min(a.size(), b.size()); i++) {
      if (!a[i].is_structured()) break;  // a list of numbers
      if (std::string found = other_keys(a[i], b[i]); !found.empty()) return found;
    }
  }
  if (!a.is_object() || !b.is_object()) return {};
  for (const auto& item : a.items()) {
    const auto found = b.find(item.key());
    if (found == b.end()) return item.key();
    if (std::string other = other_keys(item.value(), *found); !other.empty()) return other;
  }
  return {};
}

// Compares the parts of entries, recorded and made again. Each function returns the difference; empty if none.
class EntryParts {
 public:
  EntryParts(std::string recorded, std::string again, const Context& context)
      : recorded_(std::move(recorded)), again_(std::move(again)), context_(context) {}

  std::string explanations(const std::string& name) {
    if (names_of(recorded_, name) != names_of(again_, name)) return "it holds other arrays";
    const Explanations first = read_explanations(path_within(recorded_, name), context_);
    const Explanations second = read_explanations(path_within(again_, name), context_);
    RoundingCheck check;
    compare_explanations(first, second, check);
    return check.difference();
  }

  std::string pool(const std::string& name) {
    if (names_of(recorded_, name) != names_of(again_, name)) return "it holds other arrays";
    const NpzFile first(path_within(recorded_, name), context_);
    const NpzFile second(path_within(again_, name), context_);
    if (to_doubles("rows", first.read("rows")) != to_doubles("rows", second.read("rows"))) return "it has other rows";
    RoundingCheck check;
    compare_attributions("values", to_matrix(first.name(), first.read("values")),
                         to_matrix(second.name(), second.read("values")), scales_of(name).attributions, check);
    return check.difference();
  }

  std::string scores(const std::string& name) {
    const std::string path = path_within(recorded_, name);
    const std::string first = raw_bytes(path);
    const std::string second = raw_bytes(path_within(again_, name));
    {
      const JsonRead a = parsed_json(path, first, kComparedDepth);
      const JsonRead b = parsed_json(path, second, kComparedDepth);
      for (const std::string& key : {other_keys(a, b), other_keys(b, a)}) {
        if (!key.empty()) return fmt::format("the field {} is in one of the two alone", in_quotes(key));
      }
    }
    RoundingCheck check;
    compare_entries(entry_from_json(path, first), entry_from_json(path, second), scales_of(name), check);
    return check.difference();
  }

 private:
  std::vector<std::string> names_of(const std::string& folder, const std::string& name) const {
    return NpzFile(path_within(folder, name), context_).names();
  }

  // The scales of the recorded attributions of the entry that this file belongs to.
  ScoreScales scales_of(const std::string& name) {
    const std::string stem = fs::path(name).stem().string();
    const std::string file = kExplanationsFolder.file(stem);
    if (!instead_of_file(recorded_, file).empty()) return {};
    const auto found = scales_.find(stem);
    if (found != scales_.end()) return found->second;
    return scales_[stem] = score_scales(read_explanations(path_within(recorded_, file), context_));
  }

  std::string recorded_;
  std::string again_;
  const Context& context_;
  std::map<std::string, ScoreScales> scales_;
};

constexpr std::string_view kPageDataBegin = "id=\"assay-data\">";
constexpr std::string_view kPageDataEnd = "</script>";

// A page in three parts: what is before its data, the data, and the rest. Nothing if it has no data.
std::optional<std::array<std::string_view, 3>> page_parts(std::string_view page) {
  size_t begin = page.find(kPageDataBegin);
  if (begin == std::string_view::npos) return {};
  begin += kPageDataBegin.size();
  const size_t end = page.find(kPageDataEnd, begin);
  if (end == std::string_view::npos) return {};
  return std::array{page.substr(0, begin), page.substr(begin, end - begin), page.substr(end)};
}

// Probabilities on a page are the model's, whose outputs round differently with other vector instructions.
std::string page_difference(const std::string& where, const std::string& recorded, const std::string& again,
                            HeldTo by) {
  constexpr std::string_view kOther = "it is not the page that this program makes of the study's other files";
  const auto a = page_parts(recorded);
  const auto b = page_parts(again);
  if (by == HeldTo::exact || !a || !b || (*a)[0] != (*b)[0] || (*a)[2] != (*b)[2]) return std::string(kOther);
  const std::string found = json_difference(where, (*a)[1], (*b)[1], by);
  return found.empty() ? found : fmt::format("{}: {}", kOther, found);
}

// How two files with different bytes differ; empty if the difference is within the tolerances.
std::string file_difference(const std::string& name, const std::string& recorded, const std::string& again, HeldTo by,
                            EntryParts& parts, const Context& context) {
  if (by != HeldTo::exact) {
    if (kExplanationsFolder.has(name)) return parts.explanations(name);
    if (kPoolFolder.has(name)) return parts.pool(name);
    if (kScoresFolder.has(name)) return parts.scores(name);
  }
  if (name.ends_with(".json")) {
    const std::string found = json_difference(recorded, raw_bytes(recorded), raw_bytes(again), by);
    return !found.empty() || by != HeldTo::exact ? found : "the bytes differ, though they say the same";
  }
  if (name == kReportHtml) return page_difference(recorded, raw_bytes(recorded), raw_bytes(again), by);
  if (name.ends_with(".csv")) return lines_difference(raw_bytes(recorded), raw_bytes(again));
  return fmt::format("recorded sha256 {}, found {}", file_sha256(recorded, context), file_sha256(again, context));
}

bool same_bytes(const std::string& a, const std::string& b, const Context& context) {
  std::error_code error;
  return fs::file_size(a, error) == fs::file_size(b, error) && file_sha256(a, context) == file_sha256(b, context);
}

}  // namespace

std::string json_difference(std::string_view where, std::string_view recorded, std::string_view again, HeldTo by) {
  JsonWalk walk(by);
  walk.compare("", "", parsed_json(where, recorded, kComparedDepth), parsed_json(where, again, kComparedDepth));
  return walk.result();
}

std::string lines_difference(std::string_view recorded, std::string_view again) {
  const auto first = split_at(recorded, '\n');
  const auto second = split_at(again, '\n');
  for (size_t i = 0; i < std::min(first.size(), second.size()); i++) {
    if (first[i] == second[i]) continue;
    return fmt::format("line {} differs: recorded {}, found {}", i + 1, in_quotes(first[i]), in_quotes(second[i]));
  }
  if (first.size() == second.size()) return {};
  return fmt::format("recorded {}, found {}", plural(first.size() - 1, "line"), with_commas(second.size() - 1));
}

std::vector<std::string> maker_problems(const std::string& folder, const Context& context) {
  const StudySettings settings = read_settings(folder, context);
  const StudyFolder said = open_study_folder(folder, context);
  if (settings.version == said.summary.version && settings.vector_target == said.vector_target) return {};
  return {
      fmt::format("settings.json says that version {} with {} made the study, and study.json says version {} with {}",
                  in_quotes(settings.version), in_quotes(settings.vector_target), in_quotes(said.summary.version),
                  in_quotes(said.vector_target))};
}

FolderComparison compare_study_folders(const std::string& recorded, const std::string& again, const Context& context) {
  const StudyFolder first = open_study_folder(recorded, context);
  const StudyFolder second = open_study_folder(again, context);
  FolderComparison made;
  const bool same_version = first.summary.version == second.summary.version;
  made.exact = same_version && first.vector_target == second.vector_target;
  const HeldTo by = made.exact ? HeldTo::exact : same_version ? HeldTo::other_target : HeldTo::other_version;
  if (!made.exact) {
    made.why_not_exact = fmt::format(
        "recorded by version {} with {}, run again by version {} with {}: every part was made again from the recorded "
        "parts that it follows from, and its numbers may differ by rounding{}",
        one_line(first.summary.version), one_line(first.vector_target), one_line(second.summary.version),
        one_line(second.vector_target),
        same_version ? ""
                     : "; report.html, whose words and looks change with versions, was not compared, nor were the "
                       "sentences, standings and p-values of study.json");
  }
  EntryParts parts(recorded, again, context);
  const ComparedFiles found = compared_files(again, by);
  const ComparedFiles expected = compared_files(recorded, by);
  ComparedFiles names = expected;
  for (const auto& [name, problem] : found) {
    if (std::string& known = names[name]; known.empty()) known = problem;
  }
  made.files = names.size();
  for (const std::string& name : files_in(recorded)) {
    if (never_compared(name) || names.contains(name)) continue;
    made.different.push_back(fmt::format("{}: recorded, but no study makes such a file", one_line(name)));
  }
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
    const std::string difference = equal ? std::string() : file_difference(name, a, b, by, parts, context);
    if (equal || (!made.exact && difference.empty())) {
      made.same.push_back(name);
    } else {
      made.different.push_back(fmt::format("{}: {}", shown_name, difference));
    }
  }
  return made;
}

}  // namespace assay
