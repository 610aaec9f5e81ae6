#include "assay/report/report_html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "assay/core/text.h"
#include "assay/report/embedded.h"
#include "tests/report/small_report.h"

namespace assay::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

size_t count_of(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) count++;
  return count;
}

// Whether a tag or style of the text names something of a network.
bool loads_something(const std::string& text) {
  std::string bare = lower_case(text);
  std::erase_if(bare, [](char c) { return c == '"' || c == '\'' || c == '`' || c == ' ' || c == '\n'; });
  for (const char* place : {"src=", "href=", "action=", "url("}) {
    for (const char* address : {"http:", "https:", "//"}) {
      if (bare.find(std::string(place).append(address)) != std::string::npos) return true;
    }
  }
  return bare.find("@import") != std::string::npos;
}

TEST(ReportHtml, TemplatesAreFilledOnce) {
  // What looks like a marker inside a value is no marker.
  EXPECT_EQ(filled_template("<{{a}}|{{b}}|{{a}}>", {{"a", "{{b}}"}, {"b", "{{a}} {{c}}"}}),
            "<{{b}}|{{a}} {{c}}|{{b}}>");
  EXPECT_EQ(filled_template("{{none}} {{ {{a}} }} {{", {{"a", "1"}}), "{{none}} {{ 1 }} {{");
  EXPECT_EQ(filled_template("", {{"a", "1"}}), "");
}

TEST(ReportHtml, ScriptsCannotEndTheirElement) {
  EXPECT_EQ(inline_script("a<b; s='</script>' + '</SCRIPT' + /<!--/.source; t='</style>'"),
            R"(a<b; s='\x3c/script>' + '\x3c/SCRIPT' + /\x3c!--/.source; t='</style>')");
  EXPECT_EQ(inline_script("x<"), "x<");
}

TEST(ReportHtml, TitlesAreText) {
  EXPECT_EQ(html_text("<a b=\"c\">&'"), "&lt;a b=&quot;c&quot;&gt;&amp;&#39;");
  EXPECT_EQ(html_text(std::string_view("a\0b\nc\xFF", 6)), "a b c\xEF\xBF\xBD");
  EXPECT_EQ(html_text("\xC3\xA9"), "\xC3\xA9");
}

TEST(ReportHtml, TheFilesAreInsideTheLibrary) {
  for (const char* marker : {"{{title}}", "{{style}}", "{{data}}", "{{plotly}}", "{{script}}"}) {
    EXPECT_EQ(count_of(embedded::page(), marker), 1) << marker;
  }
  EXPECT_FALSE(embedded::style().empty());
  EXPECT_FALSE(embedded::script().empty());
  EXPECT_TRUE(valid_utf8(embedded::script()));
  EXPECT_EQ(embedded::script().back(), '\n');
  EXPECT_TRUE(embedded::plotly().empty() || count_of(embedded::plotly(), "Plotly") > 0);
}

TEST(ReportHtml, HoldsTheDataOnceAndAsText) {
  const SmallReport report = hostile_report();
  const std::string data = report.json();
  const std::string page = report_html(data, report.study.facts.title);
  EXPECT_EQ(count_of(page, data), 1);
  EXPECT_TRUE(valid_utf8(page));
  // As a browser finds it: from the element's start to the first thing that ends it.
  constexpr std::string_view kStart = R"(<script type="application/json" id="assay-data">)";
  const size_t start = page.find(kStart) + kStart.size();
  ASSERT_EQ(count_of(page, kStart), 1);
  const std::string inside = page.substr(start, page.find("</script", start) - start);
  EXPECT_EQ(nlohmann::json::parse(inside), nlohmann::json::parse(data));
  EXPECT_EQ(nlohmann::json::parse(inside)["features"], nlohmann::json(hostile_names()));
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, HasSubstr("<title>toy &lt;/title&gt;&lt;script&gt;alert(2)&lt;/script&gt; on {{data}}</title>"));
  // No element ends that the template does not end.
  EXPECT_EQ(count_of(lower_case(page), "</script"), count_of(embedded::page(), "</script"));
}

TEST(ReportHtml, SummaryHasNoPlotly) {
  const std::string page = report_html("{}", "t", false);
  EXPECT_EQ(count_of(page, "Plotly.js") + count_of(page, "plotly.js v"), 0);
  EXPECT_LT(page.size(), embedded::script().size() + embedded::style().size() + embedded::page().size() + 1000);
  EXPECT_GE(report_html("{}", "t").size() + 10, page.size() + embedded::plotly().size());
}

TEST(ReportHtml, MakesAnyJsonSafe) {
  const std::string page = report_html("[\"</script><script>x</script>&\xE2\x80\xA9\xFF\"]", "t");
  EXPECT_THAT(page, HasSubstr("[\"\\u003c/script\\u003e\\u003cscript\\u003ex\\u003c/script\\u003e\\u0026\\u2029"
                              "\xEF\xBF\xBD\"]"));
}

// Beside plotly.js, which is not ours and has addresses that it uses for maps alone: the page forbids all of them.
TEST(ReportHtml, AsksNothingOfAnyNetwork) {
  std::string page = report_html("{}", "t");
  const std::string plotly = inline_script(embedded::plotly());
  if (!plotly.empty()) {
    ASSERT_EQ(count_of(page, plotly), 1);
    page.erase(page.find(plotly), plotly.size());
  }
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_FALSE(loads_something(page));
  EXPECT_TRUE(loads_something("<img SRC = '//example.org/x'>"));
  EXPECT_TRUE(loads_something("a { background: url( \"https://example.org/x\") }"));
  for (const char* call : {"fetch(", "XMLHttpRequest", "sendBeacon", "WebSocket", "importScripts", "innerHTML"}) {
    EXPECT_EQ(count_of(page, call), 0) << call;
  }
}

TEST(ReportHtml, WithoutPlotlyItSaysHowToGetThePlots) {
  EXPECT_EQ(count_of(embedded::script(), "a build without plotly.js"), 1);
}

}  // namespace
}  // namespace assay::testing
