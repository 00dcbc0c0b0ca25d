# install() and the package files that find_package(ranktune) reads.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ranktune)
get_property(targets GLOBAL PROPERTY ranktune_targets)
install(TARGETS ${targets} EXPORT ranktune_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT ranktune_targets NAMESPACE ranktune:: DESTINATION ${package_dir})
install(DIRECTORY include/ranktune DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
configure_package_config_file(cmake/ranktune-config.cmake.in ${PROJECT_BINARY_DIR}/ranktune-config.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ranktune-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ranktune-config.cmake ${PROJECT_BINARY_DIR}/ranktune-config-version.cmake
              cmake/ranktune_libtorch.cmake
        DESTINATION ${package_dir})
