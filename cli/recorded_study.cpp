#include "cli/recorded_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "assay/archive/folder_claim.h"
#include "assay/archive/read_study.h"
#include "assay/archive/study_folder.h"
#include "assay/archive/study_names.h"
#include "assay/core/error.h"
#include "assay/core/text.h"

namespace assay::cli {
namespace {

// What was recorded of the inputs must hold of those that are there.
void require_unchanged(const std::vector<StudyInput>& recorded, const std::vector<StudyInput>& found,
                       const Session& session) {
  for (const StudyInput& input : found) {
    const auto before = std::ranges::find_if(
        recorded, [&](const StudyInput& each) { return each.role == input.role && each.name == input.name; });
    if (before == recorded.end() || before->sha256.empty() || before->sha256 == input.sha256) continue;
    fail_input(fmt::format("the {}, {}, has changed since the study was made: expected sha256 {}, found {}",
                           one_line(input.role), in_quotes(session.now_at(input.name)), before->sha256, input.sha256));
  }
}

}  // namespace

void require_outside(std::string_view option, const std::string& file, const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path inside =
      fs::weakly_canonical(fs::path(file), ignored).lexically_relative(fs::weakly_canonical(folder, ignored));
  if (inside.empty() || *inside.begin() == "..") return;
  fail_input(option, fmt::format("a file outside of the study's folder {}", in_quotes(folder)), in_quotes(file));
}

RecordedSettings read_recorded_settings(const std::string& folder, const StudyOverrides& where,
                                        const Session& session) {
  RecordedSettings made{.settings = read_settings(folder, session.context), .arguments = {}, .session = session};
  const std::string path = fmt::format("{}/settings.json", folder);
  require_program(path, made.settings, kStudyCommand);
  made.arguments = parse_study_words(path, made.settings.arguments);
  made.session.quiet = true;
  made.session.context.seed = made.settings.seed;
  fill_in(made.arguments);
  const auto move = [&](std::string_view option, const std::string& from, const std::string& to) {
    if (to.empty()) return;
    if (from.empty())
      fail_input(option, fmt::format("none: the study in {} has no such file", in_quotes(folder)), in_quotes(to));
    const std::string before = made.session.now_at(from);
    if (before != from && before != to) {
      fail_input(option, fmt::format("{}, for the study has one file for both", in_quotes(before)), in_quotes(to));
    }
    made.session.moved.emplace_back(from, to);
  };
  move("--model", made.arguments.rows.model, where.model);
  move("--data", made.arguments.rows.table.what, where.data);
  move("--pool", made.arguments.rows.pool, where.pool);
  return made;
}

std::unique_ptr<OpenedStudy> open_recorded_subject(const std::string& folder, const RecordedSettings& recorded,
                                                   const std::optional<ReferenceWords>& other_reference) {
  StudyArguments arguments = with_choices(recorded.arguments, recorded.settings.choices);
  arguments.out = folder;
  if (other_reference) {
    arguments.pool_sample = "all";
    arguments.no_variations = true;
    arguments.rows.reference = *other_reference;
  }
  if (arguments.rows.model.empty()) {
    // Opening would train a model and write it to the folder.
    if (const std::string found = instead_of_file(folder, kModelOnnx); !found.empty()) {
      fail_input(path_within(folder, kModelOnnx), "the model that the study trained", found);
    }
  }
  check_inputs(arguments, recorded.session);
  // Files before any work; then also what is no file.
  require_unchanged(recorded.settings.inputs, file_inputs(arguments, recorded.session), recorded.session);
  auto opened = open_study(std::move(arguments), folder, recorded.session);
  require_unchanged(recorded.settings.inputs, opened->facts.inputs, recorded.session);
  return opened;
}

RecordedStudy open_recorded_study(const std::string& folder, const StudyOverrides& where, const Session& session) {
  RecordedStudy made;
  made.finished = read_study(folder, session.context);
  made.recorded = read_recorded_settings(folder, where, session);
  made.opened = open_recorded_subject(folder, made.recorded);
  return made;
}

}  // namespace assay::cli
