# Files inside the library, so that nothing is read at run time and an installed package can write reports.
#
# assay_embed(NAME FILE...) defines assay::embedded::NAME() (assay/report/embedded.h): the bytes of the files, a newline
# after each; nothing without files. The assembler reads them, because a compiler takes minutes and gigabytes for an
# array of megabytes.
function(assay_embed name)
  set(symbol assay_embedded_${name})
  set(body "")
  foreach(file IN LISTS ARGN)
    string(REPLACE "\\" "\\\\" path "${file}")
    string(REPLACE "\"" "\\\"" path "${path}")
    string(APPEND body "  .incbin \"${path}\"\n  .byte 10\n")
  endforeach()
  set(source ${CMAKE_BINARY_DIR}/generated/assay/report/embedded_${name}.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [==[
#include "assay/report/embedded.h"

#include <cstddef>
#include <cstdint>

__asm__(R"assembler(
  .pushsection .rodata.@symbol@,"a"
  .globl @symbol@
  .hidden @symbol@
@symbol@:
@body@  .globl @symbol@_end
  .hidden @symbol@_end
@symbol@_end:
  .byte 0
  .popsection
)assembler");

extern "C" {
__attribute__((visibility("hidden"))) extern const char @symbol@[];
__attribute__((visibility("hidden"))) extern const char @symbol@_end[];
}

std::string_view assay::embedded::@name@() {
  // Over integers: the language knows no difference between two arrays.
  return {@symbol@, static_cast<size_t>(reinterpret_cast<uintptr_t>(@symbol@_end) -
                                        reinterpret_cast<uintptr_t>(@symbol@))};
}
]==])
  # The compiler does not tell what the assembler reads.
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS "${ARGN}")
  target_sources(assay_report PRIVATE ${source})
endfunction()

if(ASSAY_PLOTLY_JS AND NOT EXISTS "${ASSAY_PLOTLY_JS}")
  message(FATAL_ERROR "ASSAY_PLOTLY_JS: there is no file ${ASSAY_PLOTLY_JS}")
endif()
set(html ${CMAKE_CURRENT_SOURCE_DIR}/assay/report/html)
file(GLOB scripts CONFIGURE_DEPENDS ${html}/*.js)
list(SORT scripts)
assay_embed(page ${html}/page.html)
assay_embed(style ${html}/page.css)
assay_embed(script ${scripts})
assay_embed(plotly ${ASSAY_PLOTLY_JS})
