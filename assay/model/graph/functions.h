// Replaces the functions of a model, which are operators that it defines itself, by the nodes they are made of.
#pragma once

#include <string_view>

#include "assay/core/context.h"
#include "assay/model/graph/onnx.h"

namespace assay {

// Replaces every node of the graph that calls one of model.functions by the nodes of that function, calls inside
// functions included. No functions are left afterwards, and the model imports the operators that they import. A call is
// matched by domain, name and overload, and a function takes precedence over an operator of the same name, as in ONNX.
// Nodes and values of a body are named after the call ("call/relu", "call/hidden") and never like anything else in the
// model. An attribute that refers to an attribute of the function takes its value from the call, else the default, else
// it is left out, as in ONNX's own inliner.
//
// An input error that starts with `where` names the call, the function and the node. It is for functions that call
// themselves, calls more than 32 deep, more memory in all than the budget has, values that are not there or made twice,
// and functions that use another version of a domain than the model does. Graphs inside attributes are left out of
// copies: no operator of the engine takes one, so their nodes are refused by name later.
void inline_functions(std::string_view where, OnnxModel& model, const Context& context = {});

}  // namespace assay
