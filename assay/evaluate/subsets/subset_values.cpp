#include "assay/evaluate/subsets/subset_values.h"

#include <algorithm>
#include <cassert>
#include <vector>

#include "assay/core/error.h"
#include "assay/explain/games/play.h"

namespace assay {
namespace {

bool same_coalitions(const Coalitions& a, const Coalitions& b) {
  if (a.players() != b.players() || a.size() != b.size()) return false;
  for (size_t c = 0; c < a.size(); c++) {
    for (size_t w = 0; w < a.words(); w++) {
      if (a.word(c, w) != b.word(c, w)) return false;
    }
  }
  return true;
}

}  // namespace

const SubsetValues::Held* SubsetValues::find(const SubsetDesign& design) const {
  const auto found =
      std::ranges::find_if(held_, [&](const Held& each) { return same_coalitions(each.kept, design.kept()); });
  return found == held_.end() ? nullptr : &*found;
}

const SubsetValues::Held& SubsetValues::of(const SubsetDesign& design) const {
  const Held* found = find(design);
  if (found == nullptr) throw Error(ErrorKind::internal, "values of subsets that were never held");
  return *found;
}

bool SubsetValues::hold(const Game& game, std::span<const SubsetDesign> designs, const Context& context,
                        std::string_view task) {
  evaluations_ = 0;
  const size_t rows = game.rows();
  const size_t references = game.references();
  const bool one = references == 1;
  const size_t each = one ? sizeof(float) : sizeof(double);
  std::vector<const SubsetDesign*> missing;
  double bytes = 0;
  size_t subsets = 0;
  for (const SubsetDesign& design : designs) {
    if (const Held* known = find(design); known != nullptr) {
      if ((one ? known->values.rows() : known->sums.rows()) == rows) continue;
      throw Error(ErrorKind::internal, "values of subsets are held for another game");
    }
    missing.push_back(&design);
    subsets += design.size();
    bytes += static_cast<double>(rows) * static_cast<double>(design.size()) * static_cast<double>(each);
  }
  if (static_cast<double>(bytes_) + bytes > static_cast<double>(most_bytes_)) return false;
  if (missing.empty()) return true;
  std::vector<Held> made;
  std::vector<Coalitions> kept;
  for (const SubsetDesign* design : missing) {
    kept.push_back(design->kept());
    made.push_back({design->kept(), one ? Matrix(rows, design->size()) : Matrix(),
                    one ? Matrix64() : Matrix64(rows, design->size())});
  }
  struct Nothing {};
  play(
      game, all_rows(rows), kept, context, task, [](size_t /*row*/) { return Nothing{}; },
      [&](Nothing& /*state*/, size_t row, size_t /*reference*/, size_t part, std::span<const float> found) {
        if (one) {
          std::ranges::copy(found, made[part].values.row(row).begin());
          return;
        }
        const std::span<double> sums = made[part].sums.row(row);
        for (size_t i = 0; i < found.size(); i++) sums[i] += found[i];
      },
      [](const Nothing& /*state*/, size_t /*row*/) {});
  for (Held& each_made : made) held_.push_back(std::move(each_made));
  bytes_ += static_cast<size_t>(bytes);
  if (counted_) evaluations_ = static_cast<uint64_t>(rows) * references * subsets;
  return true;
}

}  // namespace assay
