// All experiments: which variants are run, in which order, and on which data sets claims are judged.
#include <fmt/format.h>

#include <algorithm>

#include "assay/core/table_text.h"
#include "assay/study/reproduce/bench.h"
#include "assay/study/reproduce/claims.h"
#include "assay/study/reproduce/mnist.h"
#include "assay/study/reproduce/runs.h"

namespace assay {
namespace {

// Below, a clinical network has learnt too little to be explained.
constexpr double kLeastAuc = 0.7;

bool has_table(const std::vector<PaperTable>& tables, PaperTable table) {
  return std::ranges::find(tables, table) != tables.end();
}

// What is run: the set-up itself, and the variants if they are wanted, for the tables that are.
std::vector<Variant> wanted_variants(const ReproduceOptions& options) {
  std::vector<Variant> out;
  for (Variant& variant : setup_variants()) {
    if (variant.name.empty()) variant.setup = options.setup;
    if (!variant.name.empty() && !options.variants) continue;
    std::erase_if(variant.tables, [&](PaperTable table) { return !has_table(options.tables, table); });
    if (!variant.tables.empty()) out.push_back(std::move(variant));
  }
  return out;
}

void measure_table(PaperTable table, const Bench& bench, const Setup& setup, const CellKey& where, Results& results,
                   const Context& context) {
  if (table == PaperTable::faithfulness) measure_faithfulness(bench, setup, where, results, context);
  if (table == PaperTable::sensitivity) measure_sensitivity(bench, setup, where, results, context);
  if (table == PaperTable::ava) measure_ava(bench, setup, where, results, context);
}

// Accuracy and AUC of all networks of a set; whether its claims are judged.
NetworkFacts judge_networks(const BenchPlan& plan, const std::vector<std::unique_ptr<TrainedBench>>& networks,
                            Results& results) {
  std::vector<double> areas;
  for (const auto& network : networks) {
    const auto add = [&](const char* column, double value) {
      results.add({"", "networks", plan.data, "network", column}, value);
    };
    add("accuracy", network->accuracy);
    add("share of the largest class", network->largest_class);
    add("auc", network->auc);
    areas.push_back(network->auc);
  }
  const double share =
      static_cast<double>(networks[0]->test.rows()) / static_cast<double>(networks[0]->training.rows());
  NetworkFacts facts{.data = plan.data, .clinical = plan.clinical, .auc_interval = resplit_interval(areas, share)};
  if (plan.clinical && !(facts.auc_interval.low > kLeastAuc)) {
    facts.judged = false;
    facts.note = fmt::format("{}: AUC {} ({} to {}) is not above {} with confidence, so no claim is judged on it",
                             plan.data, short_number(summarise_runs(areas).mean), short_number(facts.auc_interval.low),
                             short_number(facts.auc_interval.high), kLeastAuc);
  }
  return facts;
}

void reproduce_set(const BenchPlan& plan, const std::vector<Variant>& variants, const ReproduceOptions& options,
                   Reproduction& out, const Context& context) {
  const BenchSource source(plan, options, context);
  // Networks of the set-up's own scale, which decide whether the set is judged.
  std::vector<std::unique_ptr<TrainedBench>> networks;
  for (size_t run = 0; run < out.plan.runs; run++) {
    context.check_cancelled();
    networks.push_back(source.train(run, options.setup.scale, context));
  }
  const NetworkFacts facts = judge_networks(source.plan(), networks, out.results);
  out.networks.push_back(facts);
  if (!facts.judged) {
    out.notes.push_back(facts.note);
    return;
  }
  ProgressScope progress(context, plan.data, out.plan.runs);
  for (size_t run = 0; run < out.plan.runs; run++) {
    std::unique_ptr<TrainedBench> rescaled;
    std::string rescaled_by;
    for (const Variant& variant : variants) {
      if (!variant.name.empty() && run >= out.plan.variant_runs) continue;
      if (std::ranges::none_of(variant.tables, [](PaperTable table) { return table != PaperTable::mnist; })) continue;
      const TrainedBench* trained = networks[run].get();
      if (variant.setup.scale != options.setup.scale) {
        if (rescaled_by != variant.setup.scale) rescaled = source.train(run, variant.setup.scale, context);
        rescaled_by = variant.setup.scale;
        trained = rescaled.get();
      }
      const Context inner = trained->context(context);
      for (const PaperTable table : variant.tables) {
        context.check_cancelled();
        if (table == PaperTable::mnist) continue;
        const auto bench = make_bench(*trained, variant.setup, table, out.plan.test_rows, inner);
        const CellKey where{variant.name, std::string(table_name(table)), facts.data};
        measure_table(table, *bench, variant.setup, where, out.results, inner);
      }
    }
    progress.advance(1);
  }
}

}  // namespace

Reproduction reproduce(const ReproduceOptions& options, const Context& context) {
  Reproduction out;
  out.setup = options.setup;
  out.plan = run_plan(options.quick);
  const std::vector<Variant> variants = wanted_variants(options);
  for (const Variant& variant : variants) out.variants.push_back(variant.name);
  if (std::ranges::any_of(options.tables, [](PaperTable table) { return table != PaperTable::mnist; })) {
    for (const BenchPlan& plan : bench_plans(options, out.notes)) {
      reproduce_set(plan, variants, options, out, context);
    }
  }
  std::vector<Variant> of_images;
  std::ranges::copy_if(variants, std::back_inserter(of_images),
                       [](const Variant& variant) { return has_table(variant.tables, PaperTable::mnist); });
  if (!of_images.empty()) reproduce_mnist(options, of_images, out, context);
  judge_claims(out);
  std::erase_if(out.claims, [&](const Claim& claim) { return !has_table(options.tables, claim.table); });
  return out;
}

}  // namespace assay
