// AVA, Aggregate Valuation of Antecedents (Bhatt, Weller, Moura 2020, section 6): the weighted mean of the explanations
// of a row's k nearest training rows, its antecedents,
//   phi(x) = sum over the k nearest rows z of the pool of weight_z g(z),
//   weight_z = rho(x, z)^-1 / sum over z' of rho(x, z')^-1.
// If some are at distance 0, it is the mean over those alone (the limit). g is any explanation function. If g gives
// Shapley values, AVA gives those of the game v_AVA(S) = sum over z of weight_z v_z(S) (Theorem 5): values add up to
// output - base, where both are the weighted means of the antecedents' own.
//
// class says what is explained at an antecedent: the query's target (query), the class the antecedent is predicted to
// be (own), or the query's target at rows of the query's predicted class alone (same). auto: query where rows can be
// explained, same where explanations of the pool come from files.
//
// If g is sampled, standard errors are sum weight_z se_z: all rows share their draws, so errors do not average out, and
// this is the largest they can be.
// Cost: the neighbour search, and one explanation of each distinct (antecedent, target).
// A member whose method cannot explain other rows (made elsewhere, or an aggregate) is refused, unless a method is
// named or explanations of the pool are given.
// A row without antecedents (none of its class) is undefined. A row is never its own antecedent.
// Deviation from the paper: it multiplies by the sum of inverse distances where it must divide. It does not say which
// class of an antecedent is explained; the default here is the query's, because own classes did not lower maximum
// sensitivity on Iris and raised it on Adult (docs/aggregators/ava.md). Distances are of columns scaled on the pool
// unless space=raw. Members are not scaled to unit norm: Theorem 5 would not hold. norm=unit scales the explanation of
// each antecedent to unit l2 norm first, as the paper's "before doing aggregation, we unit norm all explanations" can
// be read: the result then adds up to nothing, and has neither base value nor standard error.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "assay/aggregate/aggregator.h"
#include "assay/aggregate/antecedents/antecedents.h"
#include "assay/aggregate/antecedents/explained_pairs.h"
#include "assay/aggregate/antecedents/valuations.h"
#include "assay/core/text.h"
#include "assay/evaluate/common.h"
#include "assay/explain/methods.h"

