// The tasks of the stages before, put together from one subject.
#pragma once

#include <functional>

#include "assay/aggregate/aggregator.h"
#include "assay/evaluate/criterion.h"
#include "assay/evaluate/pool_explanations.h"
#include "assay/explain/explainer.h"
#include "assay/study/study.h"

namespace assay {

ExplainTask explain_task_of(const StudySubject& subject);

// reference: what stands for absent; method may be null (aggregates).
EvaluateTask evaluate_task_of(const StudySubject& subject, const Explanations& explanations, const Reference& reference,
                              const Spec* method, PoolExplanations* pool);

AggregateTask aggregate_task_of(const StudySubject& subject, std::span<const Explanations* const> members,
                                std::span<const std::string> names, std::span<PoolExplanations* const> pools);

// Explanations of the pool's rows by a method, made where they are needed. Subject and spec must outlive them.
PoolExplanations pool_explanations_by(const StudySubject& subject, const Spec& method, uint64_t seed);

}  // namespace assay
