// Any text in a report stays text. The title cannot add markup, the data cannot end the script, and a marker of the
// template inside a value is not replaced.
#include <string>

#include "assay/core/text.h"
#include "assay/report/json_text.h"
#include "assay/report/report_html.h"
#include "fuzz/harness.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using assay::fuzz::require;
  const std::string_view text = assay::fuzz::bytes_of(data, size);
  require(assay::html_text(text).find_first_of("<>\"'") == std::string::npos);
  const std::string quoted = assay::json_text(text);
  require(assay::valid_utf8(quoted) && quoted.find_first_of("<>&\n\r") == std::string::npos);
  const std::string script = assay::lower_case(assay::inline_script(text));
  require(script.find("</script") == std::string::npos && script.find("<!--") == std::string::npos);
  require(assay::filled_template("{{a}}|{{b}}", {{"a", text}, {"b", "x"}}) == std::string(text) + "|x");
  assay::filled_template(text, {{"a", "1"}});
  require(assay::valid_utf8(assay::valid_text(text)) && assay::valid_utf8(assay::one_line(text)));
  require(assay::one_line(text).find_first_of("\n\r\x1b") == std::string::npos);
  return 0;
}
