#include "ui/shell/open_part_dialog.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/panels/form_widgets.h"
#include "ui/panels/qt_theme.h"
#include "ui/shell/open_part.h"
#include "ui/timeline/model/format.h"

namespace vramscope::ui {
namespace {

constexpr int kFieldPadding = 26;  // the frame, and the padding beside a field's text
constexpr int kDevices = 16;

}  // namespace

OpenPartDialog::OpenPartDialog(const QString& path, QWidget* parent) : QDialog(parent) {
  setWindowTitle(tr("Open part of a recording"));
  setMinimumWidth(460);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(18, 16, 18, 14);
  column->setSpacing(10);
  QLabel* about = MakeLabel(tr("Only the selected part is kept in memory. Blocks allocated before "
                               "this part form its start state. An empty field sets no limit."),
                            LabelRole::kDim);
  about->setWordWrap(true);
  column->addWidget(about);

  auto* grid = new QGridLayout;
  grid->setHorizontalSpacing(8);
  grid->setVerticalSpacing(8);
  grid->setColumnStretch(1, 1);
  grid->setColumnStretch(3, 1);
  const auto label = [&](const QString& text, int row, int at) {
    QLabel* made = MakeLabel(text, LabelRole::kBody);
    made->setProperty("role", "label");
    grid->addWidget(made, row, at);
  };
  const auto field = [&](const char* name, const QString& hint) {
    auto* edit = new QLineEdit;
    edit->setObjectName(QString::fromLatin1(name));
    edit->setPlaceholderText(hint);
    edit->setMinimumWidth(edit->fontMetrics().horizontalAdvance(hint) + kFieldPadding);
    connect(edit, &QLineEdit::textChanged, this, &OpenPartDialog::Check);
    return edit;
  };
  label(tr("File"), 0, 0);
  path_ = field("partPath", tr("path of a snapshot or a Kineto JSON file"));
  path_->setText(path);
  auto* browse = new QPushButton(tr("Browse …"));
  browse->setAutoDefault(false);
  connect(browse, &QPushButton::clicked, this, [this] {
    const QString found = QFileDialog::getOpenFileName(this, tr("Open part of a recording"),
                                                       QFileInfo(path_->text()).path());
    if (!found.isEmpty()) path_->setText(found);
  });
  grid->addWidget(path_, 0, 1, 1, 3);
  grid->addWidget(browse, 0, 4);
  label(tr("Device"), 1, 0);
  device_ = MakeComboBox();
  device_->setObjectName(QStringLiteral("partDevice"));
  device_->addItem(tr("all"));
  for (int d = 0; d < kDevices; ++d) device_->addItem(QString::number(d));
  grid->addWidget(device_, 1, 1);
  label(tr("Entries from"), 2, 0);
  first_ = field("partFirst", tr("first entry, 0"));
  grid->addWidget(first_, 2, 1);
  label(tr("to"), 2, 2);
  last_ = field("partLast", tr("last entry"));
  grid->addWidget(last_, 2, 3);
  label(tr("Time from"), 3, 0);
  from_ = field("partFrom", tr("beginning, or a time such as 1.5 s"));
  grid->addWidget(from_, 3, 1);
  label(tr("to"), 3, 2);
  to_ = field("partTo", tr("the end"));
  grid->addWidget(to_, 3, 3);
  column->addLayout(grid);

  problem_ = MakeLabel({}, LabelRole::kDim);
  problem_->setObjectName(QStringLiteral("partProblem"));
  problem_->setWordWrap(true);
  column->addWidget(problem_);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Open | QDialogButtonBox::Cancel);
  open_ = buttons->button(QDialogButtonBox::Open);
  connect(buttons, &QDialogButtonBox::accepted, this, &OpenPartDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  column->addWidget(buttons);
  Check();
}

void OpenPartDialog::setTimes(qint64 from_ns, qint64 to_ns) {
  // Use microseconds, which are exact enough and easy to read.
  from_->setText(tr("%1 us").arg(from_ns / 1000));
  to_->setText(tr("%1 us").arg((to_ns + 999) / 1000));
}

void OpenPartDialog::Check() {
  if (open_ == nullptr) return;  // still under construction
  const absl::StatusOr<importers::OpenOptions> part =
      ParsePart({.device = device_->currentIndex() - 1,
                 .first_entry = first_->text().toStdString(),
                 .last_entry = last_->text().toStdString(),
                 .from = from_->text().toStdString(),
                 .to = to_->text().toStdString()});
  const QFileInfo file(path_->text());
  QString problem;
  if (path_->text().isEmpty()) {
    problem = tr("Choose a file.");
  } else if (!file.isFile()) {
    problem = tr("There is no such file.");
  } else if (!part.ok()) {
    problem = ToQString(std::string(part.status().message()));
  }
  const QString size =
      QString::fromStdString(timeline::FormatBytesShort(static_cast<uint64_t>(file.size()), 1));
  problem_->setText(problem.isEmpty() ? tr("The file size is %1.").arg(size) : problem);
  SetTone(problem_, problem.isEmpty() ? "dim" : "bad");
  open_->setEnabled(problem.isEmpty());
  if (part.ok()) part_ = *part;
}

void OpenPartDialog::accept() {
  Check();
  if (!open_->isEnabled()) return;
  if (device_->currentIndex() > 0)
    part_.device = static_cast<uint8_t>(device_->currentIndex() - 1);
  else
    part_.device.reset();
  Q_EMIT chosen(path_->text(), part_);
  QDialog::accept();
}

}  // namespace vramscope::ui
