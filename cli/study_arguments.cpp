#include "cli/study_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/explain/spread_background.h"

namespace assay::cli {
namespace {

// Options that do not change the results: where they go and how the study is run.
constexpr std::array<std::string_view, 6> kNotSettings = {"out", "resume", "overwrite", "plan", "all", "help"};

std::string count_or_auto(const std::string& text) {
  if (text == "auto" || text == "all") return {};
  return positive_whole_number(text).empty() ? std::string() : "expected a number of rows, all or auto";
}

// A word as a shell takes it.
std::string typed(const std::string& word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=:,./+@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return one_line(quoted + "'");
}

// Options of a study that `assay explain` has, too, beside those of model, data and pool.
constexpr std::array<std::string_view, 16> kAlsoOfExplain = {
    "--classes",    "--label",   "--id",       "--numeric",    "--categorical", "--delimiter", "--header", "--names",
    "--skip-lines", "--missing", "--baseline", "--background", "--groups",      "--target",    "--value",  "--seed"};

std::string command_of(std::vector<std::string> words, const std::vector<std::string>& more) {
  std::erase_if(words, [](const std::string& word) { return word.starts_with("--time="); });
  words.insert(words.end(), more.begin(), more.end());
  std::string text = "assay study";
  for (const std::string& word : words) text += fmt::format(" {}", typed(word));
  return text;
}

}  // namespace

void StudyArguments::add_to(CLI::App& command) {
  command.add_option("dataset", subject, "A data set by name, as in `assay study iris`: its test part is studied");
  rows.add_to(command, false);
  command.get_option("--model")->description(
      "An ONNX, XGBoost or LightGBM file (default: a small network, trained on the pool)");
  command.get_option("--rows")->description(
      "Which rows, counted from 1, as in 1,5,10-20, or all (default: a stratified sample, see --sample)");
  command.get_option("--background")
      ->description(
          "Rows to average over: spread:100 for so many of the pool, spread over the model's scores (the default), "
          "pool:100 for a plain draw, or a file");
  command.get_option("--pool")->description(
      "Training rows: what stands for absent features, neighbours and antecedents come from them (default: the "
      "training "
      "part of the data set)");
  command
      .add_option("--sample", sample,
                  "How many rows to study, in the classes' shares; auto: 500, or fewer where rows have more than 32 "
                  "players")
      ->check(count_or_auto, "UINT64 or auto");
  command
      .add_option("--pool-sample", pool_sample,
                  "How many rows of the pool to use; auto: all whose explanations take 64 MB")
      ->check(count_or_auto, "UINT64 or auto");
  command.add_option(
      "--time", time,
      "How long it may take, as in 30s, 2m or 1h, or none for no limit: rows, methods and more are chosen "
      "to fit (default: 1m)");
  command.add_option("--methods", methods, "Of `assay list methods` (default: all that the model allows)");
  command.add_option("--criteria", criteria, "Of `assay list criteria` (default: the paper's)");
  command.add_option("--aggregators", aggregators, "Of `assay list aggregators`, or none (default: all)");
  command.add_option("--members", members,
                     "The methods that are aggregated, or paper for the paper's six (default: those found faithful "
                     "on rows of the pool)");
  command.add_option("--target", target, "auto, predicted, or a class or output by name or index");
  command
      .add_option("--classes", classes,
                  "Names of the model's classes, in its order, as in good,bad; a name with a comma in double quotes "
                  "(default: the model's own; if it only counts them, those of the labels where its scores tell "
                  "them apart)")
      ->multi_option_policy(CLI::MultiOptionPolicy::Join);  // by line feeds
  command.add_option("--value", value, "What is explained: margin, probability or log_odds")
      ->check(CLI::IsMember({"margin", "probability", "log_odds"}));
  command.add_option("--encode", encode, "How raw columns become numbers where the study trains its own model");
  command
      .add_option(
          "--cohort", cohorts,
          "A column to group the rows by: quality, drivers and faithfulness of each group, and what differs; may "
          "be repeated. Any column of the table, label, or prediction for right and wrong (default: prediction "
          "and the two main drivers)")
      ->allow_extra_args(false);
  command.add_flag("--retrain", retrain, "Also the criteria that train the model again: roar and kar");
  command.add_flag("--no-curves", no_curves, "Leave out sensitivity by radius and faithfulness by subset size");
  command.add_flag("--no-variations", no_variations, "Leave out other seeds and references");
  command.add_flag("--no-cells", no_cells, "Keep the rows' values out of report.html");
  command
      .add_option("--margin", margin,
                  "How far behind the best faithfulness an explanation may be to count as faithful (default: 0.05)")
      ->check(share_of_one, "0 to 1");
  command
      .add_option("--tie", tie,
                  "Explanations whose faithfulness differs by less are equally good: the better made one is chosen "
                  "(default: 0.002)")
      ->check(share_of_one, "0 to 1");
  command.add_flag("--all", all, "Print all scores, warnings and what was left out, not only the first screen");
  command.add_option("--out", out, "The folder that the study goes to (default: study-NAME)");
  command.add_flag("--resume", resume, "Go on with the study that the folder holds, from its finished parts");
  command.add_flag("--overwrite", overwrite, "Replace the study that the folder holds");
  command.add_flag("--plan", plan_only, "Say what would be done and how long it would take, and stop");
}

std::vector<std::string> StudyArguments::class_names() const { return class_names_from(classes); }

std::vector<std::string> class_names_from(std::string_view text) {
  constexpr std::string_view kBetween = ",\n";
  std::vector<std::string> names;
  size_t at = 0;
  const auto skip_spaces = [&] { at = std::min(text.find_first_not_of(' ', at), text.size()); };
  while (!text.empty() && at <= text.size()) {
    skip_spaces();
    std::string name;
    if (at < text.size() && text[at] == '"') {
      bool closed = false;
      for (at++; at < text.size() && !closed; at++) {
        const bool quote = text[at] == '"';
        const bool twice = quote && at + 1 < text.size() && text[at + 1] == '"';
        closed = quote && !twice;
        if (!closed) name += text[at];
        if (twice) at++;
      }
      skip_spaces();
      if (!closed || (at < text.size() && kBetween.find(text[at]) == std::string_view::npos)) {
        fail_input("--classes", "names joined by commas, each quote closed before the next comma", in_quotes(text));
      }
    } else {
      const size_t end = std::min(text.find_first_of(kBetween, at), text.size());
      name = text.substr(at, end - at);
      name.erase(name.find_last_not_of(' ') + 1);
      at = end;
    }
    names.push_back(std::move(name));
    at++;
  }
  return names;
}

void refuse_empty_values(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    const std::vector<std::string>& results = option->results();
    const bool empty = std::ranges::all_of(results, [](const std::string& each) { return each.empty(); });
    if (option->count() == 0 || !empty || option->get_expected_min() == 0) continue;
    const bool positional = option->get_positional();
    fail_input(fmt::format("{}{}", positional ? "" : "--", option->get_single_name()), "a value", "nothing");
  }
}

