#include "assay/study/reproduce/setup.h"

namespace assay {

std::vector<SetupChoice> setup_choices() {
  return {
      {"Methods", "The published estimators, every option written out.",
       "SHAP is weighted least squares without interactions (Lundberg and Lee 2017), coalitions drawn by its kernel. "
       "SS "
       "is plain permutation sampling. Defaults of this program do not matter here, and a test fails if a method gets "
       "an option that is not written out."},
      {"Networks", "As in the appendix; one for each run.",
       "One hidden layer for Iris (16 units, for the paper does not say), 40 for Adult, 16 and 16 for the clinical "
       "data, leaky ReLU, Adam. The paper has one network for each data set; ten networks show what depends on "
       "chance."},
      {"Clinical networks", "Balanced class weights, cross-entropy, early stop by AUC; judged only above AUC 0.7.",
       "A network that has learnt nothing has nothing to explain. A set is judged where the lower end of the 95 % "
       "interval of the mean AUC is above 0.7. The interval is that of Nadeau and Bengio (2003), because test parts of "
       "different runs share rows."},
      {"Clinical data", "cinc2012 stands in Tables 2 to 4 for MIMIC-III.",
       "The full MIMIC-III is not open. cinc2012 is from the same hospital and has 14 of the paper's 17 kinds of "
       "features, but predicts death instead of sepsis. cinc2019 predicts sepsis, from ten features, in other "
       "hospitals. The open demos of MIMIC-III and eICU have 136 and 2,205 stays. All that pass the AUC are judged; "
       "nearest to the paper's cohort is cinc2012."},
      {"Explained value", "The margin (logit) of the predicted class.",
       "Section 7.1 speaks of \"the predicted logits\". Iris has three classes, so only the predicted class is one "
       "rule for all data sets. The probability is a variant: with margins and one hidden layer IG and DL are one "
       "function, and the paper's cells differ (Iris 60 and 46, Adult 47 and 58)."},
      {"Scaling", "Columns standardised on the training rows, also for rho.",
       "Radii were chosen \"after finding the average distance between pairs\". Mean pairwise l-infinity is 2.09 raw, "
       "1.76 standardised and 0.45 min-max on Iris (r = 0.3), and 114,920, 3.26 and 0.78 on Adult (r = 1). Min-max "
       "fits these two best, but then l-infinity is at most 1, and the radii 2, 4 and 10 take in every pair."},
      {"Table 2: form", "The experiment as section 7.1 prints it, and judged as printed: higher is more faithful.",
       "One random subset for each of 50 rows or more; Pearson's correlation, over rows, of the logit of the modified "
       "row with the mean attribution in the subset; the mean over runs. Definition 3 and the sign of a loss are "
       "variants."},
      {"Table 2: baselines", "Explanations are made against the baseline that replaces features.",
       "\"For experiments with a baseline\" the paper names zero and the training average. Zero is zero in raw units: "
       "standardised, zero would be the average."},
      {"Table 2: subsets of 20", "15 of 17 features, or the same share of fewer.",
       "The paper lists 17 clinical features, so that subsets of 20 cannot be."},
      {"Table 3: norm", "Raw explanations.",
       "The unit norm is for \"before doing aggregation\", and Table 3 aggregates nothing. Its MIMIC column spans a "
       "factor of 22 over methods; at unit norm distances are at most 2, and ours lay between 1.35 and 1.68."},
      {"Table 3: pool", "500 training rows, drawn afresh in each run.",
       "\"A set of test points and an additional larger set of training points\". Maximum / average is 1.0 to 1.2 in "
       "most cells: rows have few neighbours, so the pool is small."},
      {"Table 4: norm and pool", "Unit norm; 5,000 training rows.",
       "AVA is an aggregate, and its numbers fit unit norm. Maximum / average is 1.8 to 9: rows have many "
       "neighbours, so the pool is large."},
      {"Table 4: AVA", "k = 10, antecedents explained for the query's class, weights 1 / rho that sum to 1.",
       "The paper states neither k nor the class. Antecedents keep their size, or Theorem 5 would not hold."},
      {"Average sensitivity", "The mean of D, as in Definition 2 with uniform P.",
       "The appendix says that D / rho was used. With rho at most 0.2 on Iris that would make averages five times "
       "larger or more, and the paper's averages are all just below its maxima."},
      {"Radius of claims",
       "The paper's; where it leaves half of the rows or more without a neighbour, the radius that "
       "gives the median row ten.",
       "A mean over a few rows in dense places is no mean over the data."},
      {"Baseline in Tables 3 and 4", "The training average.", "The paper does not say; zero is a variant."},
      {"Table 1: walks", "Steps in proportion to the derivative, alpha 0.01.",
       "Algorithm 1 prints them, with a sign that would raise entropy; its text says \"if the complexity decreases\". "
       "It states no alpha."},
      {"Table 1: region shrinking", "Minima of pairs alone, N = 10, K = 10.",
       "As Algorithm 2 prints it; it states neither N nor K."},
      {"Table 1: images", "Means over 20 images in each of 10 runs.",
       "The paper shows one image of one network, which is no test of anything."},
      {"Complexity", "Entropy of absolute attributions, Definition 4.",
       "\"We take the positive l1 norm\" can also be read as the positive part, a variant."},
      {"Runs and intervals", "Ten runs of the set-up and of each variant; Student's 95 % interval over runs.",
       "\"We average over ten random runs of this procedure.\" Comparisons are of differences within runs. All runs "
       "share the data set: nothing is said about other data."},
      {"Verdicts",
       "holds: every comparison of a claim has its interval on the claim's side. fails: none has, and one "
       "is on the other side. partly: some have.",
       "cannot be tested: no data, no network that learnt, or no interval that leaves 0 out. The paper's own table "
       "disagrees: the means of its own cells contradict the sentence; ours are then reported beside. Holds by "
       "construction: a theorem, no finding."},
  };
}

}  // namespace assay
