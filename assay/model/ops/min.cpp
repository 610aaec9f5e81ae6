// Min: the smallest of one or more inputs, broadcast; extremum.h has the conventions.
#include "assay/model/ops/extremum.h"

namespace assay {

std::unique_ptr<Kernel> make_min(NodeSetup& setup) { return make_extremum<SmallerWins>(setup); }

}  // namespace assay
