// Everything that a program needs to load a model, explain its predictions, score the explanations and make one out of
// several. These headers, and what they include, are what is installed; docs/cpp.md begins with a whole program.
#pragma once

#include "assay/aggregate/aggregators.h"
#include "assay/core/context.h"
#include "assay/core/error.h"
#include "assay/core/version.h"
#include "assay/data/datasets.h"
#include "assay/data/table_io.h"
#include "assay/evaluate/criteria.h"
#include "assay/explain/methods.h"
#include "assay/explain/prepared.h"
#include "assay/explain/reasons/reasons.h"
#include "assay/explain/replicates.h"
#include "assay/explain/subject.h"
#include "assay/model/engine_model.h"
#include "assay/model/model_file.h"