namespace assay {
namespace {

// Beyond, 2^d evaluations for each antecedent are more than anybody asked for by saying nothing.
constexpr size_t kMostPlayersOfExact = 16;

enum class AtAntecedents { query, own, same };

bool from_files(const AggregateTask& task) { return task.pool_given && !task.pool_members.empty(); }

AtAntecedents what_is_explained(const std::string& of_class, const AggregateTask& task) {
  if (of_class == "own") {
    // A regression has one class.
    return task.subject.model->info().class_names.empty() ? AtAntecedents::query : AtAntecedents::own;
  }
  if (of_class == "same" || (of_class == "auto" && from_files(task))) return AtAntecedents::same;
  return AtAntecedents::query;
}

// How antecedents are explained, and with which seed.
struct Explained {
  Spec method;
  uint64_t seed = 0;
  std::string note = {};  // where the member was not explained so, or there is none and nobody chose
};

// Whether there is a member, and nothing says how to explain other rows alike.
bool lacks_method(const std::optional<Spec>& wanted, const AggregateTask& task) {
  return !task.members.empty() && task.method == nullptr && !wanted;
}

// What to say of a method that is named, beside the member's own.
std::string note_of_named(const Spec& wanted, const AggregateTask& task) {
  if (task.members.empty()) return {};
  const std::string by = fmt::format("antecedents are explained by {}", wanted.name);
  if (task.method != nullptr) {
    return task.method->name == wanted.name ? ""
                                            : fmt::format("{}, not by {} as the member was", by, task.method->name);
  }
  const std::string& said = task.members[0]->provenance.method;
  return said.empty() ? fmt::format("{}; the member does not say how it was", by)
                      : fmt::format("{}, not by {} as the member was", by, in_quotes(said));
}

Explained how_explained(const std::optional<Spec>& wanted, const AggregateTask& task, uint64_t seed) {
  if (wanted) {
    // The member's own seed too, where it is the member's method: then AVA is made of values like the member's.
    const bool own = task.method != nullptr && task.method->name == wanted->name;
    return {*wanted, own ? task.method_seed : seed, note_of_named(*wanted, task)};
  }
  if (task.method != nullptr) return {*task.method, task.method_seed};
  const bool trees = !refusal({"tree_shap"}, explain_task_of(task.subject));
  const std::string chosen = trees                                                 ? "tree_shap"
                             : task.subject.players->size() <= kMostPlayersOfExact ? "exact_shapley"
                                                                                   : "kernel_shap";
  return {{chosen}, seed, fmt::format("antecedents are explained by {}", chosen)};
}

std::optional<Refusal> refuses_to_explain(const std::optional<Spec>& wanted, const AggregateTask& task) {
  if (lacks_method(wanted, task)) {
    return Refusal(
        "needs to know how rows of the pool are explained, and the member does not say: an option method, or "
        "explanations of the pool's rows",
        Need::pool_members);
  }
  const Explained how = how_explained(wanted, task, 0);
  const auto known = std::ranges::find(methods(), how.method.name, &MethodInfo::name);
  if (known == methods().end()) {
    return fmt::format("explains antecedents as the member was explained, and {} is no method of explaining a row",
                       how.method.name);
  }
  if (known->uses_reference && explain_task_of(task.subject).reference.rows.rows() == 0) {
    return Refusal("needs a reference that stands for absent features", Need::reference);
  }
  const auto reason = refusal(how.method, explain_task_of(task.subject));
  if (!reason) return {};
  return Refusal(fmt::format("cannot explain antecedents: {}", reason->reason), reason->need);
}

// What explanations of the pool that come from files can stand for.
std::optional<Refusal> refuses_given(AtAntecedents explained, const AggregateTask& task) {
  const Targets* given = task.subject.pool_targets;
  if (given != nullptr && given->names != task.subject.targets->names) {
    return Refusal("needs explanations of the pool for the targets of the rows, and the given ones are for others",
                   Need::pool_members);
  }
  if (explained == AtAntecedents::own && (given == nullptr || !given->predicted)) {
    return "needs, for class=own, explanations of each pool row for its predicted class, and the given ones are not";
  }
  if (explained != AtAntecedents::query) return {};
  const uint32_t target = task.subject.targets->of_row[0];
  const auto same = [&](uint32_t each) { return each == target; };
  if (given == nullptr || !std::ranges::all_of(given->of_row, same) ||
      !std::ranges::all_of(task.subject.targets->of_row, same)) {
    return "needs, for class=query, one target of all rows of data and pool, because explanations of the pool are "
           "given; class=same takes antecedents with the target of the row alone";
  }
  return {};
}

std::vector<uint32_t> classes_of(const AggregateTask& task, const Dataset& data, Combined& out,
                                 const Context& context) {
  if (!task.subject.model->info().class_names.empty()) out.evaluations += data.rows();
  return predicted_classes(*task.subject.model, data.x.view(), context);
}

// Rows of one kind have the same predicted class, and where explanations are given the same target.
struct Kinds {
  std::vector<uint32_t> pool = {};
  std::vector<uint32_t> queries = {};
};

Kinds same_kinds(const AggregateTask& task, Combined& out, const Context& context) {
  Kinds made{classes_of(task, *task.subject.pool, out, context), classes_of(task, *task.subject.rows, out, context)};
  if (!from_files(task) || task.subject.pool_targets == nullptr) return made;
  const auto targets = static_cast<uint32_t>(task.subject.targets->names.size());
  for (size_t z = 0; z < made.pool.size(); z++)
    made.pool[z] = made.pool[z] * targets + task.subject.pool_targets->of_row[z];
  for (size_t r = 0; r < made.queries.size(); r++) {
    made.queries[r] = made.queries[r] * targets + task.subject.targets->of_row[r];
  }
  return made;
}

// The target that each antecedent is explained for.
std::vector<uint32_t> own_targets(const AggregateTask& task, const Antecedents& antecedents, Combined& out,
                                  const Context& context) {
  std::vector<size_t> rows;
  for (const Antecedent& each : antecedents.items) rows.push_back(each.row);
  std::ranges::sort(rows);
  const auto repeated = std::ranges::unique(rows);
  rows.erase(repeated.begin(), repeated.end());
  const std::vector<uint32_t> classes = classes_of(task, select_rows(*task.subject.pool, rows), out, context);
  std::vector<uint32_t> targets;
  for (const Antecedent& each : antecedents.items) {
    targets.push_back(classes[static_cast<size_t>(std::ranges::lower_bound(rows, each.row) - rows.begin())]);
  }
  return targets;
}

std::vector<uint32_t> query_targets(const AggregateTask& task, const Antecedents& antecedents) {
  std::vector<uint32_t> targets;
  for (size_t r = 0; r < antecedents.queries(); r++) {
    targets.insert(targets.end(), antecedents.of(r).size(), task.subject.targets->of_row[r]);
  }
  return targets;
}

void note_antecedents(const Antecedents& antecedents, AtAntecedents explained, size_t k, Combined& out) {
  const size_t rows = antecedents.queries();
  if (explained == AtAntecedents::own) {
    out.notes.emplace_back("each antecedent is explained for the class it is predicted to be itself");
  } else if (explained == AtAntecedents::same) {
    out.notes.emplace_back("antecedents are rows of the row's own predicted class alone");
  }
  if (antecedents.few > 0) {
    out.notes.push_back(
        fmt::format("{} of {} rows have fewer than {} antecedents to choose from", antecedents.few, rows, k));
  }
  if (antecedents.coincident > 0) {
    out.notes.push_back(fmt::format("{} of {} rows have antecedents at distance 0, and are explained by those alone",
                                    antecedents.coincident, rows));
  }
}

void note_explained(const Explained& how, const ExplainedPairs& made, Combined& out) {
  if (!how.note.empty()) out.notes.push_back(how.note);
  for (const std::string& note : made.notes) out.notes.push_back(fmt::format("antecedents: {}", note));
  if (!made.error.empty()) {
    out.notes.emplace_back("standard errors are the most they can be: all antecedents share their draws");
  }
}

// The explanations with rows scaled to unit l2 norm. Rows that no antecedent needs may be anything.
Matrix unit_rows_of(const Valuations& found) {
  Matrix scaled(found.values.rows(), found.values.cols());
  for (size_t i = 0; i < scaled.rows(); i++) {
    const auto from = found.values.row(i);
    double squares = 0;
    for (const float value : from) squares += static_cast<double>(value) * value;
    const double length = std::sqrt(squares);
    for (size_t p = 0; p < from.size(); p++) {
      scaled(i, p) = length > 0 ? static_cast<float>(from[p] / length) : from[p];
    }
  }
  return scaled;
}

std::vector<std::string> method_words() {
  std::vector<std::string> words = {"auto"};
  for (const MethodInfo& method : methods()) words.push_back(method.name);
  return words;
}

// A method with its options, in brackets because of the colons: method=[kernel_shap:samples=2048].
std::optional<Spec> nested_method(std::string_view text) {
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']') text = text.substr(1, text.size() - 2);
  if (text == "auto") return {};
  Spec method = parse_spec("ava, option method", text);
  find_method(method.name).make(method);  // refuses what it does not have
  return method;
}

class Ava final : public Aggregator {
 public:
  struct Options {
    int64_t k = 10;
    std::string rho = "linf";
    std::string space = "scaled";
    std::string of_class = "auto";
    std::string norm = "raw";
    std::string method = "auto";  // as in the table; a method with its options is in `explained_by`
    std::optional<Spec> explained_by = {};

