// The traces of the window and what each is there for: what is shown, the run before it, the
// baseline, and what comes back when a file can't be opened. Free of Qt: the window draws what it
// says.
//
//   session.ShowRun();                     // what comes next was run here, or
//   session.ShowFile(path);                // is read from there
//   session.Show(digest, /*partial=*/false);
//   if (const auto ghost = session.Against()) Draw(*ghost);
//
// One thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "profiler/run/run_config.h"
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
  // What is compared with: what the user has pinned, whatever it is; else the run before, where it
  // was of the same model on the same input, or of the same script.
  DigestPtr Against() const;

  void ShowRun();
  void ShowFile(std::string path);
  void SavedAs(std::string path) { file_ = std::move(path); }
  // Takes the place of what was shown, which becomes the run before unless either is partial.
  void Show(DigestPtr digest, bool partial);
  void ShowNothing();
  // What is shown becomes the run before; pictures of the next come, which are none.
  void KeepAsPrevious();

  // `for_this_only`: pinned by the window for one comparison, not by the user: it goes when
  // something unrelated is opened.
  void SetBaseline(DigestPtr digest, std::string file, bool for_this_only = false);
  bool baseline_for_this_only() const { return baseline_ != nullptr && baseline_for_this_only_; }
  // What is shown becomes the baseline; what was it, and is returned, is to be shown.
  DigestPtr SwapBaseline();

  // From here on something is read. It takes the place of what is shown when it is there; before
  // that pictures of its begin may, and what was shown then comes back if the rest can't be read.
  void BeginLoading(const run::RunConfig& config);
  bool loading() const { return before_loading_.has_value(); }
  const run::RunConfig& config_before_loading() const { return before_loading_->config; }
  void Loaded(std::string path);
  struct ComesBack {
    DigestPtr digest;  // null: there was nothing
    bool partial = false;
    DigestPtr previous;
  };
  // nullopt: what is shown stays. Else Show() what comes back, then Restored().
  std::optional<ComesBack> NotLoaded();
  void Restored(const ComesBack& back) { previous_ = back.previous; }

 private:
  struct Before {
    DigestPtr shown, previous;
    std::string file, source;
    bool from_file, partial;
    run::RunConfig config;
  };

  DigestPtr shown_;
  DigestPtr previous_;  // the run before; Against() says whether it counts
  DigestPtr baseline_;
  std::string file_, baseline_file_;
  std::string source_;  // that was read; unlike file_ it stays when a copy is saved elsewhere
  bool partial_ = false, from_file_ = false;
  bool baseline_for_this_only_ = false;
  std::optional<Before> before_loading_;
};

}  // namespace vramscope::ui
