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
#include "assay/data/column_order.h"
#include "assay/data/neighbours.h"
#include "assay/evaluate/joining/explained_pool.h"
#include "assay/explain/explainer.h"
#include "assay/explain/methods.h"
#include "assay/explain/replicates.h"
#include "assay/explain/spread_background.h"
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

// A word, rows, or None.
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

Reference reference_of(const SubjectHandle& handle, const SubjectArguments& arguments, const Context& context) {
  if (arguments.baseline && arguments.background) {
    fail_input("baseline", "one of baseline and background", "both");
  }
  const Model& model = *handle.model.model;
  if (const Dataset* row = rows_in(arguments.baseline)) {
    require_same_order(*handle.subject.rows, *row);
    return given_baseline_reference(*row, handle.subject.pool.get(), model);
  }
  if (const Dataset* rows = rows_in(arguments.background)) {
    require_same_order(*handle.subject.rows, *rows);
    return given_background(*rows, handle.subject.pool.get(), model);
  }
  const ReferenceWords words{.baseline = word_in(arguments.baseline), .background = word_in(arguments.background)};
  const auto no_file = [&](const std::string& name) -> Dataset {
    const bool row = !words.baseline.empty();
    fail_input(row ? "baseline" : "background",
               row ? "zero, mean, median, neutral or a row"
                   : "\"pool:100\" or \"spread:100\" (so many rows of the pool) or rows",
               in_quotes(name));
  };
  return choose_reference(words, arguments.reference_needed, handle.subject.pool.get(), model, handle.encoder(),
                          no_file, context);
}

Players players_of(const SubjectHandle& handle, const SubjectArguments& arguments, const Context& context) {
  if (arguments.groups_json)
    return players_from_json("groups", *arguments.groups_json, handle.subject.rows->feature_names);
  const std::string& word = arguments.groups;
  if (word != "auto" && word != "none" && !word.starts_with("grid:")) {
    fail_input("groups", "auto, none, grid:4 or a dict of names and their columns", in_quotes(word));
  }
  std::vector<size_t> shape = handle.subject.model->info().item_shape;
  if (shape.empty()) shape = handle.subject.rows->item_shape;
  return choose_players(word, *handle.subject.rows, shape, context);
}

// Targets that the caller lists row by row.
Targets listed_targets(const SubjectHandle& handle, const std::vector<uint32_t>& listed, const Context& context) {
  const ModelInfo& info = handle.model.model->info();
  const std::vector<std::string>& names = target_names(info);
  if (listed.size() != handle.subject.rows->rows()) {
    fail_input("target", fmt::format("{}, one for each row", handle.subject.rows->rows()),
               fmt::format("{}", listed.size()));
  }
  for (size_t row = 0; row < listed.size(); row++) {
    if (listed[row] >= names.size()) {
      fail_input("target", fmt::format("from 0 to {} for row {} (counted from 0)", names.size() - 1, row),
                 fmt::format("{}", listed[row]));
    }
  }
  Targets targets =
      freeze_targets(*handle.model.model, handle.subject.rows->x.view(), {.predicted = false, .which = 0}, context);
  targets.of_row = listed;
  return targets;
}

void set_targets(const SubjectArguments& arguments, SubjectHandle& handle, const Context& context) {
  const Model& model = *handle.model.model;
  if (arguments.information) {
    handle.subject.targets = information_targets(model, handle.subject.rows->rows());
    return;
  }
  if (arguments.targets) {
    handle.subject.targets = listed_targets(handle, *arguments.targets, context);
    handle.choice = choice_behind(handle.subject.targets, model, handle.subject.rows->x.view(), context);
    return;
  }
  const std::vector<TargetChoice> choices = parse_target(model.info(), arguments.target);
  if (choices.size() != 1) {
    fail_input("target", "one class or output; assay.explain_all explains each", in_quotes(arguments.target));
  }
  handle.choice = choices[0];
  handle.subject.targets = freeze_targets(model, handle.subject.rows->x.view(), choices[0], context);
}

