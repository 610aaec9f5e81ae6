// assay neighbours NAME|FILE --rows 1,5,10-20 --k 5
#include "assay/data/neighbours.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

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

// What is wrong with the text of --rows, for the parser; empty if nothing is.
std::string wrong_rows(const std::string& text) {
  const auto wrong = no_row_range(text);
  return wrong ? fmt::format("expected rows, as in 1,5,10-20, found {}", in_quotes(*wrong)) : "";
}

// Most pairs that are found before they are printed. A radius may include every pair of rows, which would not fit into
// memory.
constexpr size_t kPairsAtATime = size_t{1} << 16;

class NeighbourPrinter {
 public:
  virtual ~NeighbourPrinter() = default;
  virtual void begin() = 0;
  virtual void print(size_t row, std::span<const Neighbour> near) = 0;
  virtual void end() = 0;
};

class JsonPrinter final : public NeighbourPrinter {
 public:
  explicit JsonPrinter(const NeighbourArguments& arguments) : arguments_(arguments) {}

  void begin() override { fmt::print("{{\n  \"norm\": \"{}\",\n  \"rows\": [", arguments_.norm); }
  void print(size_t row, std::span<const Neighbour> near) override {
    auto listed = nlohmann::json::array();
    for (const Neighbour& n : near) listed.push_back({{"row", n.row + 1}, {"distance", n.distance}});
    const nlohmann::json found = {{"row", row + 1}, {"neighbours", std::move(listed)}};
    std::string text = fmt::format("{}\n    ", first_ ? "" : ",");
    for (const char c : found.dump(2)) text += c == '\n' ? "\n    " : std::string(1, c);
    fmt::print("{}", text);
    first_ = false;
  }
  void end() override { fmt::print("\n  ],\n  \"space\": \"{}\"\n}}\n", arguments_.space); }

 private:
  const NeighbourArguments& arguments_;
  bool first_ = true;
};

class TextPrinter final : public NeighbourPrinter {
 public:
  // all: everything is printed at the end, so columns are only as wide as they need to be.
  TextPrinter(const Dataset& data, bool all) : data_(data), all_(all), labelled_(!data.labels.empty()) {
    lines_ = {{"row", "neighbour", "distance"}};
    if (labelled_) lines_[0] = {"row", data.label_name, "neighbour", "distance", data.label_name};
  }

  // If lines are printed as they come, every line is as wide as the widest possible one.
  void begin() override {
    if (all_) return;
    size_t name = 0;
    size_t label = 0;
    for (size_t row = 0; row < data_.rows(); row++) {
      name = std::max(name, row_name(data_, row).size());
      label = std::max(label, class_of(data_, row).size());
    }
    constexpr size_t kWidestNumber = 11;
    std::vector<size_t> widths = {name, name, kWidestNumber};
    if (labelled_) widths = {name, label, name, kWidestNumber, label};
    for (size_t i = 0; i < widths.size(); i++) widest_.emplace_back(std::max(widths[i], lines_[0][i].size()), 'x');
    print_lines();
  }
  void print(size_t row, std::span<const Neighbour> near) override {
    for (const Neighbour& n : near) {
      std::vector<std::string> line = {row_name(data_, row), row_name(data_, n.row), short_number(n.distance)};
      if (labelled_) {
        line.insert(line.begin() + 1, class_of(data_, row));
        line.push_back(class_of(data_, n.row));
      }
      lines_.push_back(std::move(line));
    }
    if (!all_) print_lines();
  }
  void end() override {
    if (all_) fmt::print("{}", aligned(lines_, left()));
  }

 private:
  std::vector<size_t> left() const { return labelled_ ? std::vector<size_t>{1, 4} : std::vector<size_t>{}; }
  // Aligned together with the widest possible line, which is then cut off.
  void print_lines() {
    lines_.insert(lines_.begin(), widest_);
    const std::string text = aligned(lines_, left());
    fmt::print("{}", std::string_view(text).substr(text.find('\n') + 1));
    lines_.clear();
  }

  const Dataset& data_;
  bool all_;
  bool labelled_;
  std::vector<std::string> widest_;
  std::vector<std::vector<std::string>> lines_;
};

void find_neighbours(const NeighbourArguments& arguments, const Session& session) {
  const Table table = arguments.table.open(session);
  const Dataset data = Encoder::fit(table, {}).apply(table);
  const auto rows = wanted_rows(arguments, data);
  const NeighbourIndex index(data, kNorms.at(arguments.norm), kSpaces.at(arguments.space), session.context);
  const size_t pairs = std::max<size_t>(1, arguments.radius ? data.rows() : std::min(arguments.k, data.rows()));
  const size_t at_a_time = std::max<size_t>(1, kPairsAtATime / pairs);
  std::unique_ptr<NeighbourPrinter> printer;
  if (session.json) {
    printer = std::make_unique<JsonPrinter>(arguments);
  } else {
    printer = std::make_unique<TextPrinter>(data, rows.size() <= at_a_time);
  }
  const Context quiet = session.context.quiet();
  ProgressScope progress(session.context, "finding neighbours", rows.size());
  printer->begin();
  for (size_t begin = 0; begin < rows.size(); begin += at_a_time) {
    const std::vector<size_t> some(rows.begin() + static_cast<ptrdiff_t>(begin),
                                   rows.begin() + static_cast<ptrdiff_t>(std::min(begin + at_a_time, rows.size())));
    const Dataset queries = select_rows(data, some);
    const auto found = arguments.radius ? index.within(queries.x.view(), *arguments.radius, quiet, some)
                                        : index.nearest(queries.x.view(), arguments.k, quiet, some);
    for (size_t q = 0; q < some.size(); ++q) {
      session.context.check_cancelled();
      printer->print(some[q], found.of(q));
    }
    progress.advance(some.size());
  }
  printer->end();
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
