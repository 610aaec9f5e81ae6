// assay list datasets | methods | criteria | aggregators
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "assay/aggregate/aggregators.h"
#include "assay/core/text.h"
#include "assay/evaluate/criteria.h"
#include "assay/explain/methods.h"
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

nlohmann::json option_infos_json(const std::vector<OptionInfo>& options) {
  auto listed = nlohmann::json::array();
  for (const OptionInfo& option : options) {
    listed.push_back({{"name", option.name},
                      {"default", option.value},
                      {"range", option.range},
                      {"unit", option.unit},
                      {"meaning", option.meaning}});
  }
  return listed;
}

void print_options(const std::vector<OptionInfo>& options) {
  if (options.empty()) return;
  std::vector<std::vector<std::string>> rows = {{"option", "default", "range", "meaning"}};
  for (const OptionInfo& option : options) {
    const std::string unit = option.unit.empty() ? "" : fmt::format(" ({})", option.unit);
    rows.push_back({option.name, option.value, option.range, fmt::format("{}{}", option.meaning, unit)});
  }
  fmt::print("\n{}", aligned(rows, {0, 1, 2, 3}));
}

nlohmann::json method_json(const MethodInfo& info) {
  return {{"name", info.name},         {"title", info.title},
          {"cost", info.cost},         {"citation", info.citation},
          {"complete", info.complete}, {"uses_reference", info.uses_reference},
          {"sampled", info.sampled},   {"options", option_infos_json(info.options)}};
}

void print_method(const MethodInfo& info) {
  fmt::print("{}: {}\n", info.name, info.title);
  fmt::print("cost      {}\n", info.cost);
  fmt::print("citation  {}\n", info.citation);
  fmt::print("values    {}{}{}\n", info.complete ? "sum to output - base" : "do not sum to output - base",
             info.uses_reference ? ", against a reference" : ", without a reference",
             info.sampled ? ", with standard errors" : "");
  print_options(info.options);
}

void list_methods(const Session& session, const std::string& name) {
  const auto wanted = name.empty() ? methods() : std::span<const MethodInfo>(&find_method(name), 1);
  if (session.json) {
    auto listed = nlohmann::json::array();
    for (const MethodInfo& info : wanted) listed.push_back(method_json(info));
    fmt::print("{}\n", nlohmann::json{{"methods", listed}}.dump(2));
  } else if (!name.empty()) {
    print_method(wanted[0]);
  } else {
    std::vector<std::vector<std::string>> rows = {{"name", "what", "evaluations for a row"}};
    for (const MethodInfo& info : wanted) rows.push_back({info.name, info.title, info.cost});
    fmt::print("{}", aligned(rows, {0, 1, 2}));
    if (!session.quiet) fmt::print("`assay list methods NAME` shows a method's options\n");
  }
}

nlohmann::json criterion_json(const CriterionInfo& info) {
  return {{"name", info.name},       {"title", info.title},
          {"family", info.family},   {"citation", info.citation},
          {"cost", info.cost},       {"direction", direction_name(info.direction)},
          {"range", info.range},     {"needs", needs_in_words(info.needs)},
          {"sampled", info.sampled}, {"options", option_infos_json(info.options)}};
}

void print_criterion(const CriterionInfo& info) {
  const std::vector<std::string> needs = needs_in_words(info.needs);
  const bool judges = info.direction != Direction::neither;
  fmt::print("{}: {}\n", info.name, info.title);
  fmt::print("family    {}\n", info.family);
  fmt::print("better    {}\n", judges ? direction_name(info.direction) : "neither: it describes");
  fmt::print("range     {}\n", info.range);
  fmt::print("needs     {}\n", needs.empty() ? "the explanations alone" : joined(needs));
  fmt::print("cost      {}\n", info.cost);
  fmt::print("citation  {}\n", info.citation);
  fmt::print("scores    {}\n", info.sampled ? "with standard errors where sampled" : "without standard errors");
  print_options(info.options);
}