void check_subject(const OwnedSubject& subject) {
  const ModelInfo& info = subject.model->info();
  if (subject.rows->rows() == 0) fail_input(subject.rows->source, "at least one row", "none");
  for (const Dataset* data : {subject.rows.get(), subject.pool.get()}) {
    if (data == nullptr || data->x.cols() == info.features()) continue;
    fail_input(data->source, fmt::format("{} columns, as {} takes them", info.features(), info.name),
               fmt::format("{}", data->x.cols()));
  }
  if (subject.pool != nullptr) require_same_order(*subject.rows, *subject.pool);
  if (subject.in_pool.empty()) return;
  const size_t pool_rows = subject.pool != nullptr ? subject.pool->rows() : 0;
  const bool fits = std::ranges::all_of(subject.in_pool, [&](size_t row) { return row == kNoRow || row < pool_rows; });
  if (!fits || subject.in_pool.size() != subject.rows->rows()) {
    fail_input("in_pool", "for each row its number in the pool, or -1", "others");
  }
}

std::string words_of_players(const SubjectArguments& arguments, const Players& players) {
  if (arguments.groups_json) return "groups given";
  if (arguments.groups.starts_with("grid:")) return arguments.groups;
  return arguments.groups == "none" || players.are_columns() ? "columns" : "feature groups";
}

std::shared_ptr<SubjectHandle> make_subject(const ModelHandle& model, std::shared_ptr<Dataset> data, const Run& run,
                                            const ModelHandle* margins, std::shared_ptr<Dataset> pool,
                                            ReferenceRows baseline, ReferenceRows background, bool reference_needed,
                                            std::string groups, std::optional<std::string> groups_json,
                                            std::string target, std::optional<IndexVector> targets, bool information,
                                            std::optional<RowVector> in_pool, const std::string& data_words,
                                            const std::string& pool_words, nb::object owner,
                                            const std::optional<SpecPair>& method, const ModelHandle* probabilities) {
  auto made = std::make_shared<SubjectHandle>();
  const auto copied = [](const ModelHandle* other) { return other != nullptr ? std::optional(*other) : std::nullopt; };
  made->set_models(model, copied(margins), copied(probabilities));
  made->owner = std::move(owner);
  OwnedSubject& subject = made->subject;
  subject.rows = std::move(data);
  subject.pool = std::move(pool);
  subject.words.rows = data_words.empty() ? subject.rows->source : data_words;
  if (subject.pool != nullptr) subject.words.pool = pool_words.empty() ? subject.pool->source : pool_words;
  if (in_pool) {
    for (const int64_t row : values_of(*in_pool)) {
      subject.in_pool.push_back(row < 0 ? kNoRow : static_cast<size_t>(row));
    }
  }
  check_subject(subject);
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
    subject.players = players_of(*made, arguments, context);
    subject.reference = reference_of(*made, arguments, context);
    subject.targets.information = information;
    const std::string said = word_in(arguments.background);
    const bool spread = said.starts_with(kSpreadPrefix);
    const auto check_method = [&] {
      if (!method) return;
      if (const auto reason = refusal(spec_of(*method), explain_task_of(subject.view()))) refuse(*reason);
    };
    if (!spread) check_method();  // before the model runs on the rows to find their targets
    set_targets(arguments, *made, context);
    if (!spread) return;
    const auto choice = information ? TargetChoice{.predicted = true} : made->choice;
    subject.reference = *said_spread_background(said, subject.pool.get(), *model.model, choice, context);
    check_method();
  });
  subject.words.players = words_of_players(arguments, subject.players);
  return made;
}

