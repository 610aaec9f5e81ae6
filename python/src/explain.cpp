// _core.Subject, _core.Explanations and _core.explain.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/core/version.h"
#include "assay/data/neighbours.h"
#include "assay/explain/explainer.h"
#include "assay/explain/methods.h"
#include "python/src/arrays.h"
#include "python/src/collected.h"
#include "python/src/explained.h"
#include "python/src/module.h"
#include "python/src/run.h"
#include "python/src/specs.h"
#include "python/src/subject.h"

namespace nb = nanobind;

namespace assay::python {
namespace {

// A word, rows, or nothing.
using ReferenceRows = std::optional<std::variant<std::string, std::shared_ptr<Dataset>>>;

struct SubjectArguments {
  ReferenceRows baseline = {};
  ReferenceRows background = {};
  bool reference_needed = false;
  std::string groups = "auto";
  std::optional<std::string> groups_json = {};
  std::string target = "auto";
  std::optional<std::vector<uint32_t>> targets = {};
  bool information = false;
};

const Dataset* rows_in(const ReferenceRows& given) {
  if (!given) return nullptr;
  const auto* rows = std::get_if<std::shared_ptr<Dataset>>(&*given);
  return rows != nullptr ? rows->get() : nullptr;
}

std::string word_in(const ReferenceRows& given) {
  if (!given) return "";
  const auto* word = std::get_if<std::string>(&*given);
  return word != nullptr ? *word : "";
}

Reference reference_of(const Subject& subject, const SubjectArguments& arguments, const Context& context) {
  if (arguments.baseline && arguments.background) {
    fail_input("baseline", "one of baseline and background", "both");
  }
  const Model& model = *subject.model.model;
  if (const Dataset* row = rows_in(arguments.baseline)) {
    return given_baseline_reference(*row, subject.pool.get(), model);
  }
  if (const Dataset* rows = rows_in(arguments.background)) return given_background(*rows, subject.pool.get(), model);
  const ReferenceWords words{.baseline = word_in(arguments.baseline), .background = word_in(arguments.background)};
  if (words.baseline.empty() && words.background.empty() && subject.pool == nullptr && arguments.reference_needed) {
    fail_input(
        "what stands for absent features is not said; give pool= (its mean is the default), baseline= or background=");
  }
  const auto no_file = [&](const std::string& name) -> Dataset {
    const bool row = !words.baseline.empty();
    fail_input(row ? "baseline" : "background",
               row ? "zero, mean, median, neutral or a row" : "\"pool:100\" (so many rows of the pool) or rows",
               in_quotes(name));
  };
  const Encoder* encoder = subject.model.graph != nullptr ? subject.model.graph->encoder() : nullptr;
  return choose_reference(words, arguments.reference_needed, subject.pool.get(), model, encoder, no_file, context);
}

Players players_of(const Subject& subject, const SubjectArguments& arguments, const Context& context) {
  if (arguments.groups_json) return players_from_json("groups", *arguments.groups_json, subject.data->feature_names);
  const std::string& word = arguments.groups;
  if (word != "auto" && word != "none" && !word.starts_with("grid:")) {
    fail_input("groups", "auto, none, grid:4 or a dict of names and their columns", in_quotes(word));
  }
  std::vector<size_t> shape = subject.data->item_shape;
  if (subject.model.graph != nullptr && !subject.model.graph->item_shape().empty()) {
    shape = subject.model.graph->item_shape();
  }
  return choose_players(word, *subject.data, shape, context);
}

// Targets that the caller lists row by row.
Targets listed_targets(const Subject& subject, const std::vector<uint32_t>& listed, const Context& context) {
  const ModelInfo& info = subject.model.model->info();
  const std::vector<std::string>& names = target_names(info);
  if (listed.size() != subject.data->rows()) {
    fail_input("target", fmt::format("{}, one for each row", subject.data->rows()), fmt::format("{}", listed.size()));
  }
  for (size_t row = 0; row < listed.size(); row++) {
    if (listed[row] >= names.size()) {
      fail_input("target", fmt::format("from 0 to {} for row {} (counted from 0)", names.size() - 1, row),
                 fmt::format("{}", listed[row]));
    }
  }
  Targets targets =
      freeze_targets(*subject.model.model, subject.data->x.view(), {.predicted = false, .which = 0}, context);
  targets.of_row = listed;
  return targets;
}

// What rows of a pool are explained for, where rows are listed one by one.
std::optional<TargetChoice> choice_behind(const Subject& subject, const Context& context) {
  const std::vector<uint32_t>& listed = subject.targets.of_row;
  if (std::ranges::all_of(listed, [&](uint32_t each) { return each == listed[0]; })) {
    return TargetChoice{.predicted = false, .which = listed[0]};
  }
  if (subject.model.model->info().class_names.empty()) return {};
  const TargetChoice predicted{.predicted = true};
  const Targets own = freeze_targets(*subject.model.model, subject.data->x.view(), predicted, context);
  return own.of_row == listed ? std::optional(predicted) : std::nullopt;
}

void set_targets(const SubjectArguments& arguments, Subject& subject, const Context& context) {
  const Model& model = *subject.model.model;
  if (arguments.information) {
    subject.targets = information_targets(model, subject.data->rows());
    return;
  }
  if (arguments.targets) {
    subject.targets = listed_targets(subject, *arguments.targets, context);
    subject.choice = choice_behind(subject, context);
    return;
  }
  const std::vector<TargetChoice> choices = parse_target(model.info(), arguments.target);
  if (choices.size() != 1) {
    fail_input("target", "one class or output; assay.explain_all explains each", in_quotes(arguments.target));
  }
  subject.choice = choices[0];
  subject.targets = freeze_targets(model, subject.data->x.view(), choices[0], context);
}

void check_subject(const Subject& subject) {
  const ModelInfo& info = subject.model.model->info();
  if (subject.data->rows() == 0) fail_input(subject.data->source, "at least one row", "none");
  for (const Dataset* data : {subject.data.get(), subject.pool.get()}) {
    if (data == nullptr || data->x.cols() == info.features()) continue;
    fail_input(data->source, fmt::format("{} columns, as {} takes them", info.features(), info.name),
               fmt::format("{}", data->x.cols()));
  }
  if (subject.own_rows.empty()) return;
  const size_t pool_rows = subject.pool != nullptr ? subject.pool->rows() : 0;
  const bool fits = std::ranges::all_of(subject.own_rows, [&](size_t row) { return row == kNoRow || row < pool_rows; });
  if (!fits || subject.own_rows.size() != subject.data->rows()) {
    fail_input("own_rows", "for each row its number in the pool, or -1", "others");
  }
}

std::string words_of_players(const SubjectArguments& arguments, const Players& players) {
  if (arguments.groups_json) return "groups given";
  if (arguments.groups.starts_with("grid:")) return arguments.groups;
  return arguments.groups == "none" || players.are_columns() ? "columns" : "feature groups";
}

ExplainTask task_of(const Subject& subject) {
  return {*subject.model.model, subject.data->x.view(),     subject.targets, subject.reference, subject.players,
          subject.data->ids,    subject.data->feature_names};
}

std::shared_ptr<Subject> make_subject(const ModelHandle& model, std::shared_ptr<Dataset> data, const Run& run,
                                      const ModelHandle* margins, std::shared_ptr<Dataset> pool, ReferenceRows baseline,
                                      ReferenceRows background, bool reference_needed, std::string groups,
                                      std::optional<std::string> groups_json, std::string target,
                                      std::optional<IndexVector> targets, bool information,
                                      std::optional<RowVector> own_rows, std::string data_words, std::string pool_words,
                                      nb::object owner, const std::optional<SpecPair>& method) {
  auto made = std::make_shared<Subject>();
  made->model = model;
  if (margins != nullptr) made->margins = *margins;
  made->owner = std::move(owner);
  made->data = std::move(data);
  made->pool = std::move(pool);
  made->data_words = data_words.empty() ? made->data->source : std::move(data_words);
  if (made->pool != nullptr) made->pool_words = pool_words.empty() ? made->pool->source : std::move(pool_words);
  if (own_rows) {
    for (const int64_t row : values_of(*own_rows))
      made->own_rows.push_back(row < 0 ? kNoRow : static_cast<size_t>(row));
  }
  check_subject(*made);
  SubjectArguments arguments{.baseline = std::move(baseline),
                             .background = std::move(background),
                             .reference_needed = reference_needed,
                             .groups = std::move(groups),
                             .groups_json = std::move(groups_json),
                             .target = std::move(target),
                             .information = information};
  if (targets) arguments.targets = values_of(*targets);
  Run quiet = run;
  quiet.progress = nb::none();
  run_engine(quiet, [&](const Context& context) {
    made->players = players_of(*made, arguments, context);
    made->reference = reference_of(*made, arguments, context);
    made->targets.information = information;
    if (method) {  // before the model is run on the rows to find their targets
      if (const auto reason = refusal(spec_of(*method), task_of(*made))) throw Error(ErrorKind::unsupported, *reason);
    }
    set_targets(arguments, *made, context);
  });
  made->players_words = words_of_players(arguments, made->players);
  return made;
}

std::shared_ptr<Explained> explain_subject(const std::shared_ptr<Subject>& subject, const SpecPair& method,
                                           const Run& run) {
  const Spec spec = spec_of(method);
  auto made = std::make_shared<Explained>();
  made->explanations =
      run_engine(run, [&](const Context& context) { return explain(spec, task_of(*subject), context); });
  Explanations& result = made->explanations;
  result.ids = subject->data->ids;
  result.id_name = subject->data->id_name;
  result.provenance.data = subject->data_words;
  result.provenance.players = subject->players_words;
  // Rows whose targets are listed one by one have none in common.
  const std::vector<uint32_t>& listed = subject->targets.of_row;
  const bool same = std::ranges::all_of(listed, [&](uint32_t each) { return each == listed[0]; });
  if (!subject->targets.predicted && !same) result.provenance.target.clear();
  const ModelInfo& info = subject->model.model->info();
  if (info.unit != OutputUnit::margin && !info.note.empty()) result.notes.push_back(info.note);
  for (std::string& note : notes_on_unknown(*subject)) result.notes.push_back(std::move(note));
  made->subject = subject;
  made->method = spec;
  return made;
}

}  // namespace

void bind_explain(nb::module_& m) {
  nb::class_<Subject>(m, "Subject", nb::type_slots(subject_slots.data()))
      .def(nb::new_(&make_subject), nb::arg("model"), nb::arg("data"), nb::arg("run"),
           nb::arg("margins").none() = nb::none(), nb::arg("pool").none() = nb::none(),
           nb::arg("baseline").none() = nb::none(), nb::arg("background").none() = nb::none(),
           nb::arg("reference_needed") = false, nb::arg("groups") = "auto", nb::arg("groups_json").none() = nb::none(),
           nb::arg("target") = "auto", nb::arg("targets").noconvert().none() = nb::none(),
           nb::arg("information") = false, nb::arg("own_rows").noconvert().none() = nb::none(),
           nb::arg("data_words") = "", nb::arg("pool_words") = "", nb::arg("owner").none() = nb::none(),
           nb::arg("method").none() = nb::none())
      .def_prop_ro("model", [](const Subject& self) { return self.model; })
      .def_prop_ro("data", [](const Subject& self) { return self.data; })
      .def_prop_ro("pool", [](const Subject& self) { return self.pool; })
      .def_prop_ro("players", [](const Subject& self) { return self.players.names; })
      .def_prop_ro("players_words", [](const Subject& self) { return self.players_words; })
      .def_prop_ro("data_words", [](const Subject& self) { return self.data_words; })
      .def_prop_ro("pool_words", [](const Subject& self) { return self.pool_words; })
      .def_prop_ro("reference", [](const Subject& self) { return self.reference.description; })
      .def_prop_ro("target_names", [](const Subject& self) { return self.targets.names; })
      .def_prop_ro(
          "targets",
          [](nb::handle_t<Subject> self) { return vector_view(nb::cast<Subject&>(self).targets.of_row, self); })
      .def("labelled", &labelled_subject, nb::arg("data").none(), nb::arg("pool").none());
  bind_explanations(m);
  m.def("explain", &explain_subject, nb::arg("subject"), nb::arg("method"), nb::arg("run"));
}

}  // namespace assay::python
