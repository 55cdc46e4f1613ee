# vramscope_emulated_library(SONAME [SOURCES ...] [APART ...] [DEFINES ...] [LIBRARIES ...])
#
# Builds ${CMAKE_BINARY_DIR}/emulated/SONAME from the hand-written functions in SOURCES and a stub for every other name
# in names/SONAME.txt. A stub reports its name to the core and returns "not supported" (generate_stubs.py). Symbols get
# the version node of that list. DEFINES are macros that show a source for which library it is compiled.
find_package(Python3 REQUIRED COMPONENTS Interpreter)

function(vramscope_emulated_library soname)
  cmake_parse_arguments(ARG "" "" "SOURCES;APART;DEFINES;LIBRARIES" ${ARGN})
  string(MAKE_C_IDENTIFIER "${soname}" id)
  set(target emulated_${id})
  set(names "${PROJECT_SOURCE_DIR}/emulated/names/${soname}.txt")
  set(generator "${PROJECT_SOURCE_DIR}/emulated/generate_stubs.py")
  set(stubs "${CMAKE_CURRENT_BINARY_DIR}/${soname}.stubs")

  set(objects "")
  if(ARG_SOURCES)
    add_library(${target}_objects OBJECT ${ARG_SOURCES})
    target_include_directories(${target}_objects PRIVATE ${PROJECT_SOURCE_DIR})
    target_compile_definitions(${target}_objects PRIVATE
      VRAMSCOPE_EMULATED_SONAME="${soname}" ${ARG_DEFINES})
    vramscope_unity(${target}_objects APART ${ARG_APART})
    set(objects $<TARGET_OBJECTS:${target}_objects>)
  endif()
  add_custom_command(
    OUTPUT "${stubs}.o" "${stubs}.map"
    COMMAND ${Python3_EXECUTABLE} -B "${generator}" "${names}" ${objects}
            --assembler "${stubs}.s" --version-script "${stubs}.map"
    COMMAND ${CMAKE_CXX_COMPILER} -c "${stubs}.s" -o "${stubs}.o"
    DEPENDS "${names}" "${generator}" "${PROJECT_SOURCE_DIR}/emulated/names/read_names.py"
            "${PROJECT_SOURCE_DIR}/emulated/names/outputs.txt" "${PROJECT_SOURCE_DIR}/emulated/names/succeeding.txt" ${objects}
    COMMENT "Stubs of ${soname}"
    COMMAND_EXPAND_LISTS VERBATIM)
  add_library(${target} SHARED ${objects} "${stubs}.o")
  set_source_files_properties("${stubs}.o" PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  target_link_libraries(${target} PRIVATE vramscope_emulated vramscope_old_glibc ${ARG_LIBRARIES})
  target_link_options(${target} PRIVATE "-Wl,--version-script=${stubs}.map" -Wl,-z,defs
                      ${VRAMSCOPE_STANDARD_LIBRARY})
  set_target_properties(${target} PROPERTIES
    PREFIX "" SUFFIX "" OUTPUT_NAME "${soname}" LINKER_LANGUAGE CXX
    LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/emulated"
    BUILD_RPATH "\$ORIGIN" INSTALL_RPATH "\$ORIGIN" BUILD_WITH_INSTALL_RPATH TRUE
    LINK_DEPENDS "${stubs}.map")
  set_property(GLOBAL APPEND PROPERTY VRAMSCOPE_EMULATED_LIBRARIES ${target})
endfunction()
