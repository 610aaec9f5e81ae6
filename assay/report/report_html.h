// report.html: one file that opens offline and asks nothing of any network.
//
// The page's template, style, script and plotly.js are inside the library (embedded.h); where plotly.js is not, the
// page has its tables and says how to get the plots.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/archive/finished_study.h"
#include "assay/core/context.h"
#include "assay/explain/subject.h"
#include "assay/report/report_data.h"

namespace assay {

// The page of a study. All entries have explanations of the subject's rows.
std::string report_page(const FinishedStudy& finished, const Subject& subject, const ReportOptions& options,
                        const Context& context);

// data_json is the text of report_data_json, or any JSON: whatever its strings hold stays text.
std::string report_html(const std::string& data_json, const std::string& title);

// The template with each {{name}} replaced by its value. In one pass: what looks like a marker inside a value stays as
// it is, and so does a marker of no known name.
std::string filled_template(std::string_view page,
                            const std::vector<std::pair<std::string_view, std::string_view>>& values);

// JavaScript as it can stand inside a <script> element: "</script" and "<!--" in its strings and patterns are spelled
// with \x3c, which means the same there.
std::string inline_script(std::string_view script);

// For text and attributes; control characters become spaces, what is no UTF-8 becomes U+FFFD.
std::string html_text(std::string_view text);

}  // namespace assay
