#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "assay/core/error.h"
#include "assay/model/trees/xgboost_parts.h"

namespace assay {
namespace {

using Base = XgboostObjective::Base;

struct Known {
  std::string_view name;
  BoosterLink link = BoosterLink::none;
  bool classification = false;
  Base base = Base::score;
  std::string_view note = {};
  bool only_scores = false;
};

constexpr std::array kKnown = {
    Known{"reg:squarederror"},
    Known{"reg:linear"},  // its name before 1.0
    Known{"reg:squaredlogerror"},
    Known{"reg:absoluteerror"},
    Known{"reg:pseudohubererror"},
    // Quantiles and expectiles are numbers that labels may lie below: how far they are off is no error.
    Known{.name = "reg:quantileerror", .only_scores = true},
    Known{.name = "reg:expectileerror", .only_scores = true},
    Known{.name = "rank:pairwise", .only_scores = true},
    Known{.name = "rank:ndcg", .only_scores = true},
    Known{.name = "rank:map", .only_scores = true},
    Known{"reg:logistic", BoosterLink::sigmoid, false, Base::logit},
    Known{"binary:logistic", BoosterLink::sigmoid, true, Base::logit},
    // Its base_score is a raw score, as XGBoost 2.0 and later take it, whatever version wrote the file.
    Known{"binary:logitraw", BoosterLink::sigmoid, true, Base::score,
          "objective binary:logitraw: XGBoost predicts raw scores, here they become probabilities"},
    Known{"binary:hinge", BoosterLink::none, false, Base::score,
          "objective binary:hinge: predictions are raw scores; XGBoost predicts class 1 where they are above 0", true},
    Known{"multi:softprob", BoosterLink::softmax, true},
    Known{"multi:softmax", BoosterLink::softmax, true, Base::score,
          "objective multi:softmax: XGBoost predicts the class, here predictions are probabilities"},
    Known{"count:poisson", BoosterLink::exponential, false, Base::logarithm},
    Known{"reg:gamma", BoosterLink::exponential, false, Base::logarithm},
    Known{"reg:tweedie", BoosterLink::exponential, false, Base::logarithm},
    Known{"survival:cox", BoosterLink::exponential, false, Base::logarithm, {}, true},
    Known{"survival:aft", BoosterLink::exponential, false, Base::logarithm},
};

// In float32, as XGBoost: near 1 the logit of a double would be another number. It keeps base_score off 0 and 1 too.
float to_raw_score(float base_score, Base kind) {
  constexpr float kEdge = 1e-6F;
  switch (kind) {
    case Base::score: return base_score;
    case Base::logit: return -std::log(1.0F / std::clamp(base_score, kEdge, 1.0F - kEdge) - 1.0F);
    case Base::logarithm: return std::log(base_score);
  }
  return base_score;
}

}  // namespace

XgboostObjective xgboost_objective(std::string_view name) {
  const auto* const known = std::ranges::find(kKnown, name, &Known::name);
  if (known != kKnown.end()) {
    return {known->link, known->classification, known->base, std::string(known->note), known->only_scores};
  }
  XgboostObjective objective;
  objective.only_scores = true;
  objective.note = fmt::format("objective {} is not known here: predictions are raw scores", in_quotes(name));
  return objective;
}

std::vector<double> xgboost_base(std::string_view where, FlatDocument::Value parameters, Base kind, size_t targets) {
  // "5E-1", or since 3.1 "[5E-1,2E-1]".
  const std::string_view text = xgboost_text(where, parameters, "base_score");
  const auto fail = [&](std::string_view expected) {
    fail_input(where, fmt::format("base_score to be {}", expected), in_quotes(text));
  };
  std::string_view rest = text;
  if (rest.starts_with('[') && rest.ends_with(']') && rest.size() > 1) rest = rest.substr(1, rest.size() - 2);
  std::vector<double> base;
  while (true) {
    float score = 0;
    const auto [stop, error] = std::from_chars(rest.data(), rest.data() + rest.size(), score);
    if (error != std::errc() || !std::isfinite(score)) fail("one finite number, or some in brackets");
    if (kind == Base::logit && !(score >= 0 && score <= 1)) fail("a probability for this objective");
    if (kind == Base::logarithm && !(score > 0)) fail("above 0 for this objective");
    base.push_back(static_cast<double>(to_raw_score(score, kind)));
    rest.remove_prefix(static_cast<size_t>(stop - rest.data()));
    if (rest.empty()) break;
    if (!rest.starts_with(',')) fail("one finite number, or some in brackets");
    rest.remove_prefix(1);
  }
  if (base.size() == 1) base.resize(targets, base[0]);
  if (base.size() != targets) fail(fmt::format("one number, or one for each of {} targets", targets));
  return base;
}

}  // namespace assay
