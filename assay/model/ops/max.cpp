// Max: the largest of one or more inputs, broadcast; extremum.h has the conventions.
#include "assay/model/ops/extremum.h"

namespace assay {

std::unique_ptr<Kernel> make_max(NodeSetup& setup) { return make_extremum<LargerWins>(setup); }

}  // namespace assay
