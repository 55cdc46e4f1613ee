// The traces of one document and what each is there for: what is shown, the run before it, the
// baseline. Free of Qt: the window draws what it says.
//
//   session.ShowRun();                     // what comes next was run here, or
//   session.ShowFile(path);                // is read from there
//   session.Show(digest, /*partial=*/false);
//   if (const auto ghost = session.Against()) Draw(*ghost);
//
// One thread.
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

  const DigestPtr& shown() const { return shown_; }  // null: nothing yet
  bool partial() const { return partial_; }          // a picture of what has come so far
  bool from_file() const { return from_file_; }      // opened, not run here
  const std::string& file() const { return file_; }  // that it was read from or saved to
  // Files that must not be written to: what is shown and the baseline were read from them.
  std::vector<std::string> sources() const;
  const DigestPtr& baseline() const { return baseline_; }  // pinned, or opened to compare with
  const std::string& baseline_file() const { return baseline_file_; }
  // What is compared with: what the user has pinned, whatever it is; else the run before, where it
  // was of the same model on the same input, or of the same script.
  DigestPtr Against() const;

  void ShowRun();
  void ShowFile(std::string path);
  void SavedAs(std::string path) { file_ = std::move(path); }
  // Takes the place of what was shown, which becomes the run before unless either is partial.
  void Show(DigestPtr digest, bool partial);
  // Its result is let go of, to be made or read again; what it is compared with stays.
  void Release();
  // What is shown becomes the run before; pictures of the next come, which are none.
  void KeepAsPrevious();
  // What was shown elsewhere when this was asked for; Against() says whether it counts.
  void SetPrevious(DigestPtr digest) { previous_ = std::move(digest); }

  // `for_this_only`: pinned by the window for one comparison, not by the user: what is opened from
  // this document does not take it over.
  void SetBaseline(DigestPtr digest, std::string file, bool for_this_only = false);
  bool baseline_for_this_only() const { return baseline_ != nullptr && baseline_for_this_only_; }
  // What is shown becomes the baseline; what was it, and is returned, is to be shown.
  DigestPtr SwapBaseline();

 private:
  DigestPtr shown_;
  DigestPtr previous_;  // the run before; Against() says whether it counts
  DigestPtr baseline_;
  std::string file_, baseline_file_;
  std::string source_;  // that was read; unlike file_ it stays when a copy is saved elsewhere
  bool partial_ = false, from_file_ = false;
  bool baseline_for_this_only_ = false;
};

}  // namespace vramscope::ui
