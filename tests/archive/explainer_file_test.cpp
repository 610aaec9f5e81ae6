// A saved explainer gives the bits of the one that was saved; files that are spoilt or do not fit are refused.
#include "assay/archive/explainer_file.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "assay/archive/io/explainer_json.h"
#include "assay/model/graph/onnx.h"
#include "assay/model/model_file.h"
#include "tests/explain/contract_cases.h"
#include "tests/message.h"

namespace assay::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class ExplainerFile : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    path_ = (fs::temp_directory_path() / (std::string("assay_explainer_") + info->name() + ".npz")).string();
    fs::remove(path_);
  }
  void TearDown() override { fs::remove(path_); }

  std::string path_;
};

std::string model_path(const std::string& name) {
  return std::string(ASSAY_SOURCE_DIR) + "/tests/fixtures/" +
         (name.starts_with("trees/") ? name : "models/" + name + "/model.onnx");
}

OwnedSubject subject_of_case(const Case& each) {
  OwnedSubject made;
  made.model = each.setting.model;
  made.players = each.setting.players;
  made.reference = each.setting.reference;
  return made;
}

Dataset rows_of_case(const Case& each) {
  Dataset made;
  made.source = "rows";
  made.feature_names = each.setting.model->info().feature_names;
  made.x = each.setting.rows;
  return made;
}

SavedExplainer saved_case(const PreparedExplainer& explainer, const std::string& model) {
  SavedExplainer saved = saved_explainer(explainer);
  saved.model = serialise_onnx(read_model(model_path(model)));
  return saved;
}

std::string bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(ExplainerFile, GivesTheSameBits) {
  const std::vector<std::pair<std::string, std::string>> pairs = {
      {"trees/xgboost_three/model.json", "tree_shap"},
      {"trees/xgboost_three/model.json", "tree_shap_path"},
      {"trees/lightgbm_deep/model.txt", "tree_shap"},
      {"torch_mlp_script", "kernel_shap:samples=100"},
      {"torch_mlp_script", "gradient"},
      {"torch_mlp_script", "lime:samples=100"},
      {"torch_mlp_script", "shapley_sampling"},
      {"torch_mlp_script", "smooth_grad"},
  };
  for (const auto& [model, method] : pairs) {
    SCOPED_TRACE(method + " of " + model);
    const Case each = fixture(model, !model.starts_with("trees/"));
    const Spec spec = parse_spec("method", method);
    for (const TargetChoice choice : {TargetChoice{.predicted = true}, TargetChoice{.which = 1}}) {
      if (each.setting.model->info().class_names.empty() && (choice.predicted || choice.which > 0)) continue;
      const PreparedExplainer saved(spec, subject_of_case(each), choice, 7, {});
      write_explainer(saved_case(saved, model), path_, {});
      const auto opened = open_explainer(path_, {});
      const Dataset rows = rows_of_case(each);
      const Explanations expected = saved.explain(rows, {});
      const Explanations found = opened->explain(rows, {});
      expect_same_rows(found, expected, 0, rows.rows());
      EXPECT_TRUE(same_bits<double>(found.base, expected.base));
      EXPECT_TRUE(same_bits<double>(found.output, expected.output));
      EXPECT_EQ(found.target, expected.target);
      EXPECT_EQ(found.provenance.seed, 7U);
      EXPECT_EQ(found.provenance.reference, expected.provenance.reference);
    }
  }
}

SavedExplainer small_case() {
  const Case each = fixture("torch_mlp_script");
  OwnedSubject subject = subject_of_case(each);
  auto pool = std::make_shared<Dataset>(rows_of_case(each));
  pool->source = "training rows";
  pool->part = "train";
  pool->label_name = "kind";
  pool->labels.assign(pool->rows(), 1);
  pool->class_names = {"a", "b"};
  pool->id_name = "number";
  for (size_t r = 0; r < pool->rows(); r++) pool->ids.push_back("row \xc3\xa9" + std::to_string(r));
  subject.pool = pool;
  subject.words = {.rows = "", .pool = "pool's words", .players = "columns"};
  subject.reference.scales.assign(pool->x.cols(), 0.1F);
  subject.reference.drawn_from = 77;
  subject.reference.strata = true;
  const PreparedExplainer explainer({"gradient", {}}, subject, TargetChoice{}, 1, {});
  SavedExplainer saved = saved_case(explainer, "torch_mlp_script");
  saved.unit = "margin";
  saved.texts = {{1, {"x", "y"}}};
  saved.columns.item_shape = {saved.columns.feature_names.size()};
  saved.front_end = "{\"any\": \"text\"}";
  return saved;
}

TEST_F(ExplainerFile, KeepsAllOfIt) {
  const SavedExplainer saved = small_case();
  write_explainer(saved, path_, {});
  const SavedExplainer read = read_explainer(NpzFile(path_));
  EXPECT_EQ(explainer_json("", read), explainer_json("", saved));
  EXPECT_EQ(read.model, saved.model);
  EXPECT_EQ(read.players.of_column, saved.players.of_column);
  EXPECT_TRUE(same_bits<float>(read.reference.rows.values(), saved.reference.rows.values()));
  EXPECT_EQ(read.reference.scales, saved.reference.scales);
  EXPECT_TRUE(read.reference.strata);
  EXPECT_EQ(read.reference.drawn_from, 77U);
  ASSERT_NE(read.pool, nullptr);
  EXPECT_TRUE(same_bits<float>(read.pool->x.values(), saved.pool->x.values()));
  EXPECT_EQ(read.pool->labels, saved.pool->labels);
  EXPECT_EQ(read.pool->ids, saved.pool->ids);
  EXPECT_EQ(read.texts, saved.texts);
  EXPECT_EQ(read.front_end, saved.front_end);
  // The same explainer gives the same file.
  const std::string first = bytes_of_file(path_);
  write_explainer(read, path_, {});
  EXPECT_EQ(bytes_of_file(path_), first);
}

