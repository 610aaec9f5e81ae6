// Any text as a list of items with options. Items that are written and read again must be the same, and options must be
// in their ranges.
#include "assay/core/options.h"

#include <string>
#include <vector>

#include "fuzz/harness.h"

namespace {

struct Options {
  int64_t count = 4;
  double share = 0.5;
  bool flag = false;
  std::string word = "a";
  std::optional<double> radius = {};
  std::optional<int64_t> size = {};
  std::vector<double> weights = {1};
  void describe(assay::OptionVisitor& visit) {
    visit.integer("count", count, "", "", 1, 9);
    visit.real("share", share, "", "", 0, 1);
    visit.flag("flag", flag, "");
    visit.choice("word", word, "", {"a", "b"});
    visit.real_or("radius", radius, "auto", "", "", 0, 1);
    visit.integer_or("size", size, "auto", "", "", 0, 9);
    visit.reals("weights", weights, "", "", 0, 1);
  }
};

void check(const assay::Spec& spec) {
  const Options read = assay::options_from<Options>(spec);
  assay::fuzz::require(read.count >= 1 && read.count <= 9 && read.share >= 0 && read.share <= 1);
  assay::fuzz::require(!read.radius || (*read.radius >= 0 && *read.radius <= 1));
  assay::fuzz::require(!read.weights.empty());
  for (const double weight : read.weights) assay::fuzz::require(weight >= 0 && weight <= 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<assay::Spec> specs;
  if (!assay::fuzz::succeeds([&] { specs = assay::parse_specs("fuzz", assay::fuzz::bytes_of(data, size)); })) return 0;
  for (const assay::Spec& spec : specs) {
    const assay::Spec again = assay::parse_spec("again", assay::spec_text(spec));
    assay::fuzz::require(again.name == spec.name && again.options == spec.options);
    assay::fuzz::succeeds([&] { check(spec); });
  }
  return 0;
}
