// From encoded rows to a model file that can be used, explained and trained again: which network, how it is trained,
// and what the file says about itself.
//
// The file's metadata holds, in this order: the encoder (where there is one) and what becomes of categories that it
// does not know (where they are not refused), feature names, class names (of a classification) and the recipe as JSON,
// with seed, rows and what training reached. It holds no time and no path: the same recipe, rows and seed give the same
// bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/core/context.h"
#include "assay/data/dataset.h"
#include "assay/data/encoder.h"
#include "assay/model/graph/onnx.h"
#include "assay/model/train/networks.h"
#include "assay/model/train/train.h"

namespace assay {

// What suits images: an epoch is many steps, and each takes long.
struct ImageTrainOptions : TrainOptions {
  ImageTrainOptions() {
    epochs = 3;
    batch = 64;
    rate = 0.001;
    patience = 0;
    validation = 0.05;
  }
};

struct Recipe {
  bool convolutions = false;  // the CNN on images; else the MLP
  MlpOptions mlp = {};
  CnnOptions cnn = {};
  TrainOptions training = {};
  // What the model does with a category that its training rows did not have: refuse the row, or take it for unknown.
  std::string unseen = "refuse";
};

// The key of Recipe::unseen in the metadata: "unknown", or left out if rows are refused.
inline constexpr std::string_view kUnseenKey = "assay.unseen";
// An input error, starting with `where`, when it is neither refuse nor unknown.
void check_unseen(std::string_view where, std::string_view unseen);
bool takes_unknown(const std::vector<std::pair<std::string, std::string>>& metadata);

// The paper's: one hidden layer of 40 leaky ReLUs for tables, two convolutions of 5 x 5 for images.
Recipe table_recipe();
Recipe image_recipe();

// What is trained on rows of this shape where nobody chooses a network; docs/models.md lists it. Rows that are no
// images (height x width, or channels x height x width) get table_recipe(). For images the smaller side decides:
//   16 pixels and more   image_recipe()
//   4 to 15              convolutions of 3 x 3 over an image padded with zeros, each followed by the pool of 2 x 2
//   2 and 3              the same without pools, which would leave nothing
//   1                    no convolution, which needs neighbours on two sides: the table's hidden layer
// Small images are trained for more epochs, because there are seldom many of them.
Recipe recipe_for(const std::vector<size_t>& item_shape);
// Kernel, pool and padding as above, chosen so that this many convolutions leave something of the image. If rows are no
// images, those of the paper.
CnnOptions cnn_options_for(const std::vector<size_t>& item_shape, size_t convolutions);

// Sets validation rows aside (with the classes' shares), builds the network from the context's seed and trains it.
// encoder: what made the data from raw rows, to be stored with the model; may be null.
TrainResult train_recipe(const Recipe& recipe, const Dataset& data, const Encoder* encoder, const Context& context,
                         const EpochCallback& report = {});

// The recipe in a model's metadata, followed again on other rows of the same features and classes, from another seed.
// `where` names the model. The metadata is hostile: everything in it is checked.
OnnxModel retrain(std::string_view where, const std::vector<std::pair<std::string, std::string>>& metadata,
                  const Dataset& data, uint64_t seed, const Context& context);
// Whether retrain can work: the metadata holds a recipe.
bool has_recipe(const std::vector<std::pair<std::string, std::string>>& metadata);

}  // namespace assay