std::vector<std::string> argument_words(const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0) continue;
    const std::string& name = option->get_single_name();
    if (std::ranges::find(kNotSettings, name) != kNotSettings.end()) continue;
    if (option->get_positional()) {
      for (const std::string& result : option->results()) words.push_back(result);
      continue;
    }
    if (option->get_expected_min() == 0) {  // a flag
      words.push_back(fmt::format("--{}", name));
      continue;
    }
    if (name == "cohort") {  // names of columns may have commas
      for (const std::string& result : option->results()) words.push_back(fmt::format("--{}={}", name, result));
      continue;
    }
    // "--option=value" as one word, because a value may look like an option. Lists are joined by commas.
    words.push_back(fmt::format("--{}={}", name, fmt::join(option->results(), ",")));
  }
  return words;
}

std::string pinned_command(const std::vector<std::string>& words, const StudyChoices& choices) {
  std::vector<std::string> more;
  for (const auto& [name, value] : choices.made) {
    if (name == kMethodsChoice || name == kRowsChoice || name == kMembersChoice) {
      more.push_back(fmt::format("--{}={}", name, value));
    } else if (name == kCurvesChoice || name == kVariationsChoice) {
      if (value == "none") more.push_back(fmt::format("--no-{}", name));
    } else if (name == kAggregatesChoice) {
      if (value != "all") more.push_back(fmt::format("--{}={}", name, value));
    } else if (name == kBackgroundChoice) {
      more.push_back(fmt::format("--background={}{}", kSpreadPrefix, value));
    } else if (name != kTimeChoice) {
      return {};
    }
  }
  more.emplace_back("--time=none");
  return command_of(words, more);
}

std::string explain_command(const std::vector<std::string>& words, const StudyArguments& arguments,
                            const StudyChoices& choices, const ExplainWords& explained) {
  std::string text = fmt::format("assay explain {}", typed(fmt::format("--model={}", explained.model)));
  const auto add = [&](const std::string& option, const std::string& value) {
    text += fmt::format(" {}", typed(fmt::format("--{}={}", option, value)));
  };
  const ModelRowsArguments& rows = arguments.rows;
  add("data", rows.table.what);
  if (rows.table.split != "all") add("split", rows.table.split);
  add("pool", rows.pool);
  if (rows.pool_split != "all") add("pool-split", rows.pool_split);
  for (const std::string& word : words) {
    const std::string name = word.substr(0, word.find('='));
    const bool shared = std::ranges::find(kAlsoOfExplain, name) != kAlsoOfExplain.end();
    if (name == "--target" && !explained.target.empty()) {
      add("target", explained.target);
      continue;
    }
    if (shared) text += fmt::format(" {}", typed(word));
  }
  if (rows.reference.baseline.empty() && rows.reference.background.empty()) {
    const std::string* chosen = choices.find(kBackgroundChoice);
    add("background",
        fmt::format("{}{}", kSpreadPrefix, chosen != nullptr ? *chosen : fmt::format("{}", arguments.background)));
  }
  if (!explained.id.empty()) add("id", explained.id);
  if (explained.pool_sample > 0) add("pool-sample", fmt::format("{}", explained.pool_sample));
  add("method", explained.method);
  return text;
}

std::string command_in_time(const std::vector<std::string>& words, const std::string& time) {
  return command_of(words, {fmt::format("--time={}", time)});
}

StudyArguments with_choices(StudyArguments arguments, const StudyChoices& choices) {
  if (const std::string* rows = choices.find(kRowsChoice); rows != nullptr) arguments.sample = *rows;
  if (const std::string* rows = choices.find(kBackgroundChoice); rows != nullptr) {
    arguments.background = spread_count(*rows);
  }
  return arguments;
}

StudyArguments parse_study_words(const std::string& where, const std::vector<std::string>& words) {
  StudyArguments arguments;
  CLI::App app;
  app.set_help_flag();  // --help makes no sense in settings
  arguments.add_to(app);
  std::vector<std::string> reversed(words.rbegin(), words.rend());
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& problem) {
    fail_input(fmt::format("{}: its arguments are not those of a study: {}", where, one_line(problem.what())));
  }
  return arguments;
}

}  // namespace assay::cli
