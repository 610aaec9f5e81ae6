#include "python/src/callable_model.h"

#include <fmt/format.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "assay/core/error.h"
#include "python/src/arrays.h"
#include "python/src/models.h"
#include "python/src/run.h"

namespace nb = nanobind;

namespace assay::python {
namespace {

// A copy, because Python may keep the array, and the engine's memory does not last.
nb::ndarray<nb::numpy, float> for_python(MatrixView<const float> rows) {
  Matrix copy(rows.rows(), rows.cols());
  for (size_t i = 0; i < rows.rows(); i++) std::ranges::copy(rows.row(i), copy.row(i).begin());
  return owned_array(std::move(copy));
}

// Converts what a function of the package returned. The package has checked what users' functions return.
void take(const nb::object& returned, std::string_view what, MatrixView<float> into) {
  FloatMatrix found;
  if (!nb::try_cast(returned, found, false)) {
    throw Error(ErrorKind::internal, fmt::format("{}: expected a float32 matrix", what));
  }
  if (found.shape(0) != into.rows() || found.shape(1) != into.cols()) {
    throw Error(ErrorKind::internal, fmt::format("{}: expected {} x {} numbers, found {} x {}", what, into.rows(),
                                                 into.cols(), found.shape(0), found.shape(1)));
  }
  const MatrixView<const float> view = view_of(found);
  for (size_t i = 0; i < into.rows(); i++) std::ranges::copy(view.row(i), into.row(i).begin());
}

// A stand-in that refuses multipliers with a reason.
class NoLayers final : public Rescalable {
 public:
  explicit NoLayers(std::string reason) : reason_(std::move(reason)) {}

  std::optional<std::string> refuses(DeepLiftRule /*rule*/) const override { return reason_; }
  void multipliers(MatrixView<const float> /*rows*/, MatrixView<const float> /*reference*/,
                   MatrixView<const float> /*weights*/, DeepLiftRule /*rule*/, MatrixView<float> /*multipliers*/,
                   const Context& /*context*/) const override {
    throw Error(ErrorKind::internal, "multipliers were asked for that had been refused");
  }

 private:
  std::string reason_;
};

// Models that hold functions show them to the garbage collector.
class HoldsFunctions {
 public:
  virtual ~HoldsFunctions() = default;
  virtual int visit_functions(visitproc visit, void* arg) const = 0;
};

// Calls a function (Dataset, seed) -> Model.
std::unique_ptr<Model> retrained_by(const nb::object& train, const Dataset& training, uint64_t seed,
                                    const Context& context);

class CallableModel final : public Model, public Differentiable, public Trainable, public HoldsFunctions {
 public:
  explicit CallableModel(CallableParts parts) : parts_(std::move(parts)) {
    if (!parts_.no_layers.empty()) no_layers_.emplace(parts_.no_layers);
    found_ = parts_.find_graph.is_none();
  }
  ~CallableModel() override {
    if (Py_IsInitialized() == 0) {  // Python has ended: the references cannot be released any more
      parts_.predict.release();
      parts_.gradient.release();
      parts_.train.release();
      parts_.find_graph.release();
      return;
    }
    const nb::gil_scoped_acquire gil;
    parts_.predict.reset();
    parts_.gradient.reset();
    parts_.train.reset();
    parts_.find_graph.reset();
  }
  CallableModel(const CallableModel&) = delete;
  CallableModel& operator=(const CallableModel&) = delete;

  const ModelInfo& info() const override { return parts_.info; }

  void predict(MatrixView<const float> rows, MatrixView<float> outputs, const Context& context) const override {
    for (size_t begin = 0; begin < rows.rows(); begin += parts_.most_rows) {
      context.check_cancelled();
      const size_t end = std::min(rows.rows(), begin + parts_.most_rows);
      EngineCall::on_calling_thread([&] {
        take(parts_.predict(for_python(rows.rows_between(begin, end))), "the model's outputs",
             outputs.rows_between(begin, end));
      });
    }
  }

  void gradient(MatrixView<const float> rows, MatrixView<const float> weights, MatrixView<float> gradients,
                MatrixView<float> outputs, const Context& context) const override {
    for (size_t begin = 0; begin < rows.rows(); begin += parts_.most_rows) {
      context.check_cancelled();
      const size_t end = std::min(rows.rows(), begin + parts_.most_rows);
      EngineCall::on_calling_thread([&] {
        take(parts_.gradient(for_python(rows.rows_between(begin, end)), for_python(weights.rows_between(begin, end))),
             "the model's gradients", gradients.rows_between(begin, end));
      });
    }
    if (!outputs.empty()) predict(rows, outputs, context);
  }

  std::unique_ptr<Model> retrain(const Dataset& training, uint64_t seed, const Context& context) const override {
    return retrained_by(parts_.train, training, seed, context);
  }

