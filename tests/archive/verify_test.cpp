// A study against its second run, on the same machine and on one that rounds differently.
#include "assay/archive/verify.h"

#include <gmock/gmock.h>

#include <cmath>
#include <string>
#include <vector>

#include "assay/data/io/npy.h"
#include "assay/data/io/npz.h"
#include "tests/archive/study_folders.h"
#include "tests/message.h"

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(Folders, ASecondRunIsTheSameBitForBit) {
  const Study study = study_of({{old_values(), new_values(), old_values()}});
  write("a", study);
  write("b", study);
  put("b/run.json", "other times");
  const FolderComparison found = compare_study_folders(path("a"), path("b"), {});
  EXPECT_TRUE(found.exact);
  EXPECT_THAT(found.same, ElementsAre("explanations/k.npz", "scores.csv", "scores/k.json", "study.json"));
  EXPECT_TRUE(found.different.empty());
}

TEST_F(Folders, EveryDifferenceIsFound) {
  const Study study = study_of({{old_values(), new_values(), old_values()}});
  const auto changed = [&](const auto& change) {
    write("a", study);
    fs::remove_all(path("b"));
    write("b", study);
    change();
    const FolderComparison found = compare_study_folders(path("a"), path("b"), {});
    EXPECT_EQ(found.different.size(), 1U);
    return found.different.empty() ? std::string() : found.different[0];
  };
  EXPECT_EQ(changed([&] { replace("b/study.json", "\"mean\": 2.5", "\"mean\": 2.6"); }),
            "study.json: 1 field differs, entries[0].scores[0].mean: recorded '2.5', found '2.6'");
  EXPECT_EQ(changed([&] { put("b/study.json", get("b/study.json") + "\n"); }),
            "study.json: the bytes differ, though they say the same");
  EXPECT_EQ(changed([&] { replace("b/scores.csv", "2,yes,k,2,4,2", "2,yes,k,2,4.5,2"); }),
            "scores.csv: line 3 differs: recorded '2,yes,k,2,4,2', found '2,yes,k,2,4.5,2'");
  EXPECT_THAT(changed([&] { replace("b/scores/k.json", "[1.0,2.0,3.0,4.0]", "[1.0,2.0,3.0]"); }),
              HasSubstr("scores/k.json: 1 field differs, scores[0].values: recorded 4 items, found 3 items"));
  EXPECT_THAT(changed([&] {
                Explanations made = study.entries[0].explanations;
                made.values(0, 1) = 1;
                write_explanations(made, path("b/explanations/k.npz"), {});
              }),
              HasSubstr("explanations/k.npz: recorded sha256 "));
  EXPECT_EQ(changed([&] { fs::remove(path("b/explanations/k.npz")); }),
            "explanations/k.npz: recorded, but the new run has none");
  EXPECT_EQ(changed([&] { put("b/scores/l.json", "{}"); }), "scores/l.json: not recorded, but the new run has one");
}

// A study by AVX2 in "a", and in "b" what another target made of it: explanations and scores of its own, from which
// nothing follows, because study.json and the table are those of the recorded parts.
class OtherTarget : public Folders {
 protected:
  OtherTarget() {
    write("a", recorded_);
    made_again(recorded_);
  }
  // What is different in the entries of `parts` is so in "b".
  FolderComparison made_again(const Study& parts) {
    fs::remove_all(path("b"));
    write("b", parts);
    Study whole = recorded_;
    whole.facts.vector_target = "NEON";
    put("b/study.json", study_json(whole, {}));
    put("b/scores.csv", scores_csv(whole));
    return compare_study_folders(path("a"), path("b"), {});
  }
  std::vector<std::string> different() const { return compare_study_folders(path("a"), path("b"), {}).different; }

  const Study recorded_ = study_of({{old_values(), new_values(), old_values()}});
};

TEST_F(OtherTarget, MayRoundDifferently) {
  Study near = recorded_;
  Explanations& made = near.entries[0].explanations;
  // The row has output 1, base 0 and attributions 2 and 0, and no row has more than 4 in place of 2: the scale is
  // 1 + 2 + 0.1 (1 + 4) = 3.5, and attributions and gaps may be 3.5e-5 apart.
  made.values(1, 0) += 3e-5F;
  made.values(1, 1) += 3e-5F;
  made.gap[1] -= 3e-5;
  made.output[1] += 0.9e-5;                     // of the largest output, which is 1
  near.entries[0].scores[0].values[1] += 2e-4;  // a correlation: 1e-4 of itself, which is 2 here, and 1e-4
  const FolderComparison found = made_again(near);
  EXPECT_FALSE(found.exact);
  EXPECT_THAT(found.why_not_exact, AllOf(HasSubstr("AVX2"), HasSubstr("NEON"), HasSubstr("recorded parts")));
  EXPECT_THAT(found.different, ElementsAre());
  EXPECT_EQ(found.same.size(), 4U);
}

