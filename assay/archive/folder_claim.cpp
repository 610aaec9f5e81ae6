#include "assay/archive/folder_claim.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "assay/archive/io/entry_json.h"
#include "assay/archive/manifest.h"
#include "assay/archive/study_files.h"
#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/data/io/bytes.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostSettingsBytes = 1 << 20;
// How a program spells these options, for messages.
struct Words {
  std::string_view out;
  std::string_view resume;
  std::string_view overwrite;
  std::string_view seed;  // without the value
};

Words words_of(const StudySettings& settings) {
  if (settings.program == kStudyFunction) return {"out", "resume=True", "overwrite=True", "seed="};
  return {"--out", "--resume", "--overwrite", "--seed "};
}

bool is_empty_folder(const std::string& path) {
  std::error_code problem;
  const bool empty = fs::is_directory(path, problem) && fs::is_empty(path, problem);
  return empty && !problem;
}

// Whether a killed run left this file unfinished: "study.json.tmp-123-4" (AtomicFile). Sets `of` to "study.json".
bool is_leftover(const std::string& name, std::string& of) {
  const size_t at = name.rfind(".tmp-");
  if (at == std::string::npos) return false;
  of = name.substr(0, at);
  const std::string tail = name.substr(at + 5);
  const size_t dash = tail.find('-');
  const auto digits = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  return dash != std::string::npos && digits(std::string_view(tail).substr(0, dash)) &&
         digits(std::string_view(tail).substr(dash + 1));
}

// Links could lead to files outside of the folder, which must not be written or removed.
void refuse_link(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_symlink(path, ignored)) return;
  fail_input(path.string(), "a file or folder of the study's own", "a link");
}

// Calls `own` for each file that is named like one of a study, with its name as manifest.json has it, and `leftover`
// for each that was being written when the study was killed. Looks only into the folder itself and the study's three
// inner folders. Links are an input error.
void each_own_file(const std::string& folder, const std::function<void(const fs::path&, const std::string&)>& own,
                   const std::function<void(const fs::path&)>& leftover) {
  std::error_code ignored;
  std::string of;
  for (const PartFolder& part : kPartFolders) {
    const std::string part_folder = path_within(folder, part.name);
    refuse_link(part_folder);
    for (const auto& item : fs::directory_iterator(part_folder, ignored)) {
      const fs::path file = item.path().filename();
      const bool left = is_leftover(file.string(), of);
      const fs::path name = left ? fs::path(of) : file;
      if (name.extension() != part.extension || !valid_stem(name.stem().string())) continue;
      refuse_link(item.path());
      if (left) {
        leftover(item.path());
      } else {
        own(item.path(), fmt::format("{}/{}", part.name, file.string()));
      }
    }
  }
  for (const auto& item : fs::directory_iterator(folder, ignored)) {
    const std::string file = item.path().filename().string();
    const bool left = is_leftover(file, of);
    if (std::ranges::find(kStudyFiles, left ? of : file) == kStudyFiles.end()) continue;
    refuse_link(item.path());
    if (left) {
      leftover(item.path());
    } else {
      own(item.path(), file);
    }
  }
}

void remove_file(const fs::path& path) {
  std::error_code problem;
  fs::remove(path, problem);
  if (problem) fail_io(path.string(), "remove it", problem.value());
}

// The names of the files that a finished study made, such as "scores/lime.json". Nothing if it has no manifest: then
// all files that are named like its own may be.
std::optional<std::set<std::string>> made_files(const std::string& folder, const Context& context) {
  if (!is_there(path_within(folder, kManifestJson))) return {};
  std::set<std::string> names(kStudyFiles.begin(), kStudyFiles.end());
  try {
    for (const auto& [name, hash] : read_manifest(folder, context).outputs) names.insert(name);
  } catch (const Error&) {
    return {};
  }
  return names;
}

// Removes settings.json last: without it the folder does not count as a study. Other people's files stay.
void remove_study(const std::string& folder, const Context& context) {
  const std::optional<std::set<std::string>> made = made_files(folder, context);
  const auto remove = [&](const fs::path& path, const std::string& name) {
    if ((!made || made->contains(name)) && name != kSettingsJson) remove_file(path);
  };
  each_own_file(folder, remove, remove_file);
  remove_file(path_within(folder, kSettingsJson));
}

void remove_leftovers(const std::string& folder) {
  each_own_file(folder, [](const fs::path&, const std::string&) {}, remove_file);
}

// The settings that only the first has, in words.
std::string difference(const StudySettings& first, const StudySettings& second) {
  std::vector<std::string> words;
  if (first.seed != second.seed) words.push_back(fmt::format("{}{}", words_of(first).seed, first.seed));
  for (const std::string& word : first.arguments) {
    if (std::ranges::find(second.arguments, word) == second.arguments.end()) words.push_back(in_quotes(word));
  }
  return words.empty() ? "nothing more" : fmt::format("{}", fmt::join(words, " "));
}

void check_same_study(const std::string& folder, const StudySettings& settings, const Context& context) {
  const std::string path = path_within(folder, kSettingsJson);
  const StudySettings found = read_settings(folder, context);
  require_program(path, found, settings.program);
  if (found.arguments != settings.arguments || found.seed != settings.seed) {
    // The Python package cannot: a model in memory is not in the settings.
    const bool remembers = settings.program == kStudyCommand;
    fail_input(path, fmt::format("the settings of this study ({})", difference(settings, found)),
               fmt::format("others ({}){}", difference(found, settings),
                           remembers ? fmt::format("; --resume --out {} alone goes on with that one", folder) : ""));
  }
  if (found.version == settings.version && found.vector_target == settings.vector_target) return;
  fail_input(path,
             fmt::format("a study by version {} with {}, whose parts fit together with ours", settings.version,
                         settings.vector_target),
             fmt::format("{} with {}; {} starts afresh", in_quotes(found.version), in_quotes(found.vector_target),
                         words_of(settings).overwrite));
}