  const Differentiable* differentiable() const override { return parts_.gradient.is_none() ? nullptr : this; }
  const Trainable* trainable() const override { return parts_.train.is_none() ? nullptr : this; }
  const Rescalable* rescalable() const override {
    if (const Model* found = graph(); found != nullptr) return found->rescalable();
    return no_layers_ ? &*no_layers_ : nullptr;
  }
  const AffineEntry* affine_entry() const override {
    const Model* found = graph();
    return found != nullptr ? found->affine_entry() : nullptr;
  }
  const Randomisable* randomisable() const override {
    const Model* found = graph();
    return found != nullptr ? found->randomisable() : nullptr;
  }

  int visit_functions(visitproc visit, void* arg) const override {
    Py_VISIT(parts_.predict.ptr());
    Py_VISIT(parts_.gradient.ptr());
    Py_VISIT(parts_.train.ptr());
    Py_VISIT(parts_.find_graph.ptr());
    return 0;
  }

 private:
  // Null if there is none.
  const Model* graph() const {
    if (found_) return graph_.get();
    // An engine thread, which Python does not know.
    if (PyGILState_GetThisThreadState() == nullptr) {
      const std::scoped_lock lock(finding_);
      if (!found_) EngineCall::on_calling_thread([&] { find(); });
      return graph_.get();
    }
    // A Python thread, with the GIL. Another thread that is finding the graph needs the GIL, so it is released.
    const nb::gil_scoped_release released;
    const std::scoped_lock lock(finding_);
    if (!found_) {
      const nb::gil_scoped_acquire gil;
      find();
    }
    return graph_.get();
  }

  void find() const {
    const auto [made, reason] = nb::cast<std::pair<nb::object, std::string>>(parts_.find_graph());
    if (!made.is_none()) {
      graph_ = nb::cast<ModelHandle&>(made).model;
      const ModelInfo& info = graph_->info();
      if (info.features() != parts_.info.features() || info.outputs() != parts_.info.outputs()) {
        graph_.reset();
        throw Error(ErrorKind::internal, "a graph of other features or outputs than the model's");
      }
    } else if (!reason.empty()) {
      no_layers_.emplace(reason);
    }
    found_ = true;
  }

  CallableParts parts_;
  mutable std::mutex finding_;
  mutable std::atomic<bool> found_ = false;
  mutable std::shared_ptr<Model> graph_;
  mutable std::optional<NoLayers> no_layers_;
};

// A model that Python holds too.
class SharedModel : public Model {
 public:
  explicit SharedModel(std::shared_ptr<Model> model) : model_(std::move(model)) {}

  const ModelInfo& info() const override { return model_->info(); }
  void predict(MatrixView<const float> rows, MatrixView<float> outputs, const Context& context) const override {
    model_->predict(rows, outputs, context);
  }
  const Differentiable* differentiable() const override { return model_->differentiable(); }
  const Rescalable* rescalable() const override { return model_->rescalable(); }
  const AffineEntry* affine_entry() const override { return model_->affine_entry(); }
  const TreeScores* tree_scores() const override { return model_->tree_scores(); }
  const Trainable* trainable() const override { return model_->trainable(); }
  const Randomisable* randomisable() const override { return model_->randomisable(); }

 private:
  std::shared_ptr<Model> model_;
};

// A model with a function that trains others like it.
class RetrainedByPython final : public SharedModel, public Trainable, public HoldsFunctions {
 public:
  RetrainedByPython(std::shared_ptr<Model> model, nb::object train)
      : SharedModel(std::move(model)), train_(std::move(train)) {}
  ~RetrainedByPython() override {
    if (Py_IsInitialized() == 0) {  // as above
      train_.release();
      return;
    }
    const nb::gil_scoped_acquire gil;
    train_.reset();
  }
  RetrainedByPython(const RetrainedByPython&) = delete;
  RetrainedByPython& operator=(const RetrainedByPython&) = delete;

  std::unique_ptr<Model> retrain(const Dataset& training, uint64_t seed, const Context& context) const override {
    return retrained_by(train_, training, seed, context);
  }
  const Trainable* trainable() const override { return this; }
  int visit_functions(visitproc visit, void* arg) const override {
    Py_VISIT(train_.ptr());
    return 0;
  }

 private:
  nb::object train_;
};

std::unique_ptr<Model> retrained_by(const nb::object& train, const Dataset& training, uint64_t seed,
                                    const Context& context) {
  context.check_cancelled();
  std::shared_ptr<Model> made;
  EngineCall::on_calling_thread([&] {
    const nb::object trained = train(nb::cast(training, nb::rv_policy::copy), seed);
    made = nb::cast<ModelHandle&>(trained).model;
  });
  return std::make_unique<SharedModel>(std::move(made));
}

}  // namespace

std::shared_ptr<Model> callable_model(CallableParts parts) { return std::make_shared<CallableModel>(std::move(parts)); }

std::shared_ptr<Model> retrainable(std::shared_ptr<Model> model, nb::callable train) {
  return std::make_shared<RetrainedByPython>(std::move(model), std::move(train));
}

int visit_functions(const Model& model, visitproc visit, void* arg) {
  const auto* holder = dynamic_cast<const HoldsFunctions*>(&model);
  return holder != nullptr ? holder->visit_functions(visit, arg) : 0;
}

}  // namespace assay::python
