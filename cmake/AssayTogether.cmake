# How files are compiled together, which takes less than half of the time from nothing.
#
# Several files make one translation unit (CMake's unity builds), so no two files of a target may give one name in their
# anonymous namespaces to two things; the compiler says so. And what most files include is precompiled. Both change no
# result. -DASSAY_UNITY=OFF compiles every file alone, which is quicker after a change in one file.
option(ASSAY_UNITY "Compile several files of a target at once" ON)

# assay_compile_together(TARGET FILES [REUSE_FROM TARGET] [HEADERS HEADER...]): at most FILES in one unit. REUSE_FROM: a
# target that is compiled with the same options has the precompiled header already. HEADERS: others that go into it.
function(assay_compile_together target files)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "REUSE_FROM" "HEADERS")
  if(ASSAY_UNITY AND files GREATER 1)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${files})
    # Files for several vector targets include themselves once for each.
    get_target_property(sources ${target} SOURCES)
    foreach(source IN LISTS sources)
      file(STRINGS ${source} several_targets REGEX "foreach_target" LIMIT_COUNT 1)
      if(several_targets)
        set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
      endif()
    endforeach()
  endif()
  if(arg_REUSE_FROM)
    target_precompile_headers(${target} REUSE_FROM ${arg_REUSE_FROM})
  else()
    target_precompile_headers(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/precompiled.h ${arg_HEADERS})
  endif()
endfunction()
