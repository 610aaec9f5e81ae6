// assay neighbours NAME|FILE --rows 1,5,10-20 --k 5
#include "assay/data/neighbours.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/data/encoder.h"
#include "assay/data/row_ranges.h"
#include "cli/commands.h"
#include "cli/terminal.h"

namespace assay::cli {
namespace {

const std::map<std::string, Norm> kNorms = {{"linf", Norm::linf}, {"l1", Norm::l1}, {"l2", Norm::l2}};
const std::map<std::string, Space> kSpaces = {{"scaled", Space::scaled}, {"raw", Space::raw}};

struct NeighbourArguments {
  TableArguments table;
  std::string rows;
  size_t k = 5;
  std::optional<double> radius;
  std::string norm = "linf";
  std::string space = "scaled";
};

std::string row_name(const Dataset& data, size_t row) {
  return data.ids.empty() ? fmt::format("{}", row + 1) : one_line(data.ids[row]);
}

std::string class_of(const Dataset& data, size_t row) {
  if (data.labels.empty()) return "";
  const float label = data.labels[row];
  if (std::isnan(label)) return "-";
  return data.class_names.empty() ? short_number(label) : one_line(data.class_names[static_cast<size_t>(label)]);
}

// None given means all.
std::vector<size_t> wanted_rows(const NeighbourArguments& arguments, const Dataset& data) {
  if (!arguments.rows.empty()) return rows_from_ranges("--rows", arguments.rows, data.rows());
  std::vector<size_t> rows(data.rows());
  std::iota(rows.begin(), rows.end(), size_t{0});
  return rows;
}

// What is wrong with the words themselves, for the parser; empty where nothing is.
std::string wrong_rows(const std::string& text) {
  const auto wrong = no_row_range(text);
  return wrong ? fmt::format("expected rows, as in 1,5,10-20, found {}", in_quotes(*wrong)) : "";
}

void find_neighbours(const NeighbourArguments& arguments, const Session& session) {
  const Table table = arguments.table.open(session);
  const Dataset data = Encoder::fit(table, {}).apply(table);
  const auto rows = wanted_rows(arguments, data);
  const Dataset queries = select_rows(data, rows);
  const NeighbourIndex index(data, kNorms.at(arguments.norm), kSpaces.at(arguments.space));
  const auto found = arguments.radius ? index.within(queries.x.view(), *arguments.radius, session.context, rows)
                                      : index.nearest(queries.x.view(), arguments.k, session.context, rows);
  if (session.json) {
    auto listed = nlohmann::json::array();
    for (size_t q = 0; q < rows.size(); ++q) {
      auto near = nlohmann::json::array();
      for (const auto& n : found.of(q)) near.push_back({{"row", n.row + 1}, {"distance", n.distance}});
      listed.push_back({{"row", rows[q] + 1}, {"neighbours", near}});
    }
    const nlohmann::json out = {{"norm", arguments.norm}, {"space", arguments.space}, {"rows", listed}};
    fmt::print("{}\n", out.dump(2));
    return;
  }
  const bool labelled = !data.labels.empty();
  std::vector<std::vector<std::string>> lines = {{"row", "neighbour", "distance"}};
  if (labelled) lines[0] = {"row", data.label_name, "neighbour", "distance", data.label_name};
  for (size_t q = 0; q < rows.size(); ++q) {
    for (const auto& n : found.of(q)) {
      std::vector<std::string> line = {row_name(data, rows[q]), row_name(data, n.row), short_number(n.distance)};
      if (labelled) {
        line.insert(line.begin() + 1, class_of(data, rows[q]));
        line.push_back(class_of(data, n.row));
      }
      lines.push_back(std::move(line));
    }
  }
  fmt::print("{}", aligned(lines, labelled ? std::vector<size_t>{1, 4} : std::vector<size_t>{}));
}

}  // namespace

void add_neighbours(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<NeighbourArguments>();
  CLI::App* command = app.add_subcommand("neighbours", "The rows of a table nearest to given rows of it");
  arguments->table.add_to(*command);
  command->add_option("--rows", arguments->rows, "Which rows, counted from 1, as in 1,5,10-20 (default: all)")
      ->check(wrong_rows, "");
  auto* k = command->add_option("--k", arguments->k, "How many neighbours")->check(positive_whole_number, "");
  command->add_option("--radius", arguments->radius, "All rows within this distance instead")
      ->check(distance_or_radius, "")
      ->excludes(k);
  command->add_option("--norm", arguments->norm, "linf, l1 or l2")->check(CLI::IsMember(kNorms));
  command
      ->add_option("--space", arguments->space,
                   "scaled: columns by their deviation, categories differ by 1; raw: as they are")
      ->check(CLI::IsMember(kSpaces));
  command->callback(
      [&session, arguments] { session.run = [&session, arguments] { find_neighbours(*arguments, session); }; });
}

}  // namespace assay::cli
