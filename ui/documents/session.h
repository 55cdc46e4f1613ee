// The traces of one document: the shown trace, the previous run and the baseline. Does not use Qt.
// The window draws the traces.
//
//   session.ShowRun();                     // the next trace is of a run here, or
//   session.ShowFile(path);                // it is read from this file
//   session.Show(digest, /*partial=*/false);
//   if (const auto baseline = session.Against()) Draw(*baseline);
//
// Not thread-safe.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ui/panels/rows.h"

namespace vramscope::ui {

class Session {
 public:
  using DigestPtr = std::shared_ptr<const Digest>;

  const DigestPtr& shown() const { return shown_; }  // null: none yet
  // Whether shown() is incomplete, because the run, or the reading of the file, continues.
  bool partial() const { return partial_; }
  bool from_file() const { return from_file_; }      // whether shown() was read from a file
  const std::string& file() const { return file_; }  // file that contains shown(); empty: none
  // Files that must not be overwritten, because the shown trace or the baseline was read from them.
  std::vector<std::string> sources() const;
  const DigestPtr& baseline() const { return baseline_; }  // pinned, or opened for a comparison
  const std::string& baseline_file() const { return baseline_file_; }
  // Returns the trace with which the shown trace is compared: the baseline or, without one, the
  // previous run. A previous run with another model, input or script is not used.
  DigestPtr Against() const;

  void ShowRun();
  void ShowFile(std::string path);
  void SavedAs(std::string path) { file_ = std::move(path); }
  // Shows `digest`. The trace shown before becomes the previous run, if it and `digest` are
  // complete and are not the same trace.
  void Show(DigestPtr digest, bool partial);
  // Frees the shown trace and the previous run, but not the baseline. The shown trace must be one
  // that can be computed or read again.
  void Release();
  // Makes the shown trace the previous run. Call it before showing partial traces of a new run:
  // Show() does this only if it shows a complete trace.
  void KeepAsPrevious();
  // Sets as the previous run the trace that another document showed when this document was opened.
  // Against() decides whether it is comparable.
  void SetPrevious(DigestPtr digest) { previous_ = std::move(digest); }

  // `for_this_only`: the window, not the user, sets the baseline, for a single comparison.
  // Documents opened from this one do not inherit such a baseline.
  void SetBaseline(DigestPtr digest, std::string file, bool for_this_only = false);
  bool baseline_for_this_only() const { return baseline_ != nullptr && baseline_for_this_only_; }
  // Makes the shown trace the baseline. Returns the previous baseline, which the caller must then
  // show.
  DigestPtr SwapBaseline();

 private:
  DigestPtr shown_;
  DigestPtr previous_;  // the previous run; Against() decides whether it is comparable
  DigestPtr baseline_;
  std::string file_, baseline_file_;
  // The file from which the shown trace was read. Unlike file_, it does not change when a copy is
  // saved.
  std::string source_;
  bool partial_ = false, from_file_ = false;
  bool baseline_for_this_only_ = false;
};

}  // namespace vramscope::ui