TEST_F(ExplainerFile, RefusesWhatDoesNotFit) {
  const SavedExplainer sound = small_case();
  const auto refused = [&](const std::function<void(SavedExplainer&)>& change) {
    SavedExplainer saved = sound;
    change(saved);
    write_explainer(saved, path_, {});
    return sentence([&] { open_explainer(path_, {}); });
  };
  EXPECT_EQ(refused([](SavedExplainer& saved) { saved.texts.clear(); }), "no error");
  EXPECT_THAT(refused([](SavedExplainer& saved) { saved.players.of_column[0] = 99; }), HasSubstr("numbers of"));
  EXPECT_THAT(refused([](SavedExplainer& saved) { saved.players.names.emplace_back("ghost"); }),
              HasSubstr("a column for each player, found none for 'ghost'"));
  EXPECT_THAT(refused([](SavedExplainer& saved) { saved.reference.rows = Matrix(2, 1); }), HasSubstr("reference"));
  EXPECT_THAT(refused([](SavedExplainer& saved) { saved.reference.scales.pop_back(); }), HasSubstr("scales"));
  EXPECT_THAT(refused([](SavedExplainer& saved) { saved.choice->which = 50; }), HasSubstr("a target below"));
  EXPECT_THAT(refused([](SavedExplainer& saved) { saved.method.name = "magic"; }), HasSubstr("magic"));
  EXPECT_THAT(refused([](SavedExplainer& saved) { saved.unit = "euro"; }), HasSubstr("as 'unit', found 'euro'"));
  EXPECT_THAT(refused([](SavedExplainer& saved) { saved.texts[1].emplace_back("x"); }), HasSubstr("texts once"));
  EXPECT_THAT(refused([](SavedExplainer& saved) { saved.columns.item_shape = {3}; }), HasSubstr("item_shape"));
  EXPECT_THAT(refused([](SavedExplainer& saved) { saved.columns.groups = {{.name = "a", .first = 1}}; }),
              HasSubstr("a group that starts at column 0"));
  EXPECT_THAT(refused([](SavedExplainer& saved) { saved.model = "no model"; }), HasSubstr("ONNX"));
  EXPECT_THAT(refused([](SavedExplainer& saved) {
                saved.columns.feature_names.pop_back();
                saved.columns.item_shape.clear();
                saved.players.of_column.pop_back();
                saved.players.names.pop_back();
                saved.reference.scales.pop_back();
                saved.reference.rows = Matrix(1, saved.columns.feature_names.size());
                saved.pool = nullptr;
              }),
              HasSubstr("columns, as its model takes them"));
}

// Any change of its bytes is refused or changes nothing: entries of the archive have checksums.
TEST_F(ExplainerFile, SpoiltFilesAreRefused) {
  SavedExplainer saved = small_case();
  write_explainer(saved, path_, {});
  const std::string sound = bytes_of_file(path_);
  const std::string meta = explainer_json("", saved);
  for (size_t at = 0; at < sound.size(); at += 1 + sound.size() / 700) {
    std::string spoilt = sound;
    spoilt[at] = static_cast<char>(spoilt[at] ^ 0x41);
    try {
      EXPECT_EQ(explainer_json("", read_explainer(NpzFile("spoilt", spoilt))), meta);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input) << error.what();
    }
    EXPECT_NE(sentence([&] { read_explainer(NpzFile("cut", std::string_view(sound).substr(0, at))); }), "no error");
  }
}

TEST_F(ExplainerFile, TheModelMustHaveItsHash) {
  SavedExplainer saved = small_case();
  const std::string meta = explainer_json("", saved);
  saved.model.back() = static_cast<char>(saved.model.back() ^ 1);
  const std::vector<std::pair<std::string, NpyArray>> arrays = {
      {"meta", npy_from_string("", meta)},
      {"model", {.type = NpyType::uint8, .item_size = 1, .shape = {saved.model.size()}, .bytes = saved.model}}};
  write_npz(path_, arrays, false);
  EXPECT_THAT(sentence([&] { open_explainer(path_, {}); }), HasSubstr("the model with SHA-256 "));
  std::string other = meta;
  other.replace(other.find("explainer/1"), 11, "explainer/2");
  write_npz(path_, {{"meta", npy_from_string("", other)}}, false);
  EXPECT_THAT(sentence([&] { open_explainer(path_, {}); }),
              HasSubstr("expected \"assay.explainer/1\" as 'schema', found 'assay.explainer/2'"));
  write_npz(path_, {{"values", npy_from_doubles(std::vector<double>{1, 2})}}, false);
  EXPECT_THAT(sentence([&] { open_explainer(path_, {}); }), HasSubstr("expected an array 'meta', found none"));
}

}  // namespace
}  // namespace assay::testing
