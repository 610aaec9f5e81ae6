#include "assay/archive/study_settings.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "assay/archive/io/json_parts.h"
#include "assay/core/error.h"
#include "assay/core/text.h"

namespace assay {
namespace {

constexpr std::string_view kSettingsSchema = "assay.settings/1";

}  // namespace

std::string settings_json(const StudySettings& settings) {
  const Json made = {{"schema", kSettingsSchema},
                     {"program", settings.program},
                     {"version", settings.version},
                     {"vector_target", settings.vector_target},
                     {"seed", settings.seed},
                     {"arguments", settings.arguments},
                     {"choices", settings.choices.made},
                     {"inputs", inputs_json(settings.inputs)}};
  return dumped_lines(made);
}

StudySettings settings_from_json(const std::string& where, const std::string& text) {
  const nlohmann::json json = parsed_json(where, text, 8);
  const JsonFields fields(where, json);
  fields.require_schema(kSettingsSchema);
  StudySettings settings;
  if (fields.has("program")) settings.program = fields.text("program");
  settings.version = fields.text("version");
  settings.vector_target = fields.text("vector_target");
  settings.seed = fields.count("seed");
  settings.arguments = fields.texts("arguments");
  if (fields.has("choices")) {
    for (auto& [name, value] : fields.pairs("choices")) {
      if (settings.choices.find(name) != nullptr) {
        fail_input(where, "each of 'choices' once", fmt::format("{} twice", in_quotes(name)));
      }
      settings.choices.set(name, std::move(value));
    }
  }
  settings.inputs = fields.inputs("inputs");
  return settings;
}

void require_program(const std::string& where, const StudySettings& found, std::string_view program) {
  if (found.program == program) return;
  const std::string maker = found.program == kStudyFunction  ? "assay.study of the Python package"
                            : found.program == kStudyCommand ? "the command `assay study`"
                                                             : in_quotes(found.program);
  fail_input(
      fmt::format("{}: it was made by {}, which goes on with it or runs it again; `assay verify --files-only` checks "
                  "its files",
                  where, maker));
}

}  // namespace assay