TEST_F(OtherTarget, MayNotDifferByMore) {
  const auto changed = [&](const auto& change) {
    Study far = recorded_;
    change(far.entries[0]);
    const FolderComparison found = made_again(far);
    EXPECT_EQ(found.different.size(), 1U);
    return found.different.empty() ? std::string() : found.different[0];
  };
  EXPECT_THAT(changed([](StudyEntry& entry) { entry.explanations.values(1, 0) += 4e-5F; }),
              HasSubstr("explanations/k.npz: 'values' of row 2: recorded 2, found 2.00004"));
  EXPECT_THAT(changed([](StudyEntry& entry) { entry.explanations.values(1, 1) = 4e-5F; }),
              HasSubstr("explanations/k.npz: 'values' of row 2: recorded 0, found 3.99"));
  EXPECT_THAT(changed([](StudyEntry& entry) { entry.explanations.gap[2] = NAN; }), HasSubstr("'gap' of row 3"));
  EXPECT_THAT(changed([](StudyEntry& entry) { entry.explanations.gap[2] = 1e-4; }), HasSubstr("'gap' of row 3"));
  EXPECT_THAT(changed([](StudyEntry& entry) { entry.explanations.output[0] = 1.0001; }),
              HasSubstr("'output' of row 1: recorded 1, found 1.0001, which may be 1e-05 apart"));
  EXPECT_THAT(changed([](StudyEntry& entry) { entry.explanations.target_names = {"no"}; }),
              HasSubstr("explanations/k.npz: the targets: recorded 'yes', found 'no'"));
  EXPECT_THAT(changed([](StudyEntry& entry) { entry.explanations.features = {"a", "c"}; }), HasSubstr("the features"));
  EXPECT_THAT(changed([](StudyEntry& entry) { entry.explanations.provenance.seed = 3; }), HasSubstr("the seed"));
  EXPECT_THAT(changed([](StudyEntry& entry) { entry.explanations.standard_error = Matrix(4, 2); }),
              HasSubstr("the array 'stderr' is 4 x 2, recorded was 0 x 0"));
  EXPECT_THAT(changed([](StudyEntry& entry) { entry.scores[0].values[1] += 4e-4; }),
              HasSubstr("scores/k.json: faithfulness of row 2: recorded 2, found 2.0004"));
  EXPECT_THAT(changed([](StudyEntry& entry) { entry.scores[1].mean += 1e-2; }), HasSubstr("the mean of complexity"));
  EXPECT_THAT(changed([](StudyEntry& entry) { entry.scores[1].interval.low = 0; }),
              HasSubstr("the interval's low end"));
  EXPECT_THAT(changed([](StudyEntry& entry) { entry.evaluations++; }), HasSubstr("the evaluations"));
  EXPECT_THAT(changed([](StudyEntry& entry) { entry.scores[1].notes = {"another"}; }), HasSubstr("the notes"));
}

// They follow from recorded scores, by the same steps: nothing is left to rounding but the last digits of a p-value.
TEST_F(OtherTarget, ConclusionsAndTablesAreTheSame) {
  replace("b/study.json", "\"mean\": 2.5", "\"mean\": 2.50001");
  EXPECT_THAT(different(), ElementsAre(HasSubstr("study.json: 1 field differs, entries[0].scores[0].mean")));
  made_again(recorded_);
  replace("b/study.json", "\"verdict\": []", "\"verdict\": [\"trust k\"]");
  EXPECT_THAT(different(), ElementsAre(HasSubstr("study.json: 1 field differs, verdict")));
  made_again(recorded_);
  replace("b/scores.csv", "2,yes,k,2,4,2", "2,yes,k,2.00001,4,2");
  EXPECT_THAT(different(), ElementsAre(HasSubstr("scores.csv: line 3 differs")));
  made_again(recorded_);
  replace("b/scores/k.json", "\"stem\"", "\"remark\": \"x\", \"stem\"");
  EXPECT_THAT(different(), ElementsAre("scores/k.json: the field 'remark' is in one of the two alone"));
}

TEST_F(OtherTarget, ThePoolIsComparedLikewise) {
  const auto pool = [&](const std::string& folder, std::vector<int64_t> rows, float value) {
    fs::create_directories(path(folder + "/pool"));
    Matrix values(2, 2);
    values(1, 0) = value;
    write_npz(path(folder + "/pool/k.npz"),
              {{"rows", npy_from_int64(rows)}, {"values", npy_from_matrix(values.view())}}, false, {});
  };
  pool("a", {3, 7}, 2);
  pool("b", {3, 7}, 2.00004F);  // the largest scale of the rows is 5.5, and the attributions of this one add 2
  EXPECT_THAT(different(), ElementsAre());
  pool("b", {3, 7}, 2.0001F);
  EXPECT_THAT(different(), ElementsAre(HasSubstr("pool/k.npz: 'values' of row 2: recorded 2, found 2.00009")));
  pool("b", {3, 8}, 2);
  EXPECT_THAT(different(), ElementsAre("pool/k.npz: it has other rows"));
}

