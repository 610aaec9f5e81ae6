#include "assay/archive/study_folder.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>

#include "assay/archive/io/entry_json.h"
#include "assay/archive/io/json_parts.h"
#include "assay/archive/io/reference_json.h"
#include "assay/core/error.h"
#include "assay/core/table_text.h"
#include "assay/data/io/bytes.h"
#include "assay/data/io/csv.h"
#include "assay/data/io/npz.h"
#include "assay/explain/io/explanations_meta.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

// For comparison: 100,000 rows by 30 criteria are some 60 MB for each entry.
constexpr uint64_t kMostJsonBytes = uint64_t{1} << 30;

// Whether the ids are row numbers: those that the program gave, or whole numbers of an index without a name, as pandas
// counts the rows of every table.
bool has_row_numbers(const NpzFile& file, const std::vector<std::string>& ids) {
  if (!file.contains("meta")) return false;
  const std::string where = fmt::format("{}, array 'meta'", file.name());
  const std::vector<std::string> meta = to_strings(where, file.read("meta"));
  if (meta.size() != 1 || !is_explanations_meta(meta[0])) return false;
  Explanations read;
  read_explanations_meta(where, meta[0], read);
  const auto is_number = [](const std::string& id) {
    return !id.empty() && std::ranges::all_of(id, [](char letter) { return letter >= '0' && letter <= '9'; });
  };
  return read.row_numbers || (read.id_name == kUnnamedIndex && std::ranges::all_of(ids, is_number));
}

void read_facts(const std::string& where, std::string_view text, StudyFolder& study) {
  const JsonRead parsed = parsed_json(where, text, kStudyJsonDepth);
  const JsonFields facts = JsonFields(where, parsed).object("facts");
  study.data = facts.text("data");
  study.vector_target = facts.text("vector_target");
  study.rows_available = facts.count("rows_available");
  study.settings = facts.pairs("settings");
  study.reference = reference_facts_from(facts);
  for (const char* key : {"title", "data", "pool", "model", "unit", "target", "reference", "players"}) {
    study.facts.emplace_back(key, facts.text(key));
  }
  for (const char* key : {"rows", "pool_rows", "seed"}) {
    study.facts.emplace_back(key, fmt::format("{}", facts.count(key)));
  }
  study.facts.emplace_back("accuracy", number_text(facts.number("accuracy")));
  if (facts.has("quality")) {
    const JsonFields quality = facts.object("quality");
    for (const char* key : {"auc", "log_loss", "rmse", "r2"}) {
      if (const double value = quality.number(key); !std::isnan(value))
        study.facts.emplace_back(key, number_text(value));
    }
  }
  for (const char* key : {"version", "vector_target"}) study.facts.emplace_back(key, facts.text(key));
}

}  // namespace

std::string instead_of_file(const std::string& folder, std::string_view inner) {
  const fs::path parts(inner);
  fs::path path(folder);
  size_t left = static_cast<size_t>(std::distance(parts.begin(), parts.end()));
  fs::path met;
  for (const fs::path& part : parts) {
    path /= part;
    met /= part;
    std::error_code ignored;
    const fs::file_status status = fs::symlink_status(path, ignored);
    const bool last = --left == 0;
    if (!fs::exists(status)) return "nothing";
    if (fs::is_symlink(status)) return last ? "a link" : fmt::format("a link at {}", in_quotes(met.string()));
    if (last && fs::is_directory(status)) return "a folder";
    if (last ? !fs::is_regular_file(status) : !fs::is_directory(status)) return "something else";
  }
  return {};
}

std::string file_within(const std::string& folder, std::string_view inner) {
  std::string file = path_within(folder, inner);
  const std::string found = instead_of_file(folder, inner);
  if (!found.empty()) fail_input(file, "a regular file", found);
  return file;
}

std::string text_within(const std::string& folder, std::string_view inner, const Context& context) {
  const auto source = open_bytes(file_within(folder, inner), context);
  return read_all(*source, kMostJsonBytes);
}

StudyFolder open_study_folder(const std::string& path, const Context& context) {
  StudyFolder study;
  study.path = path;
  const std::string file = path_within(path, kStudyJson);
  std::error_code error;
  if (!fs::is_directory(path, error)) fail_input(path, "the folder of a study", error ? error.message() : "no folder");
  if (instead_of_file(path, kStudyJson) == "nothing") {
    fail_input(path, "the folder of a finished study", "no file study.json in it");
  }
  const std::string text = text_within(path, kStudyJson, context);
  study.summary = study_summary_from_json(file, text);
  read_facts(file, text, study);
  return study;
}

StudyEntry read_study_entry(const StudyFolder& study, size_t entry, const Context& context) {
  const EntrySummary& summary = study.summary.entries[entry];
  const std::string inner = kScoresFolder.file(summary.stem);
  const std::string file = path_within(study.path, inner);
  StudyEntry read = entry_from_json(file, text_within(study.path, inner, context));
  if (read.name != summary.name) {
    fail_input(file, fmt::format("the scores of {}, as study.json says", in_quotes(summary.name)),
               fmt::format("those of {}", in_quotes(read.name)));
  }
  if (read.scores.size() != study.summary.criteria.size()) {
    fail_input(file, fmt::format("scores by as many criteria as study.json has, {}", study.summary.criteria.size()),
               fmt::format("{}", read.scores.size()));
  }
  for (size_t c = 0; c < read.scores.size(); c++) {
    const Scores& scores = read.scores[c];
    const std::string where = fmt::format("{}, 'scores' {}", file, c + 1);
    if (scores.criterion != study.summary.criteria[c].name) {
      fail_input(where, fmt::format("{}, as study.json has", in_quotes(study.summary.criteria[c].name)),
                 in_quotes(scores.criterion));
    }
    if (scores.of_rows && scores.values.size() != study.summary.rows) {
      fail_input(where, fmt::format("a value for each of {}", plural(study.summary.rows, "row")),
                 fmt::format("{}", scores.values.size()));
    }
  }
  return read;
}

RowIds read_row_ids(const StudyFolder& study, size_t entry) {
  const std::string inner = kExplanationsFolder.file(study.summary.entries[entry].stem);
  const NpzFile file(file_within(study.path, inner));
  if (!file.contains("ids")) return {};
  RowIds made{.ids = to_strings(file.name(), file.read("ids"))};
  made.numbers = has_row_numbers(file, made.ids);
  return made;
}

}  // namespace assay
