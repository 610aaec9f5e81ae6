// The names of all files in a study's folder. docs/study-format.md says what the files hold.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>

namespace assay {

inline constexpr std::string_view kStudyJson = "study.json";
inline constexpr std::string_view kRunJson = "run.json";
inline constexpr std::string_view kSettingsJson = "settings.json";
inline constexpr std::string_view kScoresCsv = "scores.csv";
inline constexpr std::string_view kModelOnnx = "model.onnx";
inline constexpr std::string_view kManifestJson = "manifest.json";
inline constexpr std::string_view kReportHtml = "report.html";
inline constexpr std::array kStudyFiles = {kStudyJson, kRunJson,      kSettingsJson, kScoresCsv,
                                           kModelOnnx, kManifestJson, kReportHtml};

// An inner folder with a file for each entry: "scores/lime.json".
struct PartFolder {
  std::string_view name;
  std::string_view extension;

  std::string file(std::string_view stem) const { return std::string(name).append("/").append(stem).append(extension); }
  // Whether a file with this path within the study's folder is in this inner folder.
  bool has(std::string_view path) const { return path.starts_with(name) && path.substr(name.size()).starts_with('/'); }
};
inline constexpr PartFolder kScoresFolder{"scores", ".json"};
inline constexpr PartFolder kExplanationsFolder{"explanations", ".npz"};
inline constexpr PartFolder kPoolFolder{"pool", ".npz"};
inline constexpr std::array kPartFolders = {kScoresFolder, kExplanationsFolder, kPoolFolder};

// "folder/inner". `folder` may end in a slash.
inline std::string path_within(const std::string& folder, std::string_view inner) {
  return (std::filesystem::path(folder) / inner).string();
}

}  // namespace assay
