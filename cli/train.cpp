// assay train --data NAME|FILE --out FILE
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "assay/core/error.h"
#include "assay/core/options.h"
#include "assay/core/text.h"
#include "assay/data/encoder.h"
#include "assay/data/io/bytes.h"
#include "assay/data/table_io.h"
#include "assay/model/engine_model.h"
#include "assay/model/train/recipe.h"
#include "assay/model/train/training_rows.h"
#include "cli/commands.h"
#include "cli/terminal.h"

namespace assay::cli {
namespace {

struct TrainArguments {
  TableArguments table;
  std::string hidden;
  std::string cnn;
  std::string network;
  std::string training;
  std::string encode = kDefaultEncoding;
  std::string unseen = "refuse";
  std::string out;
};

// "32,64"
std::vector<int64_t> width_list(const char* option, const std::string& text) {
  std::vector<int64_t> widths;
  if (text == "none") return widths;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    int64_t width = 0;
    const auto [at, problem] = std::from_chars(text.data() + begin, text.data() + end, width);
    if (problem != std::errc() || at != text.data() + end || width < 1) {
      fail_input(option, "whole numbers above 0, joined by commas", in_quotes(text));
    }
    widths.push_back(width);
    begin = end + 1;
  }
  return widths;
}

// Sets the fields of a struct from "a=1:b=2". option: the name of the command line option, for messages.
template <class Options>
void set_options(const char* option, const std::string& text, Options& options) {
  if (text.empty()) return;
  options = options_from(parse_spec(option, fmt::format("{}:{}", option, text)), std::move(options));
}

// item_shape: of a row, if known. Defaults of a convolutional network are chosen to fit the image.
Recipe recipe_of(const TrainArguments& arguments, const std::vector<size_t>& item_shape = {}) {
  Recipe recipe = arguments.cnn.empty() ? table_recipe() : image_recipe();
  check_unseen("--unseen", arguments.unseen);
  recipe.unseen = arguments.unseen;
  if (!arguments.cnn.empty()) {
    const std::vector<int64_t> channels = width_list("--cnn", arguments.cnn);
    recipe.cnn = cnn_options_for(item_shape, channels.size());
    recipe.cnn.channels = channels;
    if (!item_shape.empty()) recipe.training = recipe_for(item_shape).training;
    if (!arguments.hidden.empty()) recipe.cnn.dense = width_list("--hidden", arguments.hidden);
    set_options("--network", arguments.network, recipe.cnn);
  } else {
    if (!arguments.hidden.empty()) recipe.mlp.hidden = width_list("--hidden", arguments.hidden);
    set_options("--network", arguments.network, recipe.mlp);
  }
  set_options("--training", arguments.training, recipe.training);
  return recipe;
}

// Checked before any work, because training takes long.
void check_model_output(const std::string& path) {
  if (format_extension(path) != ".onnx") fail_input("--out", "a file that ends in .onnx", in_quotes(path));
  check_output_folder(path);
}

void print_epoch(const EpochReport& report) {
  fmt::print(stderr, "epoch {:>3}  training loss {:.4f}", report.epoch, report.training_loss);
  if (!std::isnan(report.validation_loss)) fmt::print(stderr, "  validation loss {:.4f}", report.validation_loss);
  if (!std::isnan(report.validation_accuracy)) fmt::print(stderr, "  accuracy {:.4f}", report.validation_accuracy);
  fmt::print(stderr, "\n");
}

void print_summary(const TrainArguments& arguments, const TrainResult& result, const Dataset& data,
                   const std::optional<Evaluation>& test, const TrainingRows& rows) {
  fmt::print("trained on {} rows of {}: best epoch {} of {}\n", with_commas(data.rows()), one_line(data.source),
             result.best_epoch, result.history.size());
  const auto line = [&](const char* what, double loss, double accuracy, const std::string& on) {
    if (std::isnan(loss)) return;
    fmt::print("{} loss {:.4f}", what, loss);
    if (!std::isnan(accuracy)) fmt::print(", accuracy {:.4f}", accuracy);
    fmt::print("{}\n", on);
  };
  line("validation", result.validation_loss, result.validation_accuracy, "");
  if (test) line("test", test->loss, test->accuracy, fmt::format(" on {} rows", with_commas(rows.held_out->rows())));
  for (const std::string& note : rows.notes) fmt::print("note: {}\n", one_line(note));
  fmt::print("wrote {}\n", one_line(arguments.out));
}

void print_training_json(const TrainArguments& arguments, const TrainResult& result, const Dataset& data,
                         const std::optional<Evaluation>& test, const TrainingRows& rows) {
  using nlohmann::json;
  const auto number = [](double v) { return std::isfinite(v) ? json(v) : json(); };
  auto epochs = json::array();
  for (const EpochReport& report : result.history) {
    epochs.push_back({{"epoch", report.epoch},
                      {"training_loss", number(report.training_loss)},
                      {"validation_loss", number(report.validation_loss)},
                      {"validation_accuracy", number(report.validation_accuracy)}});
  }
  json out = {{"out", arguments.out},
              {"source", data.source},
              {"rows", data.rows()},
              {"best_epoch", result.best_epoch},
              {"validation_loss", number(result.validation_loss)},
              {"validation_accuracy", number(result.validation_accuracy)},
              {"epochs", epochs}};
  if (!rows.notes.empty()) out["notes"] = rows.notes;
  if (test) {
    out["test"] = {{"rows", rows.held_out->rows()}, {"loss", number(test->loss)}, {"accuracy", number(test->accuracy)}};
  }
  fmt::print("{}\n", out.dump(2, ' ', false, json::error_handler_t::replace));
}

void train_model(const TrainArguments& arguments, const Session& session) {
  recipe_of(arguments);  // throws for wrong options before anything is read
  check_model_output(arguments.out);
  if (arguments.table.what == "-" && arguments.table.split != "all") {
    fail_input("--data -", "--split all, for standard input is read once", in_quotes(arguments.table.split));
  }
  const Table training = arguments.table.open(session);
  require_labels(training, "--label");
  std::optional<Table> held_out;
  if (arguments.table.split == "train") {
    TableArguments test = arguments.table;
    test.split = "test";
    held_out = test.open(session);
  }
  const TrainingRows rows = training_rows(training, held_out ? &*held_out : nullptr, arguments.encode,
                                          {.label = "--label", .encode = "--encode"});
  const Dataset& data = rows.data;
  const auto report = [&](const EpochReport& epoch) {
    if (!session.quiet) print_epoch(epoch);
  };
  const TrainResult result =
      train_recipe(recipe_of(arguments, data.item_shape), data, &rows.encoder, session.context, report);
  write_onnx(result.model, arguments.out);
  std::optional<Evaluation> test;
  if (rows.held_out) test = evaluate(result.model, *rows.held_out, session.context);
  if (session.json) {
    print_training_json(arguments, result, data, test, rows);
  } else {
    print_summary(arguments, result, data, test, rows);
  }
}

}  // namespace

