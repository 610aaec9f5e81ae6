// _core.Reasons and _core.reasons.
#include "assay/explain/reasons/reasons.h"

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/explain/reasons/approved_background.h"
#include "assay/explain/reasons/reason_texts.h"
#include "assay/explain/reasons/write_reasons.h"
#include "assay/explain/replicates.h"
#include "assay/explain/spread_background.h"
#include "python/src/explained.h"
#include "python/src/module.h"
#include "python/src/run.h"
#include "python/src/subject.h"

namespace nb = nanobind;

namespace assay::python {
namespace {

using Others = std::vector<std::shared_ptr<Explained>>;

// How reasons are wanted, besides the library's options.
struct ReasonWords {
  std::string background = {};  // "whole", "approved", "pool:100" or "spread:100"; empty: as the explanations have it
  size_t replicates = 0;        // to make where there are none and some are needed; 0: none are made
  std::optional<std::string> templates = {};
  size_t whole_pool = 0;  // rows of which the subject's pool is a sample; 0: it is no sample
};

Reference reference_of(const std::string& word, SubjectHandle& handle, ReasonDirection direction, size_t whole_pool,
                       const Context& context) {
  const OwnedSubject& subject = handle.subject;
  const Model& model = *subject.model;
  if (subject.pool == nullptr) {
    fail_missing(fmt::format("background {}: expected a pool of rows, found none", in_quotes(word)), Need::pool);
  }
  const Dataset& pool = *subject.pool;
  if (word.starts_with(kSpreadPrefix)) {
    return *said_spread_background(word, &pool, model, handle.choice, context);
  }
  if (word == "whole" || word == "approved") {
    if (!handle.choice)
      fail_input("background", "one class or output that is explained for all rows", "a list of them");
    return word == "whole" ? reasons_background(pool, model, *handle.choice, context)
                           : approved_background(pool, model, *handle.choice, direction, context, whole_pool);
  }
  return choose_reference(
      {.baseline = {}, .background = word}, true, &pool, model, handle.encoder(),
      [&](const std::string& name) -> Dataset {
        fail_input("background", "\"approved\", \"pool:100\" or \"spread:100\"", in_quotes(name));
      },
      context);
}

// Whether another draw could give other values, and nothing says which.
bool lacks_replicates(const Explanations& explanations) {
  if (explanations.replicate_count() > 0) return false;
  return has_sampling_error(explanations) || explanations.provenance.draw == kDrawnBackground;
}

Reasons reasons_of(const Explained& explained, const Others& others, ReasonOptions options, const ReasonWords& words,
                   const std::optional<std::string>& groups, const Context& given) {
  Context context = given;
  const Explanations& own = explained.explanations;
  // The same bits as before, and draws that go with them.
  if (!own.provenance.method.empty()) context.seed = own.provenance.seed;
  if (groups) options.groups = players_from_json("groups", *groups, own.features);
  const ReasonTemplates templates =
      words.templates ? ReasonTemplates::from_json("template", *words.templates,
                                                   options.groups ? options.groups->names : own.features)
                      : ReasonTemplates();
  SubjectHandle* const handle = explained.subject.get();
  const bool again = handle != nullptr && explained.method && own.combination.members.empty();
  if (!words.background.empty() && !again) {
    fail_input("background", "explanations by a method that were made in this process, which can be made again",
               "others");
  }
  const size_t usual = usual_replicates(own.rows(), own.players());
  const size_t replicates = words.replicates == kUsualReplicates ? usual : words.replicates;
  const bool only_replicates = words.background.empty() && again && replicates > 0 && lacks_replicates(own);
  if (!words.background.empty() || only_replicates) check_same_model("explanations", own, *handle, context.quiet());
  std::optional<Reference> reference;
  std::optional<Explanations> made;
  std::vector<Explanations> remade;
  if (!words.background.empty()) {
    reference = reference_of(words.background, *handle, options.direction, words.whole_pool, context);
    if (words.whole_pool > handle->subject.pool->rows() && words.background != "approved") {
      reference->drawn_from = words.whole_pool;
    }
    const Subject subject = with_reference(handle->subject.view(), *reference);
    made = explain_with_replicates(*explained.method, subject, replicates, context);
    // Against the same rows: agreement is about methods, not about backgrounds.
    for (const auto& other : others) {
      if (other.get() == &explained) {
        remade.push_back(*made);
      } else if (other->method && !refusal(*other->method, explain_task_of(subject))) {
        remade.push_back(explain(*other->method, subject, context));
      }
    }
  } else if (only_replicates) {
    made = explain_with_replicates(*explained.method, handle->subject.view(), replicates, context);
  }
  std::vector<const Explanations*> views;
  for (const Explanations& other : remade) views.push_back(&other);
  if (!reference) {
    for (const auto& other : others) views.push_back(&other->explanations);
  }
  Reasons found = find_reasons(made ? *made : own, views, options, context);
  std::vector<ShownFeature> shown;
  if (handle != nullptr && handle->subject.players.names == own.features) {
    const Dataset& rows = *handle->subject.rows;
    FeatureColumns columns = columns_of_players(handle->subject.players, rows);
    if (options.groups) columns = grouped_columns(columns, *options.groups);
    const Matrix& absent = reference ? reference->rows : handle->subject.reference.rows;
    const Table cells = decoded_table(rows, handle->encoder());
    const Table reference_cells = decoded_table(absent.view(), rows, handle->encoder());
    KeptDoubles doubles;
    for (const auto& [column, values] : rows.shown) doubles.set(rows.feature_names[column], values);
    shown = shown_features(columns, cells, &doubles, absent.empty() ? nullptr : &reference_cells);
  }
  add_texts(found, shown, templates);
  if (reference) found.notes.insert(found.notes.begin(), fmt::format("they are against {}", reference->description));
  return found;
}

std::shared_ptr<Reasons> reasons_in_python(const std::shared_ptr<Explained>& explained, const Run& run, size_t top,
                                           const std::string& direction, const std::optional<std::string>& groups,
                                           std::vector<std::string> exclude, std::optional<std::string> templates,
                                           std::string background, size_t replicates, const Others& others,
                                           size_t whole_pool) {
  ReasonOptions options{.top = top, .direction = direction_of(direction), .exclude = std::move(exclude)};
  const ReasonWords words{std::move(background), replicates, std::move(templates), whole_pool};
  return run_engine(run, [&](const Context& context) {
    return std::make_shared<Reasons>(reasons_of(*explained, others, options, words, groups, context));
  });
}

template <class Get>
auto column(const Reasons& reasons, const Get& get) {
  std::vector<decltype(get(reasons.list[0]))> made;
  for (const Reason& each : reasons.list) made.push_back(get(each));
  return made;
}

}  // namespace

void bind_reasons(nb::module_& m) {
  const auto doubles = [](double Reason::* part) {
    return [part](const Reasons& self) { return column(self, [part](const Reason& each) { return each.*part; }); };
  };
  nb::class_<Reasons>(m, "Reasons")
      .def_prop_ro("rows", [](const Reasons& self) { return self.rows; })
      .def_prop_ro("top", [](const Reasons& self) { return self.top; })
      .def_prop_ro("direction", [](const Reasons& self) { return std::string(direction_name(self.direction)); })
      .def_prop_ro("method", [](const Reasons& self) { return self.method; })
      .def_prop_ro("replicates", [](const Reasons& self) { return self.replicates; })
      .def_prop_ro("certainty_known", [](const Reasons& self) { return self.certainty_known; })
      .def_prop_ro("notes", [](const Reasons& self) { return self.notes; })
      .def_prop_ro("ids", [](const Reasons& self) { return self.ids; })
      .def_prop_ro("row_column", [](const Reasons& self) { return self.row_column(); })
      .def_prop_ro("row", [](const Reasons& self) { return column(self, [](const Reason& each) { return each.row; }); })
      .def_prop_ro("rank",
                   [](const Reasons& self) { return column(self, [](const Reason& each) { return each.rank; }); })
      .def_prop_ro("feature",
                   [](const Reasons& self) {
                     return column(self, [&](const Reason& each) {
                       return each.rank > 0 ? std::optional(self.features[each.player]) : std::nullopt;
                     });
                   })
      .def_prop_ro("value",
                   [](const Reasons& self) { return column(self, [](const Reason& each) { return each.value; }); })
      .def_prop_ro("attribution", doubles(&Reason::attribution))
      .def_prop_ro("share", doubles(&Reason::share))
      .def_prop_ro("certainty", doubles(&Reason::certainty))
      .def_prop_ro("order_certainty", doubles(&Reason::order_certainty))
      .def_prop_ro("agreement", doubles(&Reason::agreement))
      .def_prop_ro("withheld",
                   [](const Reasons& self) {
                     return column(self, [&](const Reason& each) { return withheld_text(self, each); });
                   })
      .def_prop_ro("text",
                   [](const Reasons& self) { return column(self, [](const Reason& each) { return each.text; }); })
      .def(
          "uncertain_rows", [](const Reasons& self, double level) { return uncertain_rows(self, level); },
          nb::arg("level"))
      .def(
          "write",
          [](const Reasons& self, const std::string& path) {
            if (path == "-") fail_input("path", "the name of a file", "-");
            check_reasons_output(path);
            run_engine(Run{}, [&](const Context& context) { write_reasons(self, path, context); });
          },
          nb::arg("path"));
  m.def("reasons", &reasons_in_python, nb::arg("explanations"), nb::arg("run"), nb::arg("top"), nb::arg("direction"),
        nb::arg("groups").none(), nb::arg("exclude"), nb::arg("template").none(), nb::arg("background"),
        nb::arg("replicates"), nb::arg("others"), nb::arg("whole_pool") = 0);
}

}  // namespace assay::python