// Returns whether there was any that the settings did not have. Throws an input error if one of them has changed.
bool add_inputs(StudySettings& settings, const std::string& folder, const std::vector<StudyInput>& inputs) {
  bool added = false;
  for (const StudyInput& input : inputs) {
    const auto before = std::ranges::find(settings.inputs, input.role, &StudyInput::role);
    if (before == settings.inputs.end()) {
      settings.inputs.push_back(input);
      added = true;
    } else if (before->sha256 != input.sha256) {
      fail_input(fmt::format("{}: it changed since the study in {} began (sha256 {}, then {}); {} starts afresh",
                             input.name, in_quotes(folder), input.sha256, before->sha256,
                             words_of(settings).overwrite));
    }
  }
  return added;
}

}  // namespace

StudySettings read_settings(const std::string& folder, const Context& context) {
  const std::string path = path_within(folder, kSettingsJson);
  if (!is_there(path)) fail_input(folder, "the folder of a study, which has a file settings.json", "none");
  const auto source = open_bytes(path, context);
  return settings_from_json(path, read_all(*source, kMostSettingsBytes));
}

bool claim_folder(const std::string& folder, const StudySettings& settings, bool resume, bool overwrite,
                  const Context& context) {
  const std::string path = path_within(folder, kSettingsJson);
  const Words words = words_of(settings);
  if (is_there(folder)) remove_leftovers(folder);
  if (is_there(path)) {
    if (!resume && !overwrite) {
      fail_input(words.out, "a folder without a study",
                 fmt::format("one in {}: {} goes on with it, {} replaces it", in_quotes(folder), words.resume,
                             words.overwrite));
    }
    if (resume) {
      check_same_study(folder, settings, context);
      return false;
    }
    read_settings(folder, context);  // throws if it is not the settings of a study
    return true;
  }
  if (is_there(folder) && !is_empty_folder(folder)) {
    // Replacing a study may have left its folders empty.
    std::error_code ignored;
    for (const auto& item : fs::directory_iterator(folder, ignored)) {
      const std::string name = item.path().filename().string();
      const bool own = std::ranges::find(kPartFolders, name, &PartFolder::name) != kPartFolders.end() &&
                       is_empty_folder(item.path().string());
      if (own) continue;
      const bool study = std::ranges::find(kStudyFiles, name) != kStudyFiles.end() || name == kScoresFolder.name;
      // Without settings.json nothing is removed: the files may not be a study's.
      fail_input(words.out, "a new or empty folder",
                 fmt::format("{} with {} in it{}", in_quotes(folder), in_quotes(name),
                             study ? ", which is no study's without settings.json" : ""));
    }
  }
  write_whole(path, settings_json(settings), context);
  return false;
}

void replace_study(const std::string& folder, const StudySettings& settings, const Context& context) {
  remove_study(folder, context);
  write_whole(path_within(folder, kSettingsJson), settings_json(settings), context);
}

void make_folder(const std::string& folder) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem) fail_io(folder, "create the folder", problem.value());
}

void abandon_folder(const std::string& folder) {
  std::error_code problem;
  const bool finished_parts =
      !is_empty_folder(path_within(folder, kScoresFolder.name)) && is_there(path_within(folder, kScoresFolder.name));
  if (finished_parts || !is_there(path_within(folder, kSettingsJson))) return;
  remove_study(folder, {});
  // Only empty folders go.
  for (const PartFolder& part : kPartFolders) fs::remove(path_within(folder, part.name), problem);
  fs::remove(folder, problem);
}

FolderLock::FolderLock(const std::string& folder) {
  folder_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder_ < 0) fail_io(folder, "open the folder", errno);
  if (::flock(folder_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  ::close(folder_);
  fail_input(folder, "a folder for this study alone", "another study that is running in it");
}

FolderLock::~FolderLock() { ::close(folder_); }

ClaimedFolder::ClaimedFolder(std::string path, StudySettings settings, bool resume, bool overwrite,
                             const Context& context)
    : path_(std::move(path)), settings_(std::move(settings)) {
  make_folder(path_);
  lock_.emplace(path_);
  holds_older_ = claim_folder(path_, settings_, resume, overwrite, context);
}

StudyChoices ClaimedFolder::choices(const Context& context) const {
  return holds_older_ ? settings_.choices : read_settings(path_, context).choices;
}

void ClaimedFolder::record_inputs(const std::vector<StudyInput>& inputs, const Context& context) {
  if (holds_older_) {
    add_inputs(settings_, path_, inputs);
  } else {
    assay::record_inputs(path_, inputs, context);
  }
}

void ClaimedFolder::begin(const StudyChoices& choices, const Context& context) {
  if (!holds_older_) {
    record_choices(path_, choices, context);
    return;
  }
  settings_.choices = choices;
  replace_study(path_, settings_, context);
  holds_older_ = false;
}

void record_inputs(const std::string& folder, const std::vector<StudyInput>& inputs, const Context& context) {
  StudySettings settings = read_settings(folder, context);
  if (add_inputs(settings, folder, inputs)) {
    write_whole(path_within(folder, kSettingsJson), settings_json(settings), context);
  }
}
void record_choices(const std::string& folder, const StudyChoices& choices, const Context& context) {
  StudySettings settings = read_settings(folder, context);
  if (settings.choices == choices) return;
  settings.choices = choices;
  write_whole(path_within(folder, kSettingsJson), settings_json(settings), context);
}

}  // namespace assay
