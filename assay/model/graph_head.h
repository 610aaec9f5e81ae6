// Which value of a graph is explained: the scores among its outputs, and what they are a function of.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/model/graph/graph.h"
#include "assay/model/model.h"

namespace assay {

// How scores become probabilities.
enum class Link {
  none,     // they do not, or are probabilities already
  softmax,  // over all outputs
  sigmoid,  // each by itself; a single output is that of the positive class
};

struct GraphHead {
  std::string output;       // the graph's output that holds the scores
  std::string margin;       // the value before the link; empty when the graph has only probabilities
  std::string probability;  // the value after the link, which a regression may have too; or empty
  Link link = Link::none;
  bool classification = false;
  bool transformed = false;              // of a regression: the margin is not yet what it predicts
  bool one_vs_rest = false;              // sigmoids, normalised to sum to 1: no log-odds from margins
  std::vector<std::string> class_names;  // as the graph's nodes tell them; may be empty
  std::string reason;                    // how it was recognised, in words for users; may be empty for a regression
};

// Finds the head; adds nodes to the graph where a classifier node must also give its raw scores.
GraphHead find_head(Graph& graph);

// The value to explain in this unit. Adds nodes to the graph if needed, and sets info.unit and info.note. An input
// error if the graph cannot give it.
std::string explained_value(Graph& graph, const GraphHead& head, std::optional<OutputUnit> wanted, ModelInfo& info);

}  // namespace assay
