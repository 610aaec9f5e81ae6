#include "assay/report/report_html.h"

#include <algorithm>

#include "assay/core/text.h"
#include "assay/report/embedded.h"
#include "assay/report/json_text.h"

namespace assay {

std::string filled_template(std::string_view page,
                            const std::vector<std::pair<std::string_view, std::string_view>>& values) {
  std::string out;
  while (true) {
    const size_t begin = page.find("{{");
    const size_t end = page.find("}}", begin);
    if (end == std::string_view::npos) break;
    const std::string_view name = page.substr(begin + 2, end - begin - 2);
    const auto value = std::ranges::find(values, name, [](const auto& each) { return each.first; });
    out += page.substr(0, begin);
    if (value == values.end()) {
      out += "{{";
      page.remove_prefix(begin + 2);
    } else {
      out += value->second;
      page.remove_prefix(end + 2);
    }
  }
  out += page;
  return out;
}

std::string inline_script(std::string_view script) {
  constexpr std::string_view kEnd = "</script";
  std::string out;
  out.reserve(script.size());
  for (size_t open = script.find('<'); open != std::string_view::npos; open = script.find('<')) {
    const std::string_view rest = script.substr(open);
    const bool special = rest.starts_with("<!--") || lower_case(std::string(rest.substr(0, kEnd.size()))) == kEnd;
    out += script.substr(0, open);
    out += special ? "\\x3c" : "<";
    script.remove_prefix(open + 1);
  }
  out += script;
  return out;
}

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : valid_text(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    }
  }
  return out;
}

std::string report_html(const std::string& data_json, const std::string& title, bool plots) {
  const std::string safe_title = html_text(one_line(title));
  const std::string data = script_safe_json(data_json);
  const std::string plotly = plots ? inline_script(embedded::plotly()) : std::string();
  const std::string script = inline_script(embedded::script());
  return filled_template(
      embedded::page(),
      {{"title", safe_title}, {"style", embedded::style()}, {"data", data}, {"plotly", plotly}, {"script", script}});
}

std::string report_page(const FinishedStudy& finished, const Subject& subject, const ReportOptions& options,
                        const Context& context) {
  const std::string data =
      report_data_json(finished.study, finished.assessment, finished.times, subject, options, context);
  return report_html(data, finished.study.facts.title, !options.summary);
}

}  // namespace assay
