// assay list datasets
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/terminal.h"

namespace assay::cli {
namespace {

void list_all_datasets(const Session& session) {
  const DatasetRequest request{.data_dirs = session.data_dirs};
  auto listed = nlohmann::json::array();
  std::vector<std::vector<std::string>> rows = {{"name", "rows", "features", "here", "what"}};
  for (const auto& info : list_datasets()) {
    const bool available = dataset_available(info.name, request);
    rows.push_back(
        {info.name, with_commas(info.rows), with_commas(info.features), available ? "yes" : "no", info.title});
    auto files = nlohmann::json::array();
    for (const auto& file : info.files) {
      const auto& hashed = file.hashed.empty() ? file.name : file.hashed;
      files.push_back({{"name", file.name}, {"sha256", file.sha256}, {"hashed", hashed}});
    }
    listed.push_back({{"name", info.name},
                      {"title", info.title},
                      {"rows", info.rows},
                      {"features", info.features},
                      {"label", info.label},
                      {"address", info.address},
                      {"citation", info.citation},
                      {"options", info.options},
                      {"files", files},
                      {"available", available}});
  }
  if (session.json) {
    fmt::print("{}\n", nlohmann::json{{"datasets", listed}}.dump(2));
  } else {
    fmt::print("{}", aligned(rows, {0, 3, 4}));
  }
}

}  // namespace

void add_list(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("list", "Show what there is: assay list datasets");
  command->require_subcommand(1);
  command->fallthrough();
  command->add_subcommand("datasets", "Data sets by name, and whether their files are found here")
      ->callback([&session] { session.run = [&session] { list_all_datasets(session); }; });
}

}  // namespace assay::cli
