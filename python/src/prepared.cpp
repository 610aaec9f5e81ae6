// _core.Prepared: an explanation function that is ready for rows that come one at a time.
#include "assay/explain/prepared.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/archive/explainer_file.h"
#include "assay/core/error.h"
#include "assay/data/column_order.h"
#include "assay/data/io/npz.h"
#include "python/src/arrays.h"
#include "python/src/module.h"
#include "python/src/run.h"
#include "python/src/specs.h"
#include "python/src/subject.h"

namespace nb = nanobind;

namespace assay::python {
namespace {

// A call that is expected to take at most this long runs on the calling thread, where nothing can interrupt it. The
// thread that other calls get costs more than the explanation of one row.
constexpr double kShortSeconds = 0.02;

// One or more rows of numbers, of any layout.
template <class T>
using AnyRows = nb::ndarray<const T, nb::device::cpu>;

class PreparedHandle {
 public:
  // beside: the argument whose columns the ground's rows have; rows to come must not have them in another order. Empty:
  // nobody gave columns.
  PreparedHandle(std::shared_ptr<SubjectHandle> ground, const SpecPair& method, const Run& run, std::string beside)
      : ground_(std::move(ground)), beside_(std::move(beside)) {
    const Dataset& rows = *ground_->subject.rows;
    columns_ = {.source = "X",
                .x = {},
                .feature_names = rows.feature_names,
                .groups = rows.groups,
                .label_name = {},
                .labels = {},
                .class_names = {},
                .id_name = {},
                .ids = {},
                .item_shape = rows.item_shape};
    const OwnedSubject& subject = ground_->subject;
    const std::optional<TargetChoice> choice = subject.targets.information ? std::nullopt : ground_->choice;
    run_engine(run, [&](const Context& context) {
      explainer_ = std::make_unique<PreparedExplainer>(spec_of(method), subject, choice, run.seed, context);
    });
  }

  const SubjectHandle& ground() const { return *ground_; }

  std::shared_ptr<Explained> explain_table(const std::shared_ptr<Dataset>& rows, const std::string& words,
                                           const Run& run) {
    if (!beside_.empty()) {
      Dataset given = columns_;
      given.source = beside_;
      require_same_order(*rows, given);
    }
    return explain(rows, words, run);
  }

  std::shared_ptr<Explained> explain(std::shared_ptr<Dataset> rows, const std::string& words, const Run& run) {
    auto handle = labelled_subject(*ground_, rows, {});
    OwnedSubject& subject = handle->subject;
    subject.words.rows = words;
    subject.in_pool.clear();
    auto made = std::make_shared<Explained>();
    const auto begun = std::chrono::steady_clock::now();
    work(run, rows->rows(), [&](const Context& context) {
      subject.targets = explainer_->targets_of(rows->x.view(), context);
      made->explanations = explainer_->explain(*rows, subject.targets, context);
    });
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    seconds_of_row_ = took.count() / static_cast<double>(std::max<size_t>(rows->rows(), 1));
    Explanations& result = made->explanations;
    result.provenance.data = words;
    const ModelInfo& info = subject.model->info();
    if (info.unit != OutputUnit::margin && !info.note.empty()) result.notes.push_back(info.note);
    for (std::string& note : notes_on_unknown(*handle)) result.notes.push_back(std::move(note));
    made->subject = std::move(handle);
    made->method = explainer_->method();
    return made;
  }

  // name, bytes: of the model, as an ONNX file. unit: in the user's word. front_end: what the package adds.
  void write(const std::string& path, const std::string& name, const nb::bytes& bytes, const std::string& unit,
             const std::string& front_end, const Run& run) const {
    SavedExplainer saved = saved_explainer(*explainer_);
    saved.model_name = name;
    saved.model.assign(bytes.c_str(), bytes.size());
    saved.unit = unit;
    saved.front_end = front_end;
    if (ground_->model.graph != nullptr) add_texts(*ground_->model.graph, saved);
    run_engine(run, [&](const Context& context) { write_explainer(saved, path, context); });
  }

  // Rows of an array, or one row. Nothing if the array needs the package's own conversion, which knows what to do or to
  // say: numbers beyond float32, and whole numbers that it rounds.
  template <class T>
  std::shared_ptr<Explained> explain_array(const AnyRows<T>& array, const Run& run) {
    const size_t columns = columns_.feature_names.size();
    const bool one = array.ndim() == 1;
    if (array.ndim() == 0 || array.ndim() > 2 || array.shape(array.ndim() - 1) != columns) return {};
    const size_t count = one ? 1 : array.shape(0);
    if (count == 0) return {};
    auto rows = std::make_shared<Dataset>(columns_);
    rows->x = Matrix(count, columns);
    const int64_t row_step = one ? 0 : array.stride(0);
    const int64_t column_step = array.stride(array.ndim() - 1);
    for (size_t r = 0; r < count; r++) {
      const T* from = array.data() + static_cast<int64_t>(r) * row_step;
      const auto to = rows->x.row(r);
      for (size_t c = 0; c < columns; c++) {
        const T cell = from[static_cast<int64_t>(c) * column_step];
        to[c] = static_cast<float>(cell);
        if (std::isinf(to[c])) return {};
        if (!std::is_same_v<T, float> && std::abs(to[c]) >= 0x1p24F && static_cast<T>(to[c]) != cell) return {};
      }
    }
    if constexpr (!std::is_same_v<T, float>) show_cells(array, row_step, column_step, *rows);
    return explain(std::move(rows), "X (array)", run);
  }

