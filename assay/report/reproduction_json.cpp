#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "assay/archive/io/json_parts.h"
#include "assay/core/statistics.h"
#include "assay/report/reproduction_text.h"

namespace assay {
namespace {

// Seven significant digits: enough for every verdict, and the file stays small.
Json short_json(double value) {
  if (!std::isfinite(value)) return number(value);
  const std::string text = fmt::format("{:.7g}", value);
  double rounded = 0;
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  return rounded;
}

Json key_json(const CellKey& key) { return {key.variant, key.table, key.data, key.row, key.column}; }

Json keys_json(const std::vector<CellKey>& keys) {
  Json out = Json::array();
  for (const CellKey& key : keys) out.push_back(key_json(key));
  return out;
}

Json claim_json(const Claim& claim) {
  Json parts = Json::array();
  for (const ClaimPart& part : claim.parts) {
    parts.push_back({{"label", part.label}, {"first", keys_json(part.first)}, {"second", keys_json(part.second)}});
  }
  Json paper = Json::array();
  for (const PaperPart& part : claim.paper_parts) {
    paper.push_back({{"label", part.label}, {"first", part.first}, {"second", part.second}});
  }
  Json variants = Json::object();
  for (const auto& [name, verdict] : claim.in_variants) variants[name] = verdict_name(verdict);
  return {{"id", claim.id},
          {"section", claim.section},
          {"claim", claim.text},
          {"verdict", verdict_name(claim.verdict)},
          {"evidence", claim.evidence},
          {"by_construction", claim.by_construction},
          {"post_hoc", claim.post_hoc},
          {"parts", std::move(parts)},
          {"paper_parts", std::move(paper)},
          {"our_numbers_alone", std::move(variants)}};
}

Json setup_json(const Setup& setup) {
  Json out = Json::object();
  for (const OptionInfo& option : list_options(setup)) out[option.name] = option.value;
  return out;
}

Json methods_json(const std::vector<PaperMethod>& methods) {
  Json out = Json::object();
  for (const PaperMethod& method : methods) out[method.name] = spec_text(method.spec);
  return out;
}

Json cell_json(const Cell& cell) {
  Json values = Json::array();
  for (const double value : cell.values) values.push_back(short_json(value));
  Json out = {{"cell", key_json(cell.key)}, {"runs", std::move(values)}};
  const PaperCell paper = paper_cell(cell.key);
  if (!std::isnan(paper.value)) out["paper"] = paper.value;
  RunningMoments coverage;
  for (const double each : cell.coverages) coverage.add(each);
  if (coverage.mean() < 1) out["coverage"] = short_json(coverage.mean());
  return out;
}

// A list with one item on a line.
template <class Items, class Make>
std::string lines_json(const Items& items, const Make& make) {
  std::string out = "[";
  for (const auto& item : items) out += fmt::format("{}\n  {}", out.size() == 1 ? "" : ",", dumped(make(item)));
  return out + "\n ]";
}

}  // namespace

std::string reproduction_json(const Reproduction& made, const ReproductionOrigin& origin) {
  const auto network = [](const NetworkFacts& facts) -> Json {
    return {{"data", facts.data},
            {"clinical", facts.clinical},
            {"judged", facts.judged},
            {"auc_interval", interval_json(facts.auc_interval)}};
  };
  const auto text = [](const std::string& note) -> Json { return note; };
  std::string out = "{\n";
  const auto add = [&](const char* name, const std::string& value, bool last = false) {
    out += fmt::format(" \"{}\": {}{}\n", name, value, last ? "" : ",");
  };
  add("command", dumped(Json(origin.command)));
  add("version", dumped(Json(origin.version)));
  add("seed", fmt::format("{}", origin.seed));
  add("quick", origin.quick ? "true" : "false");
  add("setup", dumped(setup_json(made.setup)));
  add("methods", dumped(methods_json(paper_methods())));
  add("image_methods", dumped(methods_json(image_methods(origin.quick))));
  add("image_aggregates", dumped(methods_json(image_aggregates(made.setup))));
  add("ava", dumped(Json(spec_text(ava_spec(made.setup)))));
  add("runs", fmt::format("{{\"primary\": {}, \"variants\": {}}}", made.plan.runs, made.plan.variant_runs));
  add("variants", dumped(Json(made.variants)));
  add("networks", lines_json(made.networks, network));
  add("claims", lines_json(made.claims, claim_json));
  add("notes", lines_json(made.notes, text));
  add("cells", lines_json(made.results.cells(), cell_json), true);
  return out + "}\n";
}

}  // namespace assay