// One of four values of a stepwise criterion may jump, and its mean with it; the others are held to the tolerance.
TEST_F(OtherTarget, StepsMayJumpSeldom) {
  Study stepwise = recorded_;
  Scores& scores = stepwise.entries[0].scores[0];
  scores = scores_of("monotonicity", Direction::higher, {0, 1, 1, 0});
  write("a", stepwise);
  const auto found = [&](const Values& values) {
    Study other = stepwise;
    other.entries[0].scores[0] = scores_of("monotonicity", Direction::higher, values);
    write("b", other);
    put("b/study.json", get("a/study.json"));
    replace("b/study.json", "\"vector_target\": \"AVX2\"", "\"vector_target\": \"NEON\"");
    put("b/scores.csv", get("a/scores.csv"));
    return different();
  };
  EXPECT_THAT(found({0, 1, 1, 0}), ElementsAre());
  EXPECT_THAT(found({0, 1, 0, 0}), ElementsAre());
  EXPECT_THAT(found({0, NAN, 1, 0}), ElementsAre());
  EXPECT_THAT(found({0, 0, 0, 0}), ElementsAre(HasSubstr("monotonicity of row 3: recorded 1, found 0")));
  // A jump between 0 and undefined moves the mean as well.
  EXPECT_THAT(found({NAN, 1, 1, 0}), ElementsAre());
  Study forged = stepwise;
  forged.entries[0].scores[0].mean = 0.9;  // without a jump that would explain it
  write("b", forged);
  put("b/study.json", get("a/study.json"));
  replace("b/study.json", "\"vector_target\": \"AVX2\"", "\"vector_target\": \"NEON\"");
  EXPECT_THAT(different(), ElementsAre(HasSubstr("the mean of monotonicity: recorded 0.5, found 0.9")));
}

// The recorded error of a mean is as open to doubt as the mean: neither makes room for the other.
TEST_F(OtherTarget, ARecordedErrorAllowsNothing) {
  Study forged = recorded_;
  forged.entries[0].scores[0] = scores_of("roar", Direction::higher, {0.5, 0.51, 0.49, 0.5});
  const Study honest = forged;
  forged.entries[0].scores[0] = scores_of("roar", Direction::higher, {9e9, -9e9, 3, 3});
  write("a", forged);
  write("b", honest);
  put("b/study.json", get("a/study.json"));
  replace("b/study.json", "\"vector_target\": \"AVX2\"", "\"vector_target\": \"NEON\"");
  put("b/scores.csv", get("a/scores.csv"));
  EXPECT_THAT(different(), ElementsAre(HasSubstr("scores/k.json: the mean of roar: recorded 1.5")));
}

// Words of another version may be others, and so may its rules of what is significant.
TEST(VerifyJson, ConclusionsOfAnotherVersionAreNotCompared) {
  const auto study = [](const std::string& derived, const std::string& option) {
    return R"({"facts": {"vector_target": ")" + derived + R"(", "version": ")" + derived + R"("}, "verdict": [")" +
           derived + R"("], "warnings": [")" + derived + R"(", "x"], "criteria": [{"spec": "c", "order": [")" +
           derived + R"("]}], "entries": [{"dominated": ")" + derived + R"(", "dominated_by": ")" + derived +
           R"(", "provenance": {"options": {"order": ")" + option + R"("}}, "scores": [{"p": ")" + derived +
           R"(", "standing": ")" + derived + R"(", "options": {"p": ")" + option + R"("}}]}]})";
  };
  const std::string recorded = study("a", "1");
  EXPECT_EQ(json_difference("s", recorded, study("b", "1"), HeldTo::other_version), "");
  EXPECT_THAT(json_difference("s", recorded, study("b", "1"), HeldTo::other_target),
              HasSubstr("7 fields differ, the first is criteria[0].order[0]"));
  EXPECT_THAT(json_difference("s", recorded, study("b", "1"), HeldTo::exact), HasSubstr("9 fields differ"));
  EXPECT_THAT(json_difference("s", recorded, study("a", "2"), HeldTo::other_version),
              HasSubstr("2 fields differ, the first is entries[0].provenance.options.order"));
  const auto hash = [](const std::string& value) {
    return R"json({"facts": {"inputs": [{"role": "model (trained)", "name": "model.onnx", "sha256": ")json" + value +
           R"json("}]}})json";
  };
  EXPECT_THAT(json_difference("s", hash("1"), hash("2"), HeldTo::other_version), HasSubstr("facts.inputs[0].sha256"));
}

}  // namespace
}  // namespace assay
