// A model whose classes have other names: a booster counts its classes 0, 1, ..., where its user says good and bad.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "assay/model/model.h"

namespace assay {

// Throws an input error about the argument "classes" unless these are distinct names, one for each class of the model.
void check_class_names(const ModelInfo& info, const std::vector<std::string>& names);

// Each in quotes, for messages.
std::vector<std::string> quoted_names(const std::vector<std::string>& names);

// The same model with these names of classes, in its own order. They must have passed the check.
std::shared_ptr<Model> with_class_names(std::shared_ptr<const Model> model, std::vector<std::string> names);

}  // namespace assay
