#include "assay/explain/reasons/approved_background.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/explain/spread_background.h"
#include "assay/model/predict_rows.h"

namespace assay {

Reference reasons_background(const Dataset& pool, const Model& model, const TargetChoice& choice,
                             const Context& context) {
  if (pool.rows() <= kMostReasonRows) return pool_background(pool, pool.rows(), model, context);
  const Context quiet = context.quiet();
  const Targets targets = freeze_targets(model, pool.x.view(), choice, quiet);
  return spread_background(pool, score_pool(pool, model, quiet), targets, kMostReasonRows, model, quiet);
}

Reference approved_background(const Dataset& pool, const Model& model, const TargetChoice& choice,
                              ReasonDirection direction, const Context& context, size_t whole_pool) {
  const ModelInfo& info = model.info();
  if (info.class_names.empty()) {
    fail_argument("background", fmt::format(" approved: expected a classifier, whose predicted classes say which rows "
                                            "are approved, found {}, a regression",
                                            info.name));
  }
  if (choice.predicted) {
    fail_argument("background",
                  " approved: expected one class that is explained for all rows, found each row's own "
                  "predicted class");
  }
  const bool against = direction == ReasonDirection::against;
  std::vector<size_t> rows;
  predict_rows(
      model, pool.x.view(),
      [&](size_t begin, MatrixView<const float> outputs) {
        for (size_t i = 0; i < outputs.rows(); i++) {
          if ((predicted_class(info, outputs.row(i)) == choice.which) == against) rows.push_back(begin + i);
        }
      },
      context.quiet());
  const std::string words =
      fmt::format("predicted to be {}{}", against ? "" : "other than ", one_line(info.class_names[choice.which]));
  if (rows.empty()) {
    fail_argument("background",
                  fmt::format(" approved: expected rows of {} that are {}, found none", pool.source, words));
  }
  Dataset approved = select_rows(pool, rows);
  approved.source = fmt::format("{} that are {}", pool.source, words);
  Reference made = reasons_background(approved, model, choice, context);
  if (whole_pool > pool.rows()) {
    const double share = static_cast<double>(rows.size()) / static_cast<double>(pool.rows());
    made.drawn_from = std::max(made.rows.rows() + 1, static_cast<size_t>(share * static_cast<double>(whole_pool)));
    made.description = fmt::format("{} rows of a sample of {}", made.rows.rows(), approved.source);
  }
  return made;
}

}  // namespace assay
