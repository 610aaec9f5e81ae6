// IDX, the format of MNIST: two zero bytes, a type, a number of dimensions, the dimensions and the data, all of it
// big-endian. See http://yann.lecun.com/exdb/mnist.
#pragma once

#include "assay/data/io/npy.h"

namespace assay {

// The whole array; the source must end with it.
NpyArray read_idx(ByteSource& source);

// uint8, int8, int16, int32, float32 and float64 can be written; where names the file, for messages.
void write_idx(std::string_view where, AtomicFile& file, const NpyArray& array);

}  // namespace assay