    void describe(OptionVisitor& visit) {
      visit.integer("k", k, "antecedents of a row", "rows", 1, 1000000);
      visit.choice("rho", rho, "norm of the distance between rows", {"linf", "l1", "l2"});
      visit.choice("space", space,
                   "columns scaled by their deviation on the pool with categorical mismatch 1, or as they are",
                   {"scaled", "raw"});
      visit.choice(
          "class", of_class,
          "what is explained at antecedents: the query's target, their own predicted class, or the query's target "
          "at rows of its predicted class alone; auto: query, or same where the pool's explanations are given",
          {"auto", "query", "own", "same"});
      visit.choice("norm", norm, "explanations of antecedents as they are, or each scaled to unit l2 norm",
                   {"raw", "unit"});
      visit.choice(
          "method", method,
          "what explains antecedents, with its options in brackets; auto: as the member was explained, without a "
          "member tree_shap for trees, else exact_shapley up to 16 players and kernel_shap beyond",
          method_words());
    }
  };
  explicit Ava(Options options) : options_(std::move(options)) {}

  AggregateNeeds needs(const AggregateNeeds& by_default) const override {
    AggregateNeeds made = by_default;
    made.reference = false;  // some methods use none, and given explanations need no more: refuses() looks
    return made;
  }

  std::optional<Refusal> refuses(const AggregateTask& task) const override {
    if (task.members.size() > 1) {
      return fmt::format("takes one member, whose neighbours it explains, and there are {}", task.members.size());
    }
    const AtAntecedents explained = what_is_explained(options_.of_class, task);
    if (explained == AtAntecedents::own && task.subject.targets->information) {
      return "cannot explain the information form for an antecedent's own class: it has no class";
    }
    if (!from_files(task)) return refuses_to_explain(options_.explained_by, task);
    if (options_.explained_by) {
      return fmt::format("has explanations of the pool already, and method={} would make others",
                         options_.explained_by->name);
    }
    return refuses_given(explained, task);
  }

