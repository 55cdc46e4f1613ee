#include "profiler/exporters/file.h"

#include <fmt/format.h>

#include <streambuf>
#include <utility>
#include <vector>

#include "profiler/base/i18n.h"
#include "profiler/trace/output_file.h"

namespace vramscope::exporters {
namespace {

class Buffer : public std::streambuf {
 public:
  explicit Buffer(trace::OutputFile& file) : file_(file), bytes_(size_t{1} << 16) {
    setp(bytes_.data(), bytes_.data() + bytes_.size());
  }
  const absl::Status& status() const { return status_; }

 protected:
  int_type overflow(int_type c) override {
    if (sync() != 0) return traits_type::eof();
    return traits_type::eq_int_type(c, traits_type::eof()) ? traits_type::not_eof(c)
                                                           : sputc(traits_type::to_char_type(c));
  }
  int sync() override {
    if (status_.ok())
      status_ = file_.Write(std::string_view(pbase(), static_cast<size_t>(pptr() - pbase())));
    setp(bytes_.data(), bytes_.data() + bytes_.size());
    return status_.ok() ? 0 : -1;
  }

 private:
  trace::OutputFile& file_;
  std::vector<char> bytes_;
  absl::Status status_;
};

}  // namespace

absl::Status WriteFile(const std::string& path,
                       const std::function<absl::Status(std::ostream&)>& write) {
  auto file = trace::OutputFile::Create(path);
  if (!file.ok()) return file.status();
  Buffer buffer(**file);
  std::ostream out(&buffer);
  const absl::Status status = write(out);
  out.flush();
  if (!buffer.status().ok()) return buffer.status();
  if (!status.ok()) return status;
  if (!out) return absl::DataLossError(i18n::Format("cannot write '{}'", path));
  return (*file)->Commit();
}

}  // namespace vramscope::exporters
