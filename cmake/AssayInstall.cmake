# cmake --install: the program, the library, its headers, and assay::assay for find_package(assay).
include(CMakePackageConfigHelpers)

install(TARGETS assay EXPORT assay-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS assay_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY assay/ ${CMAKE_BINARY_DIR}/generated/assay/
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/assay FILES_MATCHING PATTERN "*.h")
install(EXPORT assay-targets NAMESPACE assay:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/assay)
configure_package_config_file(cmake/assay-config.cmake.in ${CMAKE_BINARY_DIR}/generated/assay-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/assay)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/generated/assay-config-version.cmake COMPATIBILITY ExactVersion)
install(FILES ${CMAKE_BINARY_DIR}/generated/assay-config.cmake ${CMAKE_BINARY_DIR}/generated/assay-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/assay)
