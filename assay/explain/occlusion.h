// Occlusion: what the value loses when one player alone is absent (Zeiler, Fergus 2014),
//   phi_i = v(N) - v(N without i),
// with v(S) the explained value when the players of S are as in the row and all others as in the reference.
//
// A background of several rows gives the mean over them, and its standard error as background error. The values do not
// sum to output - base: what players do together is counted for each of them, or for none.
// Deviation from the paper: it slides a grey square over an image; here the squares are the players (grid groups), and
// grey is the reference.
// Cost: players + 1 evaluations for each row and reference row.
#pragma once

#include <optional>
#include <string>

#include "assay/explain/explainer.h"
#include "assay/explain/games/game.h"

namespace assay {

class Occlusion final : public Explainer {
 public:
  struct Options {
    void describe(OptionVisitor& /*visit*/) {}
  };

  explicit Occlusion(const Options& /*options*/) {}
  std::optional<std::string> refuses(const ExplainTask& task) const override;
  void attribute(const ExplainTask& task, Attributions& out, const Context& context) const override;
};

// The same for any game.
void occlusion(const Game& game, Attributions& out, const Context& context);

MethodInfo occlusion_method();

}  // namespace assay
