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

// Returns the folder that contains PyTorch, with a separator at the end, if `file` is PyTorch's
// file in which modules call each other, and the folder is not one of those above. Packages lie
// there after `pip install --target`. Otherwise returns "".
inline std::string_view PackageFolderOf(std::string_view file) {
  for (const std::string_view end :
       {"/torch/nn/modules/module.py", "\\torch\\nn\\modules\\module.py"}) {
    if (file.ends_with(end) && file.size() > end.size() && !IsInstalledPython(file))
      return file.substr(0, file.size() - end.size() + 1);
  }
  return {};
}

}  // namespace vramscope::trace
