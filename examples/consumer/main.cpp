// Explains three flowers by two methods, scores both and their mean, and prints what each feature adds.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "assay/assay.h"

int main(int count, char** arguments) try {
  using namespace assay;
  const std::shared_ptr<EngineModel> model = EngineModel::load(count > 1 ? arguments[1] : "iris.onnx");
  OwnedSubject flowers;
  flowers.model = model;
  flowers.pool = std::make_shared<Dataset>(model->features_of(load_dataset("iris")));
  flowers.rows = std::make_shared<Dataset>(select_rows(*flowers.pool, {0, 60, 120}));
  flowers.players = group_players(*flowers.rows);
  flowers.targets = freeze_targets(*model, flowers.rows->x.view(), {.predicted = true}, {});
  flowers.reference = named_baseline("mean", flowers.pool.get(), *model, model->encoder(), {});
  const Subject subject = flowers.view();

  const std::vector<std::string> names = {"kernel_shap", "integrated_gradients"};
  const std::vector<Explanations> made = {explain({names[0]}, subject, {}), explain({names[1]}, subject, {})};
  const std::vector<const Explanations*> members = {&made[0], &made[1]};
  const Aggregate mean = aggregate({"mean"}, {.members = members, .names = names, .subject = subject}, {});
  for (const Explanations* each : {members[0], members[1], &mean.explanations}) {
    const Scores scores = evaluate({"faithfulness"}, {.explanations = *each, .subject = subject}, {}, {});
    std::printf("%s: faithfulness %.2f\n", each->provenance.method.c_str(), scores.mean);
    for (size_t row = 0; row < each->rows(); row++) {
      std::printf("  %s:", each->target_names[each->target[row]].c_str());
      for (size_t p = 0; p < each->players(); p++) {
        std::printf("  %s %+.2f", each->features[p].c_str(), each->values(row, p));
      }
      std::printf("\n");
    }
  }
} catch (const assay::Error& problem) {
  std::fprintf(stderr, "%s\n", problem.what());
  return 1;
}