std::shared_ptr<Explained> explain_subject(const std::shared_ptr<SubjectHandle>& handle, const SpecPair& method,
                                           const Run& run, size_t replicates, Kept* designs) {
  const Spec spec = spec_of(method);
  const OwnedSubject& subject = handle->subject;
  auto made = std::make_shared<Explained>();
  made->explanations = run_engine(run, [&](const Context& context) {
    if (replicates == 0) return explain(spec, subject.view(), context, designs);
    return explain_with_replicates(spec, subject.view(), replicates, context);
  });
  Explanations& result = made->explanations;
  // Targets listed row by row follow no common rule.
  const std::vector<uint32_t>& listed = subject.targets.of_row;
  const bool same = std::ranges::all_of(listed, [&](uint32_t each) { return each == listed[0]; });
  if (!subject.targets.predicted && !same) result.provenance.target.clear();
  const ModelInfo& info = subject.model->info();
  if (info.unit != OutputUnit::margin && !info.note.empty()) result.notes.push_back(info.note);
  for (std::string& note : notes_on_unknown(*handle)) result.notes.push_back(std::move(note));
  made->subject = handle;
  made->method = spec;
  return made;
}

}  // namespace

void bind_explain(nb::module_& m) {
  // Not copied: the package never changes a data set of a subject.
  const auto shared_with_python = [](const std::shared_ptr<const Dataset>& data) {
    return std::const_pointer_cast<Dataset>(data);
  };
  nb::class_<SubjectHandle>(m, "Subject", nb::type_slots(subject_slots.data()))
      .def(nb::new_(&make_subject), nb::arg("model"), nb::arg("data"), nb::arg("run"),
           nb::arg("margins").none() = nb::none(), nb::arg("pool").none() = nb::none(),
           nb::arg("baseline").none() = nb::none(), nb::arg("background").none() = nb::none(),
           nb::arg("reference_needed") = false, nb::arg("groups") = "auto", nb::arg("groups_json").none() = nb::none(),
           nb::arg("target") = "auto", nb::arg("targets").noconvert().none() = nb::none(),
           nb::arg("information") = false, nb::arg("in_pool").noconvert().none() = nb::none(),
           nb::arg("data_words") = "", nb::arg("pool_words") = "", nb::arg("owner").none() = nb::none(),
           nb::arg("method").none() = nb::none(), nb::arg("probabilities").none() = nb::none())
      .def_prop_ro("model", [](const SubjectHandle& self) { return self.model; })
      .def_prop_ro("data",
                   [shared_with_python](const SubjectHandle& self) { return shared_with_python(self.subject.rows); })
      .def_prop_ro("pool",
                   [shared_with_python](const SubjectHandle& self) { return shared_with_python(self.subject.pool); })
      .def_prop_ro("players", [](const SubjectHandle& self) { return self.subject.players.names; })
      .def_prop_ro("players_words", [](const SubjectHandle& self) { return self.subject.words.players; })
      .def_prop_ro("data_words", [](const SubjectHandle& self) { return self.subject.words.rows; })
      .def_prop_ro("pool_words", [](const SubjectHandle& self) { return self.subject.words.pool; })
      .def_prop_ro("reference", [](const SubjectHandle& self) { return self.subject.reference.description; })
      .def_prop_ro("target_names", [](const SubjectHandle& self) { return self.subject.targets.names; })
      .def_prop_ro("targets",
                   [](nb::handle_t<SubjectHandle> self) {
                     return vector_view(nb::cast<SubjectHandle&>(self).subject.targets.of_row, self);
                   })
      .def(
          "add_note", [](SubjectHandle& self, std::string note) { self.notes.push_back(std::move(note)); },
          nb::arg("note"))
      .def("labelled", &labelled_subject, nb::arg("data").none(), nb::arg("pool").none());
  bind_explanations(m);
  nb::class_<Kept>(m, "Designs").def(nb::init<>());
  m.def("explain", &explain_subject, nb::arg("subject"), nb::arg("method"), nb::arg("run"), nb::arg("replicates") = 0,
        nb::arg("designs").none() = nb::none());
}

}  // namespace assay::python
