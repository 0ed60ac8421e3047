# Debian packages by CPack: anycq (the command), libanycq0.2, libanycq-dev. tools/package builds them with
# the prefix /usr, so that the library lies in the folder of its architecture.
set(ACQ_MAINTAINER "anycq developers <anycq@example.com>" CACHE STRING "Who makes these packages")
option(ACQ_PACKAGE "Install as Debian's policy has it: compressed pages, notes of copyright" OFF)

include(CMakePackageConfigHelpers)
set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/anycq)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/lib/anycq-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(EXPORT anycq NAMESPACE anycq:: FILE anycq-config.cmake DESTINATION ${config_dir} COMPONENT dev)
install(FILES ${PROJECT_BINARY_DIR}/lib/anycq-config-version.cmake DESTINATION ${config_dir}
        COMPONENT dev)

set(libraries libanycq${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
if(ACQ_PACKAGE)
  file(WRITE ${PROJECT_BINARY_DIR}/packages/changelog "anycq (${PROJECT_VERSION}) unstable; urgency=medium

  * NEWS.md in the sources says what is new.

 -- ${ACQ_MAINTAINER}  Thu, 01 Jan 1970 00:00:00 +0000
")
  foreach(pair command:anycq library:${libraries} dev:libanycq-dev)
    string(REPLACE ":" ";" pair ${pair})
    list(GET pair 0 component)
    list(GET pair 1 package)
    install(FILES ${PROJECT_SOURCE_DIR}/packages/debian/copyright DESTINATION share/doc/${package}
            COMPONENT ${component})
    install(FILES ${PROJECT_BINARY_DIR}/packages/changelog DESTINATION share/doc/${package}
            COMPONENT ${component})
    install(CODE "execute_process(COMMAND gzip -9nf
      \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/share/doc/${package}/changelog\")"
            COMPONENT ${component})
  endforeach()
  foreach(pair command:1 dev:3)
    string(REPLACE ":" ";" pair ${pair})
    list(GET pair 0 component)
    list(GET pair 1 section)
    install(CODE "file(GLOB pages \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/share/man/man${section}/*.${section}\")
      execute_process(COMMAND gzip -9nf \${pages})" COMPONENT ${component})
  endforeach()
  install(FILES ${PROJECT_SOURCE_DIR}/packages/anycq.service DESTINATION lib/systemd/system
          COMPONENT command)
endif()

set(CPACK_PACKAGE_NAME anycq)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "${ACQ_MAINTAINER}")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_SET_DESTDIR OFF)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL command library dev)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME anycq)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION science)
set(CPACK_DEBIAN_COMMAND_DESCRIPTION "answers to questions over incomplete knowledge graphs
 anycq answers existential first-order queries over what a knowledge
 graph would contain if it were complete, each with a proof or the facts
 it rests on.
 This package has the command, its manual pages and
 a systemd unit that serves graphs over HTTP.")
set(CPACK_DEBIAN_COMMAND_PACKAGE_CONTROL_EXTRA
    "${PROJECT_SOURCE_DIR}/packages/debian/postinst;${PROJECT_SOURCE_DIR}/packages/debian/prerm;${PROJECT_SOURCE_DIR}/packages/debian/postrm")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${libraries})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(version ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
file(WRITE ${PROJECT_BINARY_DIR}/packages/shlibs
     "libanycq ${version} ${libraries} (>= ${version}.0)\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA
    "${PROJECT_SOURCE_DIR}/packages/debian/triggers;${PROJECT_BINARY_DIR}/packages/shlibs")
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "answers to questions over incomplete knowledge graphs (library)
 anycq answers existential first-order queries over what a knowledge
 graph would contain if it were complete, each with a proof or the facts
 it rests on.
 This package has the shared library.")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libanycq-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "${libraries} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEV_DESCRIPTION "answers to questions over incomplete knowledge graphs (development)
 anycq answers existential first-order queries over what a knowledge
 graph would contain if it were complete, each with a proof or the facts
 it rests on.
 This package has the header, the manual page and the
 files for pkg-config and CMake.")
include(CPack)
