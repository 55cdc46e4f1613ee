// Distinguishes the program's own Python files from files of installed packages and of Python.
// Inline, because the injected library uses it and does not link the core.
#pragma once

#include <string_view>

namespace vramscope::trace {

// Files recorded on Windows have other separators, and Python's own modules are in "Lib".
// `plan --with` installs packages into vramscope/environments.
inline bool IsInstalledPython(std::string_view file) {
  for (const std::string_view folder :
       {"site-packages/", "dist-packages/", "/lib/python", "/vramscope/environments/",
        "site-packages\\", "dist-packages\\", "\\Lib\\runpy.py", "\\Lib\\threading.py",
        "\\Lib\\contextlib.py"}) {
    if (file.find(folder) != std::string_view::npos) return true;
  }
  return file.starts_with("<frozen");
}

}  // namespace vramscope::trace
