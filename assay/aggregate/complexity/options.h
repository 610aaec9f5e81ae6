// Options that several complexity aggregators have.
#pragma once

#include <cstdint>
#include <string>

#include "assay/core/options.h"

namespace assay {

struct FloorOption {
  double floor = 0.05;

  void describe(OptionVisitor& visit) {
    visit.real(
        "floor", floor,
        "least l1 norm of a result that is no member, in units of a member's l2 norm: near the origin entropy is that "
        "of rounding noise",
        "", 0, 1);
  }
};

// Options of walks (walk.h).
struct WalkOptions {
  std::string step = "exact";
  double size = 0.1;

  void describe(OptionVisitor& visit) {
    visit.choice("step", step,
                 "how a coordinate moves: as far as it lowers entropy, by a fixed length at a time, or in proportion "
                 "to the derivative of entropy, as in the paper's Algorithm 1",
                 {"exact", "fixed", "derivative"});
    visit.real("size", size,
               "length of a fixed step, in units of 1 / sqrt(d), the size of a unit member's coordinates; what the "
               "derivative is multiplied by (the paper's alpha)",
               "", 0.001, 1000);
  }
};

// Options of the shrinking region (shrink.h).
struct ShrinkOptions {
  int64_t rounds = 10;
  int64_t keep = 10;
  std::string candidates = "all";

  void describe(OptionVisitor& visit) {
    visit.integer("rounds", rounds, "most rounds; it ends earlier when one finds nothing new", "", 1, 10000);
    visit.integer("keep", keep, "how many of the simplest points go on to the next round", "", 2, 1000);
    visit.choice("candidates", candidates,
                 "from which points the next round is chosen: those of the segments and of the last round, or those of "
                 "the segments alone, as the paper prints it",
                 {"all", "pairs"});
  }
};

}  // namespace assay
