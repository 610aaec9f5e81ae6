// Loads Iris through the installed library and says how many rows it has.
#include <cstdio>

#include "assay/data/datasets.h"

int main() {
  const assay::Table iris = assay::load_dataset("iris");
  std::printf("iris has %zu rows and %zu columns\n", iris.rows(), iris.columns.size());
}
