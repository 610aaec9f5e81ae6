// _core.Scores, _core.evaluate and _core.criterion_refusal.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <tuple>
#include <utility>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/evaluate/criteria.h"
#include "assay/evaluate/criterion.h"
#include "assay/evaluate/joining/explanation_checks.h"
#include "python/src/arrays.h"
#include "python/src/module.h"
#include "python/src/run.h"
#include "python/src/specs.h"
#include "python/src/subject.h"
#include "python/src/words.h"

namespace nb = nanobind;

namespace assay::python {
namespace {

using Others = std::vector<std::shared_ptr<Explained>>;

// Everything that one criterion may look at.
struct Joined {
  std::shared_ptr<Explained> explained;
  std::shared_ptr<SubjectHandle> subject;
  std::optional<PoolExplanations> given_pool = {};
  std::shared_ptr<PoolSource> made_pool = {};
  std::optional<EngineCall::Turn> turn = {};  // only with a pool
  std::vector<const Explanations*> others = {};
  std::vector<std::string> other_names = {};

  EvaluateTask task();
};

EvaluateTask Joined::task() {
  EvaluateTask made{explained->explanations};
  if (subject != nullptr) made.subject = subject->subject.view();
  if (given_pool) made.pool_explanations = &*given_pool;
  if (!given_pool && made_pool) made.pool_explanations = made_pool->explanations.get();
  if (explained->method) made.method = &*explained->method;
  made.method_seed = explained->explanations.provenance.seed;
  made.others = others;
  made.other_names = other_names;
  return made;
}

// Checks that explanations made elsewhere fit the rows, players, targets and values.
void check_fit(const Explanations& found, const OwnedSubject& subject, const Context& context) {
  const std::string where = "explanations";
  check_explained_unit(where, found);
  check_explained_rows(where, found, *subject.rows);
  check_player_names(where, found, subject.players.names, subject.rows->source,
                     "; groups= says which columns go together");
  const std::string unit = explained_unit(subject.model->info(), subject.targets);
  if (!found.provenance.unit.empty() && found.provenance.unit != unit) {
    fail_input(where, fmt::format("the unit {}, which value= names", unit), found.provenance.unit);
  }
  if (!found.target.empty() && !subject.targets.information) {
    const Targets said = named_targets(where, found, *subject.model, subject.rows->x.view());
    for (size_t row = 0; row < said.of_row.size(); row++) {
      if (said.of_row[row] == subject.targets.of_row[row]) continue;
      fail_input(where,
                 fmt::format("the target {} for {}, as target= has it",
                             in_quotes(said.names[subject.targets.of_row[row]]), row_in_words(found.ids, row)),
                 in_quotes(said.names[said.of_row[row]]));
    }
  }
  if (!has_own_outputs(found)) return;
  check_explained_values(where, found, *subject.model, *subject.rows, subject.targets, "", context);
}

// Whether this criterion looks at the model.
bool asks_model(const SpecPair& criterion) {
  const CriterionInfo& info = find_criterion(criterion.first);
  return info.make(spec_of(criterion))->needs(info.needs).model;
}

// asks_model: whether the model is looked at, which then must be the one that was explained.
std::unique_ptr<Joined> join(const std::shared_ptr<Explained>& explained, const std::shared_ptr<SubjectHandle>& subject,
                             const std::shared_ptr<Explained>& pool, const Others& others,
                             std::vector<std::string> other_names, bool asks_model, const Context& context) {
  auto made = std::make_unique<Joined>();
  made->explained = explained;
  made->subject = subject != nullptr ? subject : explained->subject;
  const Context quiet = context.quiet();
  const bool own = explained->subject != nullptr && subject != nullptr && covers(*explained->subject, *subject);
  if (made->subject != nullptr && made->subject != explained->subject && !own) {
    check_fit(explained->explanations, made->subject->subject, quiet);
  } else if (made->subject != nullptr && asks_model) {
    check_same_model("explanations", explained->explanations, *made->subject, quiet);
  }
  if (made->subject != nullptr && made->subject->subject.pool != nullptr) made->turn.emplace(context);
  if (pool != nullptr) {
    check_given_pool("pool_explanations", pool->explanations, explained->explanations, made->subject.get(), quiet);
    made->given_pool.emplace(pool->explanations.values);
  } else {
    made->made_pool = pool_source(*explained, made->subject, quiet);
  }
  for (size_t i = 0; i < others.size(); i++) {
    check_explained_alike(other_names[i], others[i]->explanations, "explanations", explained->explanations);
    made->others.push_back(&others[i]->explanations);
  }
  made->other_names = std::move(other_names);
  return made;
}

// A note if explanations made elsewhere used another reference than the one here.
void note_reference(const Joined& joined, Scores& made, const Context& context) {
  if (joined.subject == nullptr || joined.subject == joined.explained->subject) return;
  const OwnedSubject& subject = joined.subject->subject;
  if (subject.reference.rows.empty()) return;
  const Context quiet = context.quiet();
  const auto note = other_reference(joined.explained->explanations, *subject.model, *subject.rows, subject.targets,
                                    subject.reference, quiet);
  if (note) made.notes.push_back(*note);
}

Scores score(const std::shared_ptr<Explained>& explained, const SpecPair& criterion, const Run& run,
             const std::shared_ptr<SubjectHandle>& subject, const std::shared_ptr<Explained>& pool,
             const Others& others, const std::vector<std::string>& other_names, bool interval) {
  const SummaryOptions summary{.draws = interval ? SummaryOptions().draws : 0};
  if (other_names.size() != others.size()) fail_input("others", "a name for each", "fewer or more");
  return run_engine(run, [&](const Context& context) {
    const std::unique_ptr<Joined> joined =
        join(explained, subject, pool, others, other_names, asks_model(criterion), context);
    Scores made = evaluate(spec_of(criterion), joined->task(), summary, context);
    if (find_criterion(criterion.first).needs.reference) note_reference(*joined, made, context);
    return made;
  });
}

std::optional<std::pair<std::string, std::string>> why_not(const std::shared_ptr<Explained>& explained,
                                                           const SpecPair& criterion,
                                                           const std::shared_ptr<SubjectHandle>& subject,
                                                           const std::shared_ptr<Explained>& pool,
                                                           const Others& others) {
  std::vector<std::string> names;
  for (size_t i = 0; i < others.size(); i++) names.push_back(fmt::format("others[{}]", i));
  return run_engine(Run{}, [&](const Context& context) {
    const std::unique_ptr<Joined> joined = join(explained, subject, pool, others, names, false, context);
    const std::optional<Refusal> refusal = criterion_refusal(spec_of(criterion), joined->task());
    std::optional<std::pair<std::string, std::string>> found;
    if (refusal) found.emplace(refusal->reason, arguments_for(refusal->need));
    return found;
  });
}

// (name, columns, rows, labels of the rows)
using TableParts =
    std::tuple<std::string, std::vector<std::string>, std::vector<std::vector<double>>, std::vector<std::string>>;

std::vector<std::pair<std::string, size_t>> undefined_pairs(const std::vector<Undefined>& undefined) {
  std::vector<std::pair<std::string, size_t>> pairs;
  for (const Undefined& each : undefined) pairs.emplace_back(each.reason, each.rows);
  return pairs;
}

std::vector<TableParts> table_parts(const std::vector<ScoreTable>& tables) {
  std::vector<TableParts> parts;
  for (const ScoreTable& table : tables) parts.emplace_back(table.name, table.columns, table.rows, table.labels);
  return parts;
}

}  // namespace

void bind_evaluate(nb::module_& m) {
  using Self = nb::handle_t<Scores>;
  const auto of = [](Self self) -> const Scores& { return nb::cast<Scores&>(self); };
  nb::class_<Scores>(m, "Scores")
      .def_prop_ro("criterion", [](const Scores& self) { return self.criterion; })
      .def_prop_ro("options",
                   [](const Scores& self) {
                     nb::dict options;
                     for (const auto& [name, value] : self.options) options[nb::cast(name)] = value;
                     return options;
                   })
      .def_prop_ro("direction", [](const Scores& self) { return std::string(direction_name(self.direction)); })
      .def_prop_ro("values", [of](Self self) { return vector_view(of(self).values, self); })
      .def_prop_ro("of_rows", [](const Scores& self) { return self.of_rows; })
      .def_prop_ro("standard_error",
                   [of](Self self) -> std::optional<NumpyView<double>> {
                     if (of(self).standard_error.empty()) return {};
                     return vector_view(of(self).standard_error, self);
                   })
      .def_prop_ro("undefined", [](const Scores& self) { return undefined_pairs(self.undefined); })
      .def_prop_ro("mean", [](const Scores& self) { return self.mean; })
      .def_prop_ro("mean_error", [](const Scores& self) { return self.mean_error; })
      .def_prop_ro("interval", [](const Scores& self) { return std::pair(self.interval.low, self.interval.high); })
      .def_prop_ro("coverage", [](const Scores& self) { return self.coverage; })
      .def_prop_ro("tables", [](const Scores& self) { return table_parts(self.tables); })
      .def_prop_ro("notes", [](const Scores& self) { return self.notes; })
      .def_prop_ro("evaluations", [](const Scores& self) { return self.evaluations; });
  m.def("evaluate", &score, nb::arg("explanations"), nb::arg("criterion"), nb::arg("run"),
        nb::arg("subject").none() = nb::none(), nb::arg("pool_explanations").none() = nb::none(),
        nb::arg("others") = Others(), nb::arg("other_names") = std::vector<std::string>(), nb::arg("interval") = true);
  m.def("criterion_refusal", &why_not, nb::arg("explanations"), nb::arg("criterion"),
        nb::arg("subject").none() = nb::none(), nb::arg("pool_explanations").none() = nb::none(),
        nb::arg("others") = Others());
}

}  // namespace assay::python
