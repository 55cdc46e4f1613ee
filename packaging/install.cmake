# What `cmake --install` installs. profiler/base/install_paths.h finds these files relative to the running program, so
# the tree can be moved. packaging/ makes the wheel, the archive, the Debian package and the AppImage from this tree.
#
#   bin/vramscope
#   lib/vramscope/             vramscope-worker, vramscope-worker-loop, libvramscope_torch_cuda.so
#   lib/vramscope/emulated/    the emulated platform's libraries, bin/nvidia-smi, python/ (the hooks)
#   share/                     desktop entry, icon, MIME types, manual page, completions, licence
include(GNUInstallDirs)
# The same folder on all systems, for private files that no other program needs (see /usr/lib in the Filesystem
# Hierarchy Standard).
set(VRAMSCOPE_PRIVATE_DIR lib/vramscope)

if(TARGET vramscope)
  set_target_properties(vramscope PROPERTIES INSTALL_RPATH "$ORIGIN/../${VRAMSCOPE_PRIVATE_DIR};$ORIGIN")
  install(TARGETS vramscope RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET vramscope-worker)
  # LibTorch is found through LD_LIBRARY_PATH, which the process that starts the worker sets.
  set_target_properties(vramscope-worker vramscope-worker-loop PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS vramscope-worker vramscope-worker-loop RUNTIME DESTINATION ${VRAMSCOPE_PRIVATE_DIR})
endif()
if(TARGET vramscope_torch_cuda)
  set_target_properties(vramscope_torch_cuda PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS vramscope_torch_cuda LIBRARY DESTINATION ${VRAMSCOPE_PRIVATE_DIR})
endif()

get_property(emulated GLOBAL PROPERTY VRAMSCOPE_EMULATED_LIBRARIES)
install(TARGETS ${emulated} vramscope_emulated vramscope_audit vramscope_isolation vramscope_activities
  LIBRARY DESTINATION ${VRAMSCOPE_PRIVATE_DIR}/emulated)
foreach(name cuda nvidia-ml)
  install(FILES ${CMAKE_BINARY_DIR}/emulated/lib${name}.so DESTINATION ${VRAMSCOPE_PRIVATE_DIR}/emulated)
endforeach()
install(TARGETS vramscope_nvidia_smi RUNTIME DESTINATION ${VRAMSCOPE_PRIVATE_DIR}/emulated/bin)
install(DIRECTORY emulated/python/inject emulated/python/vramscope DESTINATION ${VRAMSCOPE_PRIVATE_DIR}/emulated/python
  FILES_MATCHING PATTERN *.py PATTERN __pycache__ EXCLUDE)
install(FILES ${CMAKE_BINARY_DIR}/emulated/python/vramscope/toggles/catalogue.json
  DESTINATION ${VRAMSCOPE_PRIVATE_DIR}/emulated/python/vramscope/toggles)

install(FILES resources/vramscope.desktop DESTINATION ${CMAKE_INSTALL_DATADIR}/applications)
install(FILES resources/icons/vramscope.svg DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps)
install(FILES packaging/vramscope.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/mime/packages)
if(TARGET vramscope)
  # made by the target vramscope_descriptions
  install(DIRECTORY ${CMAKE_BINARY_DIR}/share/ DESTINATION ${CMAKE_INSTALL_DATADIR})
endif()
if(EXISTS ${CMAKE_SOURCE_DIR}/resources/samples)
  install(DIRECTORY resources/samples DESTINATION ${CMAKE_INSTALL_DATADIR}/vramscope FILES_MATCHING PATTERN *.trace)
endif()
install(FILES resources/catalogue.json DESTINATION ${CMAKE_INSTALL_DATADIR}/vramscope)
install(FILES LICENSE CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