  bool takes_raw_members() const override { return true; }
  bool adds_up() const override { return options_.norm == "raw"; }

  void combine(const AggregateTask& task, const Members& /*members*/, Combined& out,
               const Context& context) const override {
    const AtAntecedents explained = what_is_explained(options_.of_class, task);
    Kinds kinds;
    if (explained == AtAntecedents::same) kinds = same_kinds(task, out, context);
    AntecedentSearch search{.k = static_cast<size_t>(options_.k)};
    if (options_.rho != "linf") search.norm = options_.rho == "l1" ? Norm::l1 : Norm::l2;
    if (options_.space == "raw") search.space = Space::raw;
    search.pool_kinds = kinds.pool;
    search.query_kinds = kinds.queries;
    search.in_pool = task.subject.in_pool;
    const Antecedents antecedents = find_antecedents(*task.subject.pool, task.subject.rows->x.view(), search, context);
    list_antecedents(antecedents, std::min(search.k, task.subject.pool->rows()), out);
    note_antecedents(antecedents, explained, search.k, out);

    Valuations found;
    ExplainedPairs made;
    if (from_files(task)) {
      for (const Antecedent& each : antecedents.items) found.places.push_back(each.row);
      task.pool_members[0]->need(found.places, context);
      found.values = task.pool_members[0]->values();
    } else {
      const std::vector<uint32_t> targets = explained == AtAntecedents::own
                                                ? own_targets(task, antecedents, out, context)
                                                : query_targets(task, antecedents);
      std::vector<RowTarget> wanted;
      for (size_t i = 0; i < targets.size(); i++) wanted.push_back({antecedents.items[i].row, targets[i]});
      const Explained how = how_explained(options_.explained_by, task, context.seed);
      Context inner = context;
      inner.seed = how.seed;
      made = explain_pairs(how.method, explain_task_of(task.subject), *task.subject.pool, wanted, inner);
      for (const RowTarget& pair : wanted) found.places.push_back(made.find(pair));
      found.values = made.values.view();
      found.error = made.error.view();
      found.base = made.base;
      found.output = made.output;
      out.evaluations += made.evaluations;
      note_explained(how, made, out);
    }
    Matrix scaled;
    if (options_.norm == "unit") {
      scaled = unit_rows_of(found);
      found = {.places = std::move(found.places), .values = scaled.view()};
      out.notes.emplace_back("explanations of antecedents have unit norm, so that values add up to nothing");
    }
    add_up_antecedents(antecedents, found, out, context);
  }

 private:
  Options options_;
};

std::unique_ptr<Aggregator> make_ava(const Spec& spec) {
  Spec rest{spec.name};
  std::optional<Spec> method;
  for (const auto& option : spec.options) {
    if (option.first == "method") {
      method = nested_method(option.second);
    } else {
      rest.options.push_back(option);
    }
  }
  auto options = options_from<Ava::Options>(rest);
  options.explained_by = std::move(method);
  return std::make_unique<Ava>(std::move(options));
}

StudyDefaults ava_defaults(const Subject& subject, bool named) {
  const size_t players = subject.players->size();
  if (named || players <= kWidePlayers) return {};
  if (subject.model->rescalable() != nullptr) {
    return {.options = {{"method", "deeplift", "Shapley values of every antecedent would take hours"}}};
  }
  return {.left_out = fmt::format(
              "ava explains the antecedents of every row and neighbour by Shapley values, which takes too long for {} "
              "players: name it among the aggregators, with a method, to have it",
              players)};
}

}  // namespace

AggregatorInfo ava_aggregator() {
  AggregatorInfo info = with_aggregator_options<Ava>(
      {.name = "ava",
       .title = "Aggregate valuation of antecedents: what the nearest training rows are explained by",
       .family = "sensitivity",
       .citation = "Bhatt, Weller, Moura (2020)",
       .guarantee =
           "with Shapley values: the Shapley values of the antecedents' weighted game, which add up to its value",
       .cost = "an explanation of each antecedent, each once; the search for neighbours",
       .needs = {.members = 0, .model = true, .reference = true, .pool = true},
       .study_defaults = ava_defaults});
  info.make = make_ava;
  return info;
}

}  // namespace assay
