// The file of a prepared explainer (explain/prepared.h): everything that explaining a row needs, in one NPZ archive.
//
// A service or a worker of a cluster opens it and gives the same bits as the explainer that was saved. It holds the
// model's bytes and their SHA-256, the method with options and seed, what is explained, columns, players, reference and
// pool. Tables and designs follow from these and are made again when it is opened. Nothing in it is code.
//
// Arrays: meta (JSON, io/explainer_json.h), model (uint8, an ONNX file), players (int64, by column), and where there
// are some: reference, pool (float32), scales, pool_labels (float64), pool_ids (text).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/options.h"
#include "assay/data/dataset.h"
#include "assay/data/io/npz.h"
#include "assay/explain/players.h"
#include "assay/explain/prepared.h"
#include "assay/explain/reference.h"
#include "assay/explain/subject.h"
#include "assay/explain/target.h"
#include "assay/model/engine_model.h"

namespace assay {

struct SavedExplainer {
  std::string model_name = {};
  std::string model = {};  // the bytes of its ONNX file
  std::string unit = {};   // of what is explained, in the user's word; empty: the model's own
  // By column: what the numbers of text features stand for, in the order of their codes.
  std::map<size_t, std::vector<std::string>> texts = {};
  Spec method = {};
  uint64_t seed = 0;
  std::optional<TargetChoice> choice = {};  // nothing: the information form
  Dataset columns = {};                     // of the rows to come; has no rows
  Players players = {};
  Reference reference = {};
  std::shared_ptr<const Dataset> pool = {};  // null where there is none
  SubjectWords words = {};
  std::string front_end = {};  // what the front end that wrote it adds; not read here
};

// All of it but the model's bytes, unit and texts, and front_end.
SavedExplainer saved_explainer(const PreparedExplainer& explainer);
// Adds what the numbers of text features stand for, or sets it in a model that was just made.
void add_texts(const EngineModel& model, SavedExplainer& saved);
void set_texts(const SavedExplainer& saved, const std::string& where, const EngineModel& model);

// The file appears whole or not at all.
void write_explainer(const SavedExplainer& saved, const std::string& path, const Context& context);
// An input error in one sentence if it is no such file, of another version, spoilt, or if its parts do not fit
// together.
SavedExplainer read_explainer(const NpzFile& file);

// All that calls share, but for the models. An input error that names `where` if this model cannot be the file's.
OwnedSubject ground_of(const SavedExplainer& saved, const std::string& where, const ModelInfo& model);

// Ready for rows. Errors are also those of reading a model and of preparing the method.
std::unique_ptr<PreparedExplainer> open_explainer(const std::string& path, const Context& context);

}  // namespace assay