void list_criteria(const Session& session, const std::string& name) {
  const auto wanted = name.empty() ? criteria() : std::span<const CriterionInfo>(&find_criterion(name), 1);
  if (session.json) {
    auto listed = nlohmann::json::array();
    for (const CriterionInfo& info : wanted) listed.push_back(criterion_json(info));
    fmt::print("{}\n", nlohmann::json{{"criteria", listed}}.dump(2));
  } else if (!name.empty()) {
    print_criterion(wanted[0]);
  } else {
    std::vector<std::vector<std::string>> rows = {{"name", "family", "better", "what"}};
    for (const CriterionInfo& info : wanted) {
      const bool judges = info.direction != Direction::neither;
      rows.push_back({info.name, info.family, judges ? std::string(direction_name(info.direction)) : "-", info.title});
    }
    fmt::print("{}", aligned(rows, {0, 1, 2, 3}));
    if (!session.quiet) fmt::print("`assay list criteria NAME` shows what a criterion needs, and its options\n");
  }
}

nlohmann::json aggregator_json(const AggregatorInfo& info) {
  return {{"name", info.name},
          {"title", info.title},
          {"family", info.family},
          {"citation", info.citation},
          {"guarantee", info.guarantee},
          {"cost", info.cost},
          {"members", info.needs.members},
          {"needs", needs_in_words(info.needs)},
          {"learns_weights", info.learns_weights},
          {"options", option_infos_json(info.options)}};
}

void print_aggregator(const AggregatorInfo& info) {
  std::vector<std::string> needs = needs_in_words(info.needs);
  if (info.needs.members > 0) {
    const std::string members =
        fmt::format("{} member{} or more", info.needs.members, info.needs.members > 1 ? "s" : "");
    needs.insert(needs.begin(), members);
  }
  fmt::print("{}: {}\n", info.name, info.title);
  fmt::print("family     {}\n", info.family);
  fmt::print("needs      {}\n", joined(needs));
  fmt::print("guarantee  {}\n", info.guarantee.empty() ? "none" : info.guarantee);
  fmt::print("cost       {}\n", info.cost);
  fmt::print("citation   {}\n", info.citation);
  if (info.learns_weights) fmt::print("weights    one list for all rows, learnt from them\n");
  print_options(info.options);
}

void list_aggregators(const Session& session, const std::string& name) {
  const auto wanted = name.empty() ? aggregators() : std::span<const AggregatorInfo>(&find_aggregator(name), 1);
  if (session.json) {
    auto listed = nlohmann::json::array();
    for (const AggregatorInfo& info : wanted) listed.push_back(aggregator_json(info));
    fmt::print("{}\n", nlohmann::json{{"aggregators", listed}}.dump(2));
  } else if (!name.empty()) {
    print_aggregator(wanted[0]);
  } else {
    std::vector<std::vector<std::string>> rows = {{"name", "family", "what"}};
    for (const AggregatorInfo& info : wanted) rows.push_back({info.name, info.family, info.title});
    fmt::print("{}", aligned(rows, {0, 1, 2}));
    if (!session.quiet)
      fmt::print("`assay list aggregators NAME` shows what one needs and guarantees, and its options\n");
  }
}

}  // namespace

void add_list(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("list", "Show what there is: assay list datasets, methods, criteria or aggregators");
  command->require_subcommand(1);
  command->fallthrough();
  auto name = std::make_shared<std::string>();
  CLI::App* of_methods = command->add_subcommand("methods", "Explanation functions by name, and their options");
  of_methods->fallthrough();
  of_methods->add_option("name", *name, "Show the options of this one");
  of_methods->callback([&session, name] { session.run = [&session, name] { list_methods(session, *name); }; });
  CLI::App* of_criteria = command->add_subcommand("criteria", "Criteria of explanations by name, and their options");
  of_criteria->fallthrough();
  of_criteria->add_option("name", *name, "Show the options of this one");
  of_criteria->callback([&session, name] { session.run = [&session, name] { list_criteria(session, *name); }; });
  CLI::App* of_aggregators = command->add_subcommand("aggregators", "Aggregators by name, and their options");
  of_aggregators->fallthrough();
  of_aggregators->add_option("name", *name, "Show the options of this one");
  of_aggregators->callback([&session, name] { session.run = [&session, name] { list_aggregators(session, *name); }; });
  command->add_subcommand("datasets", "Data sets by name, and whether their files are found here")
      ->callback([&session] { session.run = [&session] { list_all_datasets(session); }; });
}

}  // namespace assay::cli
