#include "cli/commands.h"

namespace assay::cli {
namespace {

const std::map<std::string, char> kDelimiters = {{"", '\0'},         {",", ','},   {"comma", ','},
                                                 {";", ';'},         {"\t", '\t'}, {"tab", '\t'},
                                                 {"semicolon", ';'}, {"|", '|'},   {"bar", '|'}};

}  // namespace

std::string Session::now_at(const std::string& name) const {
  for (const auto& [from, to] : moved) {
    if (from == name) return to;
  }
  return name;
}

void TableArguments::add_to(CLI::App& command, const std::string& name, bool required) {
  // Lists are one word joined by commas, so that the word after them is not taken for one more item.
  const auto add_list_option = [&](const char* option, std::vector<std::string>& list, const char* meaning) {
    command.add_option(option, list, meaning)->delimiter(',')->allow_extra_args(false);
  };
  command.add_option(name, what, "A data set by name (see `assay list datasets`) or a file")->required(required);
  command.add_option("--split", split, "Which part")->check(CLI::IsMember({"all", "train", "test"}));
  command.add_option("--label", options.label,
                     "The column of labels, by name or position (1 is the first, -1 the last)");
  command.add_option("--id", options.id, "The column that names rows");
  add_list_option("--numeric", options.numeric, "Columns that must be numbers");
  add_list_option("--categorical", options.categorical, "Columns that are categories even if they look like numbers");
  command.add_option("--delimiter", delimiter, "Between the cells of a text file: comma, semicolon, tab or bar")
      ->check(CLI::IsMember(kDelimiters).description(""));
  command.add_option("--header", header, "Whether a text file has one")->check(CLI::IsMember({"yes", "no", "detect"}));
  add_list_option("--names", options.names, "Names for the columns of a text file without a header");
  command.add_option("--skip-lines", options.skip_lines, "Lines of a text file before its table begins")
      ->check(whole_number, "UINT64");
  add_list_option("--missing", missing, "More cells that mean \"no value\", beside empty ones, NA, NaN and ?");
}

Table TableArguments::open(const Session& session) const {
  TableOptions reading = options;
  reading.delimiter = kDelimiters.at(delimiter);
  reading.header = header == "yes"  ? TableOptions::Header::yes
                   : header == "no" ? TableOptions::Header::no
                                    : TableOptions::Header::detect;
  if (!missing.empty()) {
    reading.missing = missing;
    reading.missing.emplace_back("");
  }
  DatasetRequest request;
  request.data_dirs = session.data_dirs;
  request.split = split == "train" ? Split::train : split == "test" ? Split::test : Split::all;
  request.seed = session.context.seed;
  const std::string path = session.now_at(what);
  Table table = open_table(path, reading, request, session.context);
  if (path != what) table.source = what;
  return table;
}

}  // namespace assay::cli
