#include "assay/model/renamed_classes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "assay/core/error.h"
#include "assay/core/text.h"

namespace assay {
namespace {

class RenamedClasses final : public Model {
 public:
  RenamedClasses(std::shared_ptr<const Model> model, std::vector<std::string> names)
      : model_(std::move(model)), info_(model_->info()) {
    info_.class_names = std::move(names);
    info_.output_names = info_.outputs() == 1 ? std::vector<std::string>{info_.class_names.back()} : info_.class_names;
  }

  const ModelInfo& info() const override { return info_; }
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
  std::shared_ptr<const Model> model_;
  ModelInfo info_;
};

}  // namespace

std::vector<std::string> quoted_names(const std::vector<std::string>& names) {
  std::vector<std::string> quoted;
  for (const std::string& name : names) quoted.push_back(in_quotes(name));
  return quoted;
}

void check_class_names(const ModelInfo& info, const std::vector<std::string>& names) {
  const std::vector<std::string>& own = info.class_names;
  if (own.empty()) {
    fail_argument("classes",
                  fmt::format(": expected none, for {} predicts no classes, found {}", info.name, names.size()));
  }
  if (names.size() != own.size()) {
    fail_argument("classes", fmt::format(": expected {} names, for the classes {} of {}, found {}", own.size(),
                                         joined(quoted_names(own)), info.name, names.size()));
  }
  for (size_t i = 0; i < names.size(); i++) {
    if (names[i].empty()) fail_argument("classes", ": expected a name for each class, found an empty one");
    if (std::find(names.begin(), names.begin() + static_cast<ptrdiff_t>(i), names[i]) !=
        names.begin() + static_cast<ptrdiff_t>(i)) {
      fail_argument("classes", fmt::format(": expected each name once, found {} twice", in_quotes(names[i])));
    }
  }
}

std::shared_ptr<Model> with_class_names(std::shared_ptr<const Model> model, std::vector<std::string> names) {
  return std::make_shared<RenamedClasses>(std::move(model), std::move(names));
}

}  // namespace assay
