#include "assay/archive/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "assay/archive/io/json_parts.h"
#include "assay/archive/study_folder.h"
#include "assay/archive/study_names.h"
#include "assay/core/error.h"
#include "assay/core/sha256.h"
#include "assay/core/table_text.h"
#include "assay/data/io/bytes.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kManifestSchema = "assay.manifest/1";
constexpr uint64_t kMostManifestBytes = uint64_t{64} << 20;
constexpr size_t kManifestDepth = 6;  // those that we write are 3 deep

// Whether the name stays inside the folder on any system: no part between slashes is empty, "." or "..".
bool stays_inside(std::string_view name) {
  if (name.empty() || name.find_first_of(std::string_view("\\:\0", 3)) != std::string_view::npos) return false;
  for (;;) {
    const size_t slash = name.find('/');
    const std::string_view part = name.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return false;
    if (slash == std::string_view::npos) return true;
    name.remove_prefix(slash + 1);
  }
}

// Throws an io error if the folder cannot be read.
std::vector<std::string> extra_files(const std::string& folder, const Manifest& manifest, const Context& context) {
  std::vector<std::string> extra;
  const size_t prefix = (fs::path(folder) / "").string().size();
  std::error_code error;
  fs::recursive_directory_iterator next(folder, error);
  for (; !error && next != fs::recursive_directory_iterator(); next.increment(error)) {
    context.check_cancelled();
    std::error_code ignored;
    // A link to a folder is not followed: the link itself counts as a file.
    if (next->is_directory(ignored) && !next->is_symlink(ignored)) continue;
    const std::string name = next->path().string().substr(prefix);
    const auto known =
        std::ranges::lower_bound(manifest.outputs, name, {}, &std::pair<std::string, std::string>::first);
    if (name != kManifestJson && (known == manifest.outputs.end() || known->first != name)) extra.push_back(name);
  }
  if (error) fail_io(folder, "look through it", error.value());
  return extra;
}

// What is wrong with the file; empty if nothing is.
std::string output_problem(const std::string& folder, const std::string& name, const std::string& hash,
                           const Context& context) {
  const std::string instead = instead_of_file(folder, name);
  if (instead == "nothing") return fmt::format("{} is missing", in_quotes(name));
  if (!instead.empty()) return fmt::format("{}: expected a regular file, found {}", one_line(name), instead);
  const std::string found = file_sha256(path_within(folder, name), context);
  if (found == hash) return {};
  return fmt::format("{} has changed: expected sha256 {}, found {}", in_quotes(name), hash, found);
}

}  // namespace

std::string manifest_json(const std::vector<StudyInput>& inputs,
                          std::vector<std::pair<std::string, std::string>> outputs) {
  std::ranges::sort(outputs);
  Json files = Json::array();
  for (const auto& [name, hash] : outputs) files.push_back({{"name", name}, {"sha256", hash}});
  return dumped_lines({{"schema", kManifestSchema}, {"inputs", inputs_json(inputs)}, {"outputs", files}});
}

Manifest manifest_from_json(std::string_view where, std::string_view text) {
  const JsonRead parsed = parsed_json(where, text, kManifestDepth);
  const JsonFields document(std::string(where), parsed);
  document.require_schema(kManifestSchema);
  Manifest manifest;
  manifest.inputs = document.inputs("inputs");
  for (const JsonFields& fields : document.objects("outputs")) {
    std::string name = fields.text("name");
    if (!stays_inside(name)) fields.fail("the name of a file inside of the folder", in_quotes(name));
    manifest.outputs.emplace_back(std::move(name), fields.sha256("sha256"));
  }
  std::ranges::sort(manifest.outputs);
  const auto twice = std::ranges::adjacent_find(manifest.outputs, {}, &std::pair<std::string, std::string>::first);
  if (twice != manifest.outputs.end()) {
    document.fail("each of the 'outputs' once", fmt::format("{} twice", in_quotes(twice->first)));
  }
  return manifest;
}

Manifest read_manifest(const std::string& folder, const Context& context) {
  const std::string name(kManifestJson);
  if (const std::string found = instead_of_file(folder, name); !found.empty()) {
    fail_input(folder, fmt::format("the folder of a finished study, with a file {}", name), found);
  }
  const std::string path = path_within(folder, name);
  const auto source = open_bytes(path, context);
  return manifest_from_json(path, read_all(*source, kMostManifestBytes));
}

std::vector<std::string> manifest_problems(const std::string& folder, const Manifest& manifest,
                                           const Context& context) {
  // All kinds of problems together, sorted by name.
  std::map<std::string, std::string> problems;
  for (const auto& [name, hash] : manifest.outputs) {
    context.check_cancelled();
    std::string problem = output_problem(folder, name, hash, context);
    if (!problem.empty()) problems.emplace(name, std::move(problem));
  }
  for (const std::string& name : extra_files(folder, manifest, context)) {
    problems.emplace(name, fmt::format("{} is extra: the manifest does not list it", in_quotes(name)));
  }
  std::vector<std::string> sentences;
  for (auto& [name, problem] : problems) sentences.push_back(std::move(problem));
  return sentences;
}

}  // namespace assay
