// For tests that hold on every vector target.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "assay/core/vector_target.h"

namespace assay {

// Those of the machine, asked before any test pins one: from then on there seems to be no other.
inline const std::vector<std::string> kTargetsOfMachine = vector_targets();

// Calls act() with one target after another, up to the first fatal failure.
template <class Act>
void on_every_target(const Act& act) {
  const std::string before = vector_target();
  for (const std::string& target : kTargetsOfMachine) {
    SCOPED_TRACE(target);
    pin_vector_target(target);
    act();
    if (::testing::Test::HasFatalFailure()) break;
  }
  pin_vector_target(before);
}

}  // namespace assay
