#include "assay/study/study_reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/explain/spread_background.h"
#include "assay/study/reference_facts.h"
#include "assay/study/subject_parts.h"

namespace assay {

size_t spread_count(std::string_view word) {
  std::string_view digits = word;
  if (digits.starts_with(kSpreadPrefix)) digits.remove_prefix(kSpreadPrefix.size());
  size_t count = 0;
  const char* end = digits.data() + digits.size();
  const auto [at, problem] = std::from_chars(digits.data(), end, count);
  if (problem != std::errc() || at != end || count == 0) {
    fail_argument("background",
                  fmt::format(": expected spread:N with a number of rows, 1 or more, found {}", in_quotes(word)));
  }
  return count;
}

ReferenceFacts choose_study_reference(OwnedSubject& subject, const Targets& pool_targets,
                                      const StudyReferenceOptions& options, const Context& context) {
  const Context quiet = context.quiet();
  const ScoredPool known = score_pool(*subject.pool, *subject.model, quiet);
  const auto background = [&] {
    return spread_background(*subject.pool, known, pool_targets, options.background, *subject.model, quiet);
  };
  std::optional<Reference> mean;
  if (!options.said) {
    // The front end's own mean may know more digits than the pool's float32.
    if (subject.reference.rows.rows() == 1) mean = std::move(subject.reference);
    subject.reference = background();
  }
  if (options.variations) {
    const auto mean_row = [&] {
      return mean ? *mean : named_baseline("mean", subject.pool.get(), *subject.model, options.encoder, quiet);
    };
    subject.other_references = other_references(subject.reference, mean_row, background);
  }
  return reference_facts(subject.view(), known, quiet);
}

}  // namespace assay
