// The files that a report is made of, as they were when the library was built (cmake/AssayEmbed.cmake): nothing is read
// at run time.
#pragma once

#include <string_view>

namespace assay::embedded {

std::string_view page();    // html/page.html: the template
std::string_view style();   // html/page.css
std::string_view script();  // html/*.js, in order of their names
// plotly.js, which draws the plots; empty where it was not found when the build was configured (ASSAY_PLOTLY_JS).
std::string_view plotly();

}  // namespace assay::embedded