 private:
  // Keeps the cells of columns that float32 rounds, for people to see.
  template <class T>
  static void show_cells(const AnyRows<T>& array, int64_t row_step, int64_t column_step, Dataset& rows) {
    for (size_t c = 0; c < rows.x.cols(); c++) {
      const auto cell = [&](size_t r) {
        return array.data()[static_cast<int64_t>(r) * row_step + static_cast<int64_t>(c) * column_step];
      };
      bool rounded = false;
      for (size_t r = 0; r < rows.rows() && !rounded; r++) {
        rounded = !std::isnan(cell(r)) && static_cast<T>(rows.x(r, c)) != cell(r);
      }
      if (!rounded) continue;
      std::vector<double>& shown = rows.shown[c];
      for (size_t r = 0; r < rows.rows(); r++) shown.push_back(static_cast<double>(cell(r)));
    }
  }

  template <class Body>
  void work(const Run& run, size_t rows, const Body& body) {
    const bool by_python = ground_->model.graph == nullptr;
    if (by_python || !(static_cast<double>(rows) * seconds_of_row_ < kShortSeconds)) {
      run_engine(run, body);
      return;
    }
    const nb::gil_scoped_release release;
    Context context;
    context.threads = run.threads;
    body(context);
  }

  std::shared_ptr<SubjectHandle> ground_;
  std::string beside_;
  Dataset columns_;  // what every array's rows are, without numbers
  std::unique_ptr<PreparedExplainer> explainer_;
  std::atomic<double> seconds_of_row_ = std::numeric_limits<double>::infinity();  // of the last call
};

SavedExplainer read_saved(const std::string& path) {
  return run_engine(Run{}, [&](const Context& context) { return read_explainer(NpzFile(path, context)); });
}

SavedExplainer saved_from_bytes(const std::string& name, const nb::bytes& bytes) {
  return read_explainer(NpzFile(name, std::string_view(bytes.c_str(), bytes.size())));
}

// What calls share, with these models, which were made of the file's bytes.
std::shared_ptr<SubjectHandle> subject_of_saved(const SavedExplainer& saved, const std::string& where,
                                                const ModelHandle& model, const ModelHandle* margins,
                                                const ModelHandle* probabilities, nb::object owner) {
  if (model.graph == nullptr) throw Error(ErrorKind::internal, "a saved explainer has a model of the engine");
  set_texts(saved, where, *model.graph);
  auto made = std::make_shared<SubjectHandle>();
  const auto copied = [](const ModelHandle* other) { return other != nullptr ? std::optional(*other) : std::nullopt; };
  made->subject = ground_of(saved, where, model.model->info());
  made->set_models(model, copied(margins), copied(probabilities));
  made->owner = std::move(owner);
  made->choice = saved.choice;
  return made;
}

void bind_saved(nb::module_& m) {
  nb::class_<SavedExplainer>(m, "SavedExplainer")
      .def_static("read", &read_saved, nb::arg("path"))
      .def_static("from_bytes", &saved_from_bytes, nb::arg("name"), nb::arg("data"))
      .def_prop_ro("model_name", [](const SavedExplainer& self) { return self.model_name; })
      .def_prop_ro("model_bytes",
                   [](const SavedExplainer& self) { return nb::bytes(self.model.data(), self.model.size()); })
      .def_prop_ro("method", [](const SavedExplainer& self) { return SpecPair(self.method.name, self.method.options); })
      .def_prop_ro("seed", [](const SavedExplainer& self) { return self.seed; })
      .def_prop_ro("features", [](const SavedExplainer& self) { return self.columns.feature_names.size(); })
      .def_prop_ro("front_end", [](const SavedExplainer& self) { return self.front_end; })
      .def("subject", &subject_of_saved, nb::arg("where"), nb::arg("model"), nb::arg("margins").none(),
           nb::arg("probabilities").none(), nb::arg("owner"));
}

}  // namespace

void bind_prepared(nb::module_& m) {
  bind_saved(m);
  nb::class_<PreparedHandle>(m, "Prepared")
      .def(nb::init<std::shared_ptr<SubjectHandle>, const SpecPair&, const Run&, std::string>(), nb::arg("subject"),
           nb::arg("method"), nb::arg("run"), nb::arg("beside") = "")
      .def("explain", &PreparedHandle::explain_table, nb::arg("rows"), nb::arg("words"), nb::arg("run"))
      .def("write", &PreparedHandle::write, nb::arg("path"), nb::arg("name"), nb::arg("data"), nb::arg("unit"),
           nb::arg("front_end"), nb::arg("run"))
      .def("explain_floats", &PreparedHandle::explain_array<float>, nb::arg("array").noconvert(), nb::arg("run"))
      .def("explain_doubles", &PreparedHandle::explain_array<double>, nb::arg("array").noconvert(), nb::arg("run"));
}

}  // namespace assay::python
