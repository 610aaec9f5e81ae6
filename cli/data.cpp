// assay data NAME|FILE --out FILE
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "assay/core/error.h"
#include "assay/core/options.h"
#include "assay/core/text.h"
#include "assay/data/encoder.h"
#include "assay/data/table_io.h"
#include "cli/commands.h"
#include "cli/file_lists.h"
#include "cli/terminal.h"

namespace assay::cli {
namespace {

struct DataArguments {
  TableArguments table;
  std::string out;
  std::string encode;
};

// The encoder is fitted on the training part when a part is written, else on all rows.
Table encoded(const DataArguments& arguments, const Session& session, const Table& table) {
  TableArguments training = arguments.table;
  if (training.split == "test") training.split = "train";
  const bool same = training.split == arguments.table.split;
  const Encoder encoder =
      Encoder::fit(same ? table : training.open(session), encoder_options("--encode", arguments.encode));
  return to_table(encoder.apply(table));
}

// Account numbers and the like must not change unnoticed.
void tell_of_rounding(const Table& table) {
  std::vector<std::string> names;
  for (const Column& column : table.columns) {
    if (column.rounded > 0) names.push_back(in_quotes(column.name));
  }
  if (names.empty()) return;
  fmt::print(stderr, "rounded to float32: numbers beyond 2^24 in {}{}; --categorical or --id keeps a column's\n",
             names[0], names.size() == 1 ? "" : fmt::format(" and {}", plural(names.size() - 1, "other column")));
}

void write_data(const DataArguments& arguments, const Session& session) {
  check_output(arguments.out);
  refuse_same_file("--out", arguments.out, arguments.table.what);
  Table table = arguments.table.open(session);
  if (!arguments.encode.empty()) table = encoded(arguments, session, table);
  write_table(table, arguments.out, session.context);
  if (!session.quiet) tell_of_rounding(table);
  if (session.json && arguments.out != "-") {
    const nlohmann::json summary = {
        {"out", arguments.out},
        {"source", table.source},
        {"rows", table.rows()},
        {"columns", column_names(table)},
        {"label", table.label ? nlohmann::json(table.columns[*table.label].name) : nlohmann::json()}};
    fmt::print("{}\n", summary.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  } else if (!session.quiet && arguments.out != "-") {
    fmt::print("wrote {}: {} rows, {} columns\n", one_line(arguments.out), with_commas(table.rows()),
               with_commas(table.columns.size()));
  }
}

}  // namespace

void add_data(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<DataArguments>();
  CLI::App* command = app.add_subcommand("data", "Write a data set, or a file, in another format");
  arguments->table.add_to(*command);
  command
      ->add_option("--out", arguments->out,
                   "Where to: .csv .tsv .npy .npz .idx .parquet .feather, also .gz and .xz; - is stdout")
      ->required();
  command->add_option(
      "--encode", arguments->encode,
      "Numbers for categories: label or one_hot, with options as in one_hot:scale=standardise:impute=mean");
  command->callback(
      [&session, arguments] { session.run = [&session, arguments] { write_data(*arguments, session); }; });
}

}  // namespace assay::cli
