#include "ui/shell/fit_banner.h"

#include <utility>

#include "profiler/base/i18n.h"
#include "ui/panels/device_dialog.h"
#include "ui/panels/qt_theme.h"

namespace vramscope::ui {
namespace {

QString Gib(double bytes) { return QString::number(bytes / 1073741824.0, 'f', 1); }

}  // namespace

std::optional<Banner::Message> FitBanner(const Digest& digest, std::function<void()> make_it_fit) {
  const analysis::Summary& summary = digest.summary;
  const trace::TraceInfo& info = digest.trace->info;
  if (digest.recorded() || info.device.memory_bytes == 0 || summary.fits) return std::nullopt;
  const QString device = ShortDeviceName(info.device);
  return Banner::Message{
      .kind = QString::fromLatin1(kFitBanner),
      .tone = Banner::Tone::kWarning,
      .title = summary.headroom_bytes < 0
                   ? Banner::tr("The run does not fit into %1: it needs %2 GiB more than available")
                         .arg(device, Gib(-static_cast<double>(summary.headroom_bytes)))
                   // This text states no number, because the figures do not include the failed
                   // allocation.
                   : Banner::tr("The run does not fit into %1: an allocation failed").arg(device),
      .text = Banner::tr("The run reserves up to %1 GiB, plus %3 GiB for the CUDA context%4. "
                         "Allocated memory peaks in phase %2. Switch on a technique or choose a "
                         "larger GPU. The panel on the left shows what each technique saves.")
                  .arg(Gib(static_cast<double>(summary.peak.reserved)),
                       ToQString(i18n::Text(trace::Name(summary.peak.context.phase))),
                       Gib(static_cast<double>(info.device.context_bytes)),
                       summary.most_used.past_allocator == 0
                           ? QString()
                           : Banner::tr(" and %1 GiB that libraries allocate "
                                        "outside the allocator")
                                 .arg(Gib(static_cast<double>(summary.most_used.past_allocator)))),
      .action = info.has_config ? Banner::tr("Make it fit") : QString(),
      .run = std::move(make_it_fit)};
}

}  // namespace vramscope::ui
