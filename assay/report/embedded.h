// The files that a report is made of. They are part of the library (cmake/AssayEmbed.cmake): none is read at run time.
#pragma once

#include <string_view>

namespace assay::embedded {

std::string_view page();    // html/page.html: the template
std::string_view style();   // html/page.css
std::string_view script();  // html/*.js, in order of their names
// plotly.js, which draws the plots. Empty if it was not found when the build was configured (ASSAY_PLOTLY_JS).
std::string_view plotly();

}  // namespace assay::embedded
