// report.html: one file that works offline.
//
// The page's template, style, script and plotly.js are inside the library (embedded.h). Without plotly.js the page has
// only tables, and says how to get the plots.
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

// The page of a study. All entries must have explanations of the subject's rows.
std::string report_page(const FinishedStudy& finished, const Subject& subject, const ReportOptions& options,
                        const Context& context);

// data_json: the text of report_data_json, or any JSON. Its strings cannot become markup. plots: whether plotly.js is
// in it; a summary has no plot that needs it.
std::string report_html(const std::string& data_json, const std::string& title, bool plots = true);

// The template with each {{name}} replaced by its value, in one pass. A marker inside a value and a marker with an
// unknown name stay as they are.
std::string filled_template(std::string_view page,
                            const std::vector<std::pair<std::string_view, std::string_view>>& values);

// Makes JavaScript safe inside a <script> element: in "</script" and "<!--" the < becomes \x3c, which means the same in
// strings and patterns.
std::string inline_script(std::string_view script);

// Escaped for text and attributes. Control characters become spaces, bytes that are not UTF-8 become U+FFFD.
std::string html_text(std::string_view text);

}  // namespace assay
