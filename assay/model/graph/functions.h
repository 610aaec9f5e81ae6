// Operators that a model brings itself, replaced by what they are made of.
#pragma once

#include <string_view>

#include "assay/core/context.h"
#include "assay/model/graph/onnx.h"

namespace assay {

// Replaces every node of the graph that calls one of model.functions by the nodes of that function, calls inside
// functions included; no functions are left afterwards, and what they import the model imports. A call is matched by
// domain, name and overload, and a function stands before an operator of the same name, as ONNX has it. Nodes and
// values of a body are named after the call ("call/relu", "call/hidden") and never like something else of the model.
// An attribute that refers to one of the function takes the value of the call, else the default, else it is left out,
// as in ONNX's own inliner.
//
// An input error, which starts with `where`, names the call, the function and the node: functions that call themselves,
// calls more than 32 deep, more memory in all than the budget has, values that are not there or made twice, and
// functions that use another version of a domain than the model does. Graphs inside attributes are left out of copies:
// no operator of the engine takes one, so their nodes are refused by name later.
void inline_functions(std::string_view where, OnnxModel& model, const Context& context = {});

}  // namespace assay
