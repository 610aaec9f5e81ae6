#include "assay/explain/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/data/baseline.h"
#include "assay/model/engine_model.h"

namespace assay {
namespace {

constexpr std::string_view kPoolPrefix = "pool:";

void check_width(const Dataset& data, const Model& model) {
  if (data.x.cols() == model.info().features()) return;
  fail_input(data.source, fmt::format("the {} features of {}", model.info().features(), model.info().name),
             fmt::format("{}", data.x.cols()));
}

std::vector<float> feature_scales(const Dataset* pool, const Model& model) {
  if (pool == nullptr) return {};
  check_width(*pool, model);
  return numeric_deviations(*pool);
}

Reference one_row(std::span<const float> row, std::string description) {
  Reference reference;
  reference.rows = Matrix(1, row.size());
  std::copy(row.begin(), row.end(), reference.rows.row(0).begin());
  reference.description = std::move(description);
  return reference;
}

double sigmoid(double z) { return 1 / (1 + std::exp(-z)); }

// The largest class probability of a row of outputs; NaN when one of them is.
double confidence(OutputUnit unit, std::span<const float> outputs) {
  const auto numbers = [](float v) { return !std::isnan(v); };
  if (!std::all_of(outputs.begin(), outputs.end(), numbers)) return std::numeric_limits<double>::quiet_NaN();
  if (outputs.size() == 1) {
    const double value = outputs[0];
    return unit == OutputUnit::probability ? std::max(value, 1 - value) : sigmoid(std::abs(value));
  }
  const double largest = *std::max_element(outputs.begin(), outputs.end());
  if (unit == OutputUnit::probability) return largest;
  if (unit == OutputUnit::log_odds) return sigmoid(largest);
  double sum = 0;
  for (const float margin : outputs) sum += std::exp(static_cast<double>(margin) - largest);
  return 1 / sum;
}

Reference neutral_baseline(const Dataset& pool, const Model& model, const Context& context) {
  const ModelInfo& info = model.info();
  if (info.class_names.empty() || info.unit == OutputUnit::value) {
    fail_input(fmt::format("neutral baseline of {}", info.name), "a classifier, whose confidence can be least",
               "a regression");
  }
  Matrix outputs(pool.rows(), info.outputs());
  model.predict(pool.x.view(), outputs.view(), context);
  std::vector<double> confidences;
  for (size_t i = 0; i < pool.rows(); i++) confidences.push_back(confidence(info.unit, outputs.row(i)));
  const size_t row = neutral_row(confidences);
  return one_row(pool.x.row(row), fmt::format("row {} of {}, predicted least confidently", row + 1, pool.source));
}

// The engine's model, also behind one that passes its trees on; null for models of others.
const EngineModel* engine_of(const Model& model) {
  const auto* engine = dynamic_cast<const EngineModel*>(&model);
  return engine != nullptr ? engine : dynamic_cast<const EngineModel*>(model.tree_scores());
}

// Mean or median. If the model compares doubles, it is computed from the user's cells, and rounded so that every branch
// decides as on the row before rounding.
Reference centre_of_pool(std::string_view name, const Dataset& pool, const Model& model) {
  const size_t infinite = infinite_numbers(pool);
  const std::string left_out =
      infinite == 0 ? "" : fmt::format(" (without {} infinite cell{})", infinite, infinite == 1 ? "" : "s");
  const std::string description = fmt::format("{} of {}{}", name, pool.source, left_out);
  const bool mean = name == "mean";
  const EngineModel* const engine = engine_of(model);
  if (engine == nullptr || !engine->compares_doubles()) {
    return one_row(mean ? mean_baseline(pool) : median_baseline(pool), description);
  }
  const std::vector<double> cells = mean ? mean_cells(pool) : median_cells(pool);
  return one_row(engine->narrowed(description, pool.feature_names, {cells.data(), 1, cells.size()}).row(0),
                 description);
}

// A misspelt name is more likely than a file that is not there.
void check_is_file(const std::string& word) {
  std::error_code ignored;
  if (word.find_first_of("./") != std::string::npos || std::filesystem::exists(word, ignored)) return;
  fail_input("baseline", "zero, mean, median, neutral or a file",
             fmt::format("{}{}", in_quotes(word), suggestion(word, {"zero", "mean", "median", "neutral"})));
}

// The number after the prefix, which may be missing.
size_t count_after(std::string_view prefix, std::string_view word) {
  std::string_view digits = word;
  if (digits.starts_with(prefix)) digits.remove_prefix(prefix.size());
  size_t count = 0;
  const auto [stop, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (problem != std::errc() || stop != digits.data() + digits.size() || count == 0) {
    fail_argument("background",
                  fmt::format(": expected {}N with a number of rows, 1 or more, found {}", prefix, in_quotes(word)));
  }
  return count;
}

}  // namespace

bool is_baseline_name(std::string_view word) {
  return word == "zero" || word == "mean" || word == "median" || word == "neutral";
}

Reference named_baseline(std::string_view name, const Dataset* pool, const Model& model, const Encoder* encoder,
                         const Context& context) {
  if (!is_baseline_name(name)) fail_input("baseline", "zero, mean, median or neutral", in_quotes(name));
  if (pool == nullptr && name != "zero") {
    fail_missing(fmt::format("baseline {}: expected a pool of rows to take it from, found none", name), Need::pool);
  }
  if (pool != nullptr) {
    check_width(*pool, model);
    if (pool->rows() == 0) fail_input(pool->source, "rows to take a baseline from", "none");
  }
  Reference reference;
  if (name == "zero") {
    const std::vector<float> zero =
        encoder != nullptr ? encoder->zero_row() : std::vector<float>(model.info().features(), 0.0F);
    reference = one_row(zero, std::string(kZeroBaseline));
  } else if (name == "neutral") {
    reference = neutral_baseline(*pool, model, context);
  } else {
    reference = centre_of_pool(name, *pool, model);
  }
  reference.scales = feature_scales(pool, model);
  return reference;
}

std::string note_on_zero(const Reference& reference, const Dataset& rows) {
  if (reference.description != kZeroBaseline || reference.rows.rows() != 1) return {};
  std::vector<std::string> columns;
  for (const FeatureGroup& group : rows.groups) {
    if (group.kind != ColumnKind::categorical || group.count != 1 || group.levels.empty()) continue;
    columns.push_back(fmt::format("column {} at {}", in_quotes(group.name), in_quotes(group.levels[0])));
  }
  if (columns.empty()) return {};
  constexpr size_t kShown = 3;
  if (columns.size() > kShown + 1) {
    const std::string more = fmt::format("{} more", columns.size() - kShown);
    columns.resize(kShown);
    columns.push_back(more);
  }
  return fmt::format("the baseline zero puts {}: categories have no zero, and this is the first of each",
                     joined(columns));
}

Reference given_baseline_reference(const Dataset& given, const Dataset* pool, const Model& model) {
  if (given.rows() != 1) {
    fail_input(given.source, "one row, to be the baseline",
               fmt::format("{} (several rows are a background)", given.rows()));
  }
  check_width(given, model);
  Reference reference = one_row(given.x.row(0), given.source);
  reference.scales = feature_scales(pool, model);
  return reference;
}

Reference pool_background(const Dataset& pool, size_t count, const Model& model, const Context& context) {
  check_width(pool, model);
  if (pool.rows() == 0 || count == 0) {
    fail_input(pool.source, "a background of at least one row", "none");
  }
  const std::vector<size_t> rows = background_rows(pool.rows(), count, context.seed);
  Reference reference;
  reference.rows = select_rows(pool, rows).x;
  reference.description = rows.size() == pool.rows() ? fmt::format("all {} rows of {}", rows.size(), pool.source)
                                                     : fmt::format("{} rows of {}", rows.size(), pool.source);
  if (rows.size() < pool.rows()) reference.drawn_from = pool.rows();
  reference.scales = feature_scales(&pool, model);
  return reference;
}

Reference given_background(const Dataset& given, const Dataset* pool, const Model& model) {
  check_width(given, model);
  if (given.rows() == 0) fail_input(given.source, "a background of at least one row", "none");
  Reference reference;
  reference.rows = given.x;
  reference.description = fmt::format("all {} rows of {}", given.rows(), given.source);
  reference.scales = feature_scales(pool, model);
  return reference;
}

size_t spread_count(std::string_view word) { return count_after(kSpreadPrefix, word); }

Reference choose_reference(const ReferenceWords& words, bool needed, const Dataset* pool, const Model& model,
                           const Encoder* encoder, const std::function<Dataset(const std::string&)>& open,
                           const Context& context) {
  if (!words.baseline.empty() && !words.background.empty()) {
    fail_input("reference", "a baseline or a background", "both");
  }
  if (is_baseline_name(words.baseline)) return named_baseline(words.baseline, pool, model, encoder, context);
  if (!words.baseline.empty()) {
    check_is_file(words.baseline);
    return given_baseline_reference(open(words.baseline), pool, model);
  }
  const bool spread = words.background.starts_with(kSpreadPrefix);
  if (spread || words.background.starts_with(kPoolPrefix)) {
    const size_t count = count_after(spread ? kSpreadPrefix : kPoolPrefix, words.background);
    if (pool == nullptr) {
      fail_missing(fmt::format("background {}: expected a pool of rows to draw from, found none", words.background),
                   Need::pool);
    }
    return spread ? Reference() : pool_background(*pool, count, model, context);
  }
  if (!words.background.empty()) return given_background(open(words.background), pool, model);
  if (pool != nullptr) return named_baseline("mean", pool, model, encoder, context);
  if (needed) {
    fail_missing("what stands for absent features is not said", Need::reference);
  }
  return {};
}

}  // namespace assay