void add_train(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<TrainArguments>();
  arguments->table.split = "train";
  CLI::App* command = app.add_subcommand("train", "Train a small network on a table or on images");
  arguments->table.add_to(*command, "--data");
  command->add_option("--hidden", arguments->hidden,
                      "Neurons of each hidden layer, as in 40 or 16,16; none is a linear model");
  command->add_option("--cnn", arguments->cnn, "Channels of each convolution for images, as in 32,64");
  command->add_option("--network", arguments->network,
                      "Options of the network: activation, slope; with --cnn also kernel, pool, padding; as in "
                      "activation=tanh");
  command->add_option("--training", arguments->training,
                      "Options of training: epochs, batch, rate, weight_decay, schedule, patience, stop, validation, "
                      "class_weights, loss, scale; as in epochs=50:rate=0.001");
  command->add_option("--encode", arguments->encode,
                      "How raw columns become numbers, stored with the model: label or one_hot, with options");
  command->add_option(
      "--unseen", arguments->unseen,
      "What the model does with a category that its training rows did not have: refuse the row, or take "
      "it for unknown (refuse or unknown)");
  command->add_option("--out", arguments->out, "The model file to write, .onnx")->required();
  command->callback(
      [&session, arguments] { session.run = [&session, arguments] { train_model(*arguments, session); }; });
}

}  // namespace assay::cli
