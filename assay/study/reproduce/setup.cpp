#include "assay/study/reproduce/setup.h"

#include <fmt/format.h>

namespace assay {
namespace {

using enum PaperTable;

constexpr int64_t kSmallPool = 500;
constexpr int64_t kLargePool = 5000;

PaperMethod pinned(std::string name, std::string_view spec) { return {std::move(name), parse_spec("reproduce", spec)}; }

}  // namespace

std::string_view table_name(PaperTable table) {
  switch (table) {
    case mnist: return "mnist";
    case faithfulness: return "faithfulness";
    case sensitivity: return "sensitivity";
    case ava: break;
  }
  return "ava";
}

void Setup::describe(OptionVisitor& visit) {
  visit.choice("norm", norm,
               "Tables 3, 4: explanations compared as they are, or at unit l2 norm; auto: raw in Table 3, unit in "
               "Table 4",
               {"auto", "raw", "unit"});
  visit.choice("weighting", weighting, "Tables 3, 4: distances of explanations as they are, or each divided by rho",
               {"uniform", "inverse_distance"});
  visit.choice("value", value, "Tables 2 to 4: which value of the network is explained", {"margin", "probability"});
  visit.choice("target", target, "Tables 2 to 4: the predicted class, or auto: the positive class where there are two",
               {"predicted", "auto"});
  visit.choice("scale", scale, "Tables 2 to 4: how columns are scaled", {"standardise", "min_max", "none"});
  visit.integer_or("pool_rows", pool_rows, "auto",
                   "Tables 3, 4: training rows among which neighbours are sought; auto: 500 and 5,000", "rows", 20,
                   1'000'000);
  visit.choice("explain_baseline", explain_baseline,
               "Tables 2 to 4: what explanations are made against; auto: in Table 2 the baseline that replaces "
               "features, else the average",
               {"auto", "zero", "average"});
  visit.choice("game", game, "Table 4: Shapley values of the explained value, or of the paper's information v_x",
               {"output", "information"});
  visit.choice("antecedents", antecedents, "Table 4: explanations of AVA's antecedents as they are, or at unit norm",
               {"raw", "unit"});
  visit.choice("form", form,
               "Table 2: the pooled correlation as printed, the pooled one with losses, or Definition 3, row by row",
               {"printed", "loss", "definition"});
  visit.choice("complexity", complexity, "Tables 1, 4: entropy of absolute attributions, or of positive ones alone",
               {"absolute", "positive"});
  visit.choice("step", step, "Table 1: the step of the gradient-descent style walks", {"derivative", "fixed", "exact"});
  visit.choice("candidates", candidates, "Table 1: region shrinking keeps minima of pairs alone, or its points too",
               {"pairs", "all"});
}

bool Setup::unit_norm(PaperTable table) const { return norm == "auto" ? table == ava : norm == "unit"; }

size_t Setup::rows_in_pool(PaperTable table) const {
  return static_cast<size_t>(pool_rows.value_or(table == ava ? kLargePool : kSmallPool));
}

std::vector<Variant> setup_variants() {
  std::vector<Variant> all = {{.tables = {mnist, faithfulness, sensitivity, ava}}};
  const auto add = [&](std::string_view change, std::vector<PaperTable> tables, std::string why) {
    const Spec spec = parse_spec("reproduce", fmt::format("setup:{}", change));
    all.push_back({std::string(change), options_from<Setup>(spec), std::move(tables), std::move(why)});
  };
  add("norm=unit", {sensitivity}, "the unit norm of section 7 may be meant for all experiments");
  add("norm=raw", {ava}, "the unit norm of section 7 may be meant for aggregates of several methods alone");
  add("weighting=inverse_distance", {sensitivity, ava}, "the appendix says that average sensitivity is computed so");
  add("value=probability", {faithfulness, sensitivity, ava},
      "for margins and one hidden layer IG and DL are the same function, yet the paper's cells differ");
  add("target=auto", {faithfulness, sensitivity, ava}, "the paper does not say which class of two is explained");
  add("scale=min_max", {faithfulness, sensitivity, ava}, "fits the radii of Iris and Adult in Table 4 best");
  add("scale=none", {faithfulness, sensitivity, ava}, "the paper mentions no scaling at all");
  add("pool_rows=100", {sensitivity}, "few neighbours: maximum / average is 1.0 to 1.2 in most cells of Table 3");
  add("pool_rows=5000", {sensitivity}, "the pool of Table 4");
  add("pool_rows=500", {ava}, "the pool of Table 3");
  add("explain_baseline=zero", {faithfulness, sensitivity, ava},
      "the paper may have explained once, and removed against two baselines");
  add("explain_baseline=average", {faithfulness}, "the same, explained against the average");
  add("game=information", {ava}, "the paper's own v_x, which has no class to choose");
  add("antecedents=unit", {ava}, "\"before doing aggregation, we unit norm all explanations\"");
  add("form=loss", {faithfulness}, "the sign that Definition 3 has");
  add("form=definition", {faithfulness}, "Definition 3 itself");
  add("complexity=positive", {mnist, ava}, "\"we take the positive l1 norm\"");
  add("step=fixed", {mnist}, "\"changing the kth feature by a small amount\"");
  add("step=exact", {mnist}, "our own default: a walk goes as far as it lowers entropy");
  add("candidates=all", {mnist}, "our own default: points of the last round stay");
  return all;
}

const std::vector<PaperMethod>& paper_methods() {
  static const std::vector<PaperMethod> methods = {
      pinned("SHAP", "kernel_shap:samples=2048:sampling=kernel:interactions=false:tolerance=0:most_samples=65536"),
      pinned("SS", "shapley_sampling:permutations=32:antithetic=false"),
      pinned("Grad", "gradient:absolute=false"),
      pinned("G*I", "gradient_x_input"),
      pinned("IG", "integrated_gradients:rule=auto:steps=32:most_steps=1024:tolerance=0.001"),
      pinned("DL", "deeplift")};
  return methods;
}

std::vector<PaperMethod> image_methods(bool quick) {
  std::vector<PaperMethod> out = paper_methods();
  out[0] = pinned("SHAP", fmt::format("kernel_shap:samples={}:sampling=kernel:interactions=false:tolerance=0:"
                                      "most_samples=65536",
                                      quick ? 1600 : 4096));
  out[1] = pinned("SS", "shapley_sampling:permutations=2:antithetic=false");
  return out;
}

std::vector<PaperMethod> image_aggregates(const Setup& setup) {
  // The paper states no alpha. A hundredth moves a coordinate of usual size by a few per cent at a time.
  const std::string_view size = setup.step == "derivative" ? "0.01" : "0.1";
  return {pinned("Convex",
                 "convex_min:criterion=complexity:per=all:rho=linf:space=scaled:radius=auto:"
                 "weighting=uniform:gap=1e-06:scale=relative"),
          pinned("Gradient-Descent",
                 fmt::format("gradient_descent_style:step={}:size={}:floor=0.05:scale=relative", setup.step, size)),
          pinned("Region-Shrinking", fmt::format("region_shrinking:rounds=10:keep=10:candidates={}:floor=0.05:"
                                                 "scale=relative",
                                                 setup.candidates)),
          pinned("simplest mixture", "minimum_complexity:vertices=10000:floor=0.05:scale=relative")};
}

Spec ava_spec(const Setup& setup) {
  return parse_spec("reproduce",
                    fmt::format("ava:k=10:rho=linf:space=raw:class=query:norm={}:method=auto", setup.antecedents));
}

RunPlan run_plan(bool quick) {
  if (!quick) return {};
  return {.runs = 2, .variant_runs = 2, .test_rows = 60, .images = 5, .image_training = 400};
}

}  // namespace assay
