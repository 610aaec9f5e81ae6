#include "assay/archive/io/quality_json.h"

#include <nlohmann/json.hpp>

namespace assay {
Json quality_json(const ModelQuality& quality) {
  return {{"labelled", quality.labelled},
          {"in_pool", quality.in_pool},
          {"classes", quality.classes},
          {"accuracy", number(quality.accuracy)},
          {"accuracy_interval", interval_json(quality.accuracy_interval)},
          {"majority", number(quality.majority)},
          {"auc", number(quality.auc)},
          {"auc_interval", interval_json(quality.auc_interval)},
          {"auc_classes", quality.auc_classes},
          {"log_loss", number(quality.log_loss)},
          {"calibration_error", number(quality.calibration_error)},
          {"calibration_chance", number(quality.calibration_chance)},
          {"calibration_bins", quality.calibration_bins},
          {"rmse", number(quality.rmse)},
          {"rmse_interval", interval_json(quality.rmse_interval)},
          {"mean_rmse", number(quality.mean_rmse)},
          {"r2", number(quality.r2)},
          {"r2_interval", interval_json(quality.r2_interval)}};
}

ModelQuality quality_from_json(const JsonFields& facts) {
  if (facts.has("quality")) return quality_from_fields(facts.object("quality"));
  return {.accuracy = facts.number("accuracy")};
}

ModelQuality quality_from_fields(const JsonFields& fields) {
  ModelQuality quality;
  quality.labelled = fields.count("labelled");
  if (fields.has("in_pool")) quality.in_pool = fields.count("in_pool");  // older studies do not say
  quality.classes = fields.count("classes");
  quality.accuracy = fields.number("accuracy");
  quality.accuracy_interval = fields.interval("accuracy_interval");
  quality.majority = fields.number("majority");
  quality.auc = fields.number("auc");
  quality.auc_interval = fields.interval("auc_interval");
  quality.auc_classes = fields.count("auc_classes");
  quality.log_loss = fields.number("log_loss");
  quality.calibration_error = fields.number("calibration_error");
  quality.calibration_chance = fields.number("calibration_chance");
  quality.calibration_bins = fields.count("calibration_bins");
  quality.rmse = fields.number("rmse");
  quality.rmse_interval = fields.interval("rmse_interval");
  quality.mean_rmse = fields.number("mean_rmse");
  quality.r2 = fields.number("r2");
  quality.r2_interval = fields.interval("r2_interval");
  return quality;
}

}  // namespace assay
