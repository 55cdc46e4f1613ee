#include "ui/panels/device_dialog.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTabBar>
#include <QTabWidget>
#include <QTableWidget>
#include <QToolButton>
#include <QVBoxLayout>
#include <cmath>
#include <cstring>

#include "profiler/run/compute_capability.h"
#include "profiler/run/device.h"
#include "profiler/run/device_file.h"
#include "profiler/run/toggles.h"
#include "profiler/run/units.h"
#include "ui/panels/form_widgets.h"
#include "ui/panels/qt_theme.h"

namespace vramscope::ui {
namespace {

constexpr int kTablePage = 0, kFiguresPage = 1;
constexpr const char* kNotOfTheTable = "notOfTheTable";
constexpr const char* kExplanation = "explanation";

QString Text(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

QString Joined(const std::vector<std::string>& parts) {
  QStringList list;
  for (const std::string& part : parts) list << Text(part);
  return list.join(QStringLiteral(", "));
}

QTableWidgetItem* MakeCell(const QString& text, bool right) {
  auto* cell = new QTableWidgetItem(text);
  cell->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable);
  cell->setTextAlignment((right ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  return cell;
}

QLineEdit* MakeEdit(const QString& name, const QString& hint) {
  auto* edit = new QLineEdit;
  edit->setObjectName(name);
  edit->setPlaceholderText(hint);
  return edit;
}

QLabel* RowLabel(const QString& text) {
  QLabel* label = MakeLabel(text, LabelRole::kBody);
  label->setProperty("role", "label");
  return label;
}

}  // namespace

QString ShortDeviceName(const run::DeviceProfile& device) {
  QString name = QString::fromStdString(device.name);
  for (const char* prefix : {"NVIDIA ", "GeForce "})
    if (name.startsWith(QLatin1String(prefix))) name.remove(0, static_cast<int>(strlen(prefix)));
  name.replace(QLatin1String("Laptop GPU"), QLatin1String("Laptop"));
  // Many names already contain the memory size ("A100 80GB").
  if (name.contains(QLatin1String("GB")) || name.contains(QLatin1String("GiB)"))) return name;
  const double gib = static_cast<double>(device.memory_bytes) / 1073741824.0;
  return QStringLiteral("%1 · %2 GiB").arg(name).arg(std::lround(gib));
}

void FillDevices(QComboBox* box) {
  for (const run::Device& device : run::DeviceTable())
    box->addItem(ShortDeviceName(device), Text(device.key));
  box->setMaxVisibleItems(20);
}

void ShowDevice(QComboBox* box, const std::string& device) {
  int at = box->findData(Text(device));
  const absl::StatusOr<run::Device> found = run::ReadDevice(device);
  if (at < 0 && found.ok()) at = box->findData(Text(found->key));
  if (at < 0 && found.ok()) {
    // At most one entry of the box is not in the table. Another device that is not in the table
    // replaces it.
    const int last = box->count() - 1;
    if (box->property(kNotOfTheTable).toBool()) box->removeItem(last);
    box->setProperty(kNotOfTheTable, true);
    box->addItem(ShortDeviceName(*found), Text(found->key));
    at = box->count() - 1;
  }
  box->setCurrentIndex(at);
  // The tool tip shows the device's full name, which may be too long for the box.
  if (!box->property(kExplanation).isValid()) box->setProperty(kExplanation, box->toolTip());
  const QString explanation = box->property(kExplanation).toString();
  box->setToolTip(found.ok() ? Text(found->name) + QStringLiteral(" \u00b7 ") + explanation
                             : explanation);
}

QToolButton* MakeDeviceButton(const char* name) {
  auto* button = new QToolButton;
  button->setObjectName(QString::fromLatin1(name));
  button->setProperty("role", "quiet");
  button->setText(QStringLiteral("\u2026"));
  button->setToolTip(
      QObject::tr("Search for a GPU, choose a MIG slice, another memory size or a device file, or "
                  "enter a GPU's properties …"));
  button->setAccessibleName(QObject::tr("Choose the GPU"));
  return button;
}

DeviceDialog::DeviceDialog(const QString& device, QWidget* parent) : QDialog(parent) {
  setObjectName(QStringLiteral("deviceDialog"));
  setAttribute(Qt::WA_DeleteOnClose);
  setWindowTitle(tr("GPU to plan for"));
  resize(860, 640);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(18, 16, 18, 14);
  column->setSpacing(10);
  pages_ = new QTabWidget;
  pages_->setObjectName(QStringLiteral("devicePages"));
  pages_->setDocumentMode(true);
  pages_->tabBar()->setDrawBase(false);
  pages_->addTab(MakeTablePage(), tr("Device table"));
  pages_->addTab(MakeFiguresPage(), tr("File or properties"));
  column->addWidget(pages_, 1);

  about_ = new WrappedLabel(LabelRole::kDim);
  about_->setObjectName(QStringLiteral("deviceAbout"));
  column->addWidget(about_);
  problem_ = new WrappedLabel(LabelRole::kBody);
  problem_->setObjectName(QStringLiteral("deviceProblem"));
  SetTone(problem_, "bad");
  column->addWidget(problem_);
  text_ = MakeEdit(QStringLiteral("deviceText"), {});
  text_->setReadOnly(true);
  text_->setFont(PanelFont(timeline::Font::kMono));
  text_->setToolTip(tr("Command-line option that selects this GPU"));
  column->addWidget(text_);

  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
  ok_ = buttons->button(QDialogButtonBox::Ok);
  ok_->setText(tr("Use this GPU"));
  connect(buttons, &QDialogButtonBox::accepted, this, &DeviceDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  column->addWidget(buttons);
  connect(pages_, &QTabWidget::currentChanged, this, &DeviceDialog::Check);
  setDevice(device);
  search_->setFocus();
}

QWidget* DeviceDialog::MakeTablePage() {
  auto* page = new QWidget;
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(0, 10, 0, 0);
  column->setSpacing(8);
  search_ = MakeEdit(QStringLiteral("deviceSearch"),
                     tr("Search, for example for 3070 laptop, turing, datacenter or 8.6"));
  search_->setClearButtonEnabled(true);
  connect(search_, &QLineEdit::textChanged, this, &DeviceDialog::Filter);
  column->addWidget(search_);

  const QStringList titles = {tr("GPU"),  tr("Memory"), tr("SMs"),    tr("CC"),
                              tr("GB/s"), tr("bf16"),   tr("Assumed")};
  table_ = new QTableWidget(static_cast<int>(run::DeviceTable().size()),
                            static_cast<int>(titles.size()));
  table_->setObjectName(QStringLiteral("deviceTable"));
  table_->setHorizontalHeaderLabels(titles);
  table_->horizontalHeaderItem(3)->setToolTip(tr("Compute capability"));
  table_->horizontalHeaderItem(5)->setToolTip(tr("Dense 16-bit TFLOP/s"));
  table_->horizontalHeaderItem(6)->setToolTip(
      tr("Values taken from a similar GPU, because no source gives them for this GPU"));
  table_->verticalHeader()->hide();
  table_->setShowGrid(false);
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  int row = 0;
  for (const run::Device& d : run::DeviceTable()) {
    QString name = Text(d.name);
    if (name.startsWith(QLatin1String("NVIDIA "))) name.remove(0, 7);
    const QString cells[] = {name,
                             Text(run::FormatBytes(d.memory_bytes)),
                             QString::number(d.sm_count),
                             Text(run::ComputeCapabilityText(d.compute_capability)),
                             QString::number(std::lround(d.bandwidth_bytes_per_s / 1e9)),
                             QString::number(d.bf16_flops / 1e12, 'f', 1),
                             Joined(d.sources.Assumed())};
    int at = 0;
    for (const QString& cell : cells) {
      table_->setItem(row, at, MakeCell(cell, at > 0 && at < 6));
      ++at;
    }
    table_->item(row, 0)->setData(Qt::UserRole, Text(d.key));
    table_->item(row, 0)->setToolTip(Text(d.key));
    ++row;
  }
  // Let the header compute the widths, because it does so after the header has its font.
  table_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  table_->horizontalHeader()->setMinimumSectionSize(62);  // a bold title and its padding
  table_->horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
  connect(table_, &QTableWidget::itemSelectionChanged, this, [this] {
    ShowSlices();
    Check();
  });
  connect(table_, &QTableWidget::cellDoubleClicked, this, [this] { accept(); });
  column->addWidget(table_, 1);

  auto* line = new QHBoxLayout;
  line->setSpacing(8);
  line->addWidget(RowLabel(tr("MIG slice")));
  slice_ = MakeComboBox();
  slice_->setObjectName(QStringLiteral("deviceSlice"));
  connect(slice_, &QComboBox::currentIndexChanged, this, &DeviceDialog::Check);
  line->addWidget(slice_, 1);
  line->addSpacing(12);
  line->addWidget(RowLabel(tr("Memory")));
  memory_ = MakeEdit(QStringLiteral("deviceMemory"), tr("default, or e.g. 8GiB"));
  connect(memory_, &QLineEdit::textChanged, this, &DeviceDialog::Check);
  line->addWidget(memory_, 1);
  column->addLayout(line);
  return page;
}

QWidget* DeviceDialog::MakeFiguresPage() {
  auto* page = new QWidget;
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(0, 10, 0, 0);
  column->setSpacing(10);
  auto* head = new QHBoxLayout;
  auto* about = new WrappedLabel(LabelRole::kDim);
  about->setWrappedText(
      tr("Memory, compute capability and multiprocessors are required. Other empty fields get "
         "their values from the GPU in \"Based on\", or from the most similar GPU in the table."));
  head->addWidget(about, 1);
  auto* from = new QPushButton(tr("From file …"));
  from->setObjectName(QStringLiteral("deviceFromFile"));
  from->setAutoDefault(false);
  from->setToolTip(
      tr("Open a device file, which contains the same properties as JSON (see docs/devices.md)"));
  connect(from, &QPushButton::clicked, this, [this] {
    const QString path = QFileDialog::getOpenFileName(this, tr("Device file"), {},
                                                      tr("Device files (*.json);;All files (*)"));
    if (!path.isEmpty()) openFile(path);
  });
  head->addWidget(from, 0, Qt::AlignTop);
  column->addLayout(head);

  auto* grid = new QGridLayout;
  grid->setHorizontalSpacing(8);
  grid->setVerticalSpacing(6);
  grid->setColumnStretch(1, 1);
  grid->setColumnStretch(3, 1);
  struct Row {
    const char* figure;
    QString title, hint;
  };
  const Row rows[] = {{"name", tr("Name"), tr("as CUDA reports it")},
                      {"like", tr("Based on"), tr("none, or a name such as rtx-4090")},
                      {"memory", tr("Memory"), QStringLiteral("24GiB")},
                      {"context", tr("CUDA context"), QStringLiteral("300MiB")},
                      {"compute_capability", tr("Compute capability"), QStringLiteral("8.6")},
                      {"multiprocessors", tr("Multiprocessors"), QStringLiteral("28")},
                      {"clock", tr("Boost clock"), QStringLiteral("1700MHz")},
                      {"l2", tr("L2 cache"), QStringLiteral("6MiB")},
                      {"bandwidth", tr("Bandwidth"), QStringLiteral("448GB/s")},
                      {"memory_bus", tr("Memory bus (bits)"), QStringLiteral("256")},
                      {"fp32", tr("fp32"), QStringLiteral("20TFLOPS")},
                      {"tf32", tr("tf32"), QStringLiteral("20TFLOPS")},
                      {"bf16", tr("bf16"), QStringLiteral("40TFLOPS")},
                      {"peers", tr("Peers"), QStringLiteral("none, pcie, nvlink")},
                      {"integrated", tr("Integrated"), QStringLiteral("false")},
                      {"ecc", tr("ECC"), QStringLiteral("false")}};
  int at = 0;
  for (const Row& row : rows) {
    QLineEdit* edit = MakeEdit(QStringLiteral("figure.") + QLatin1String(row.figure), row.hint);
    connect(edit, &QLineEdit::textChanged, this, &DeviceDialog::Check);
    grid->addWidget(RowLabel(row.title), at / 2, at % 2 * 2);
    grid->addWidget(edit, at / 2, at % 2 * 2 + 1);
    figures_[row.figure] = edit;
    ++at;
  }
  column->addLayout(grid);
  column->addStretch(1);
  return page;
}

void DeviceDialog::setDevice(const QString& device) {
  const absl::StatusOr<run::Device> found = run::ReadDevice(device.toStdString());
  const std::string text = found.ok() ? found->key : device.toStdString();
  const std::string base = text.substr(0, text.find_first_of(":,"));
  const size_t comma = text.find(',');
  const bool memory_alone = comma != std::string::npos && text.compare(comma, 8, ",memory=") == 0 &&
                            text.find(',', comma + 1) == std::string::npos;
  const bool of_table =
      base.find('=') == std::string::npos && (comma == std::string::npos || memory_alone);
  for (int row = 0; row < table_->rowCount(); ++row) {
    if (table_->item(row, 0)->data(Qt::UserRole).toString() != Text(base)) continue;
    table_->selectRow(row);
    table_->scrollToItem(table_->item(row, 0), QAbstractItemView::PositionAtCenter);
  }
  ShowSlices();
  if (of_table) {
    const size_t colon = text.find(':');
    if (colon != std::string::npos)
      slice_->setCurrentIndex(slice_->findData(Text(text.substr(colon + 1, comma - colon - 1))));
    memory_->setText(memory_alone && found.ok() ? Text(text.substr(comma + 8)) : QString());
  } else {
    for (auto& [name, edit] : figures_) edit->clear();
    std::string_view rest = text;
    while (!rest.empty()) {
      const std::string_view part = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(part.size() + 1, rest.size()));
      const size_t equals = part.find('=');
      const std::string name(equals == std::string_view::npos ? "like" : part.substr(0, equals));
      if (const auto edit = figures_.find(name); edit != figures_.end())
        edit->second->setText(
            Text(equals == std::string_view::npos ? part : part.substr(equals + 1)));
    }
  }
  pages_->setCurrentIndex(of_table ? kTablePage : kFiguresPage);
  Check();
}

void DeviceDialog::openFile(const QString& path) {
  pages_->setCurrentIndex(kFiguresPage);
  const absl::StatusOr<std::string> device =
      run::DeviceTextOf(QFileInfo(path).absoluteFilePath().toStdString());
  if (!device.ok()) {
    ShowProblem(Text(std::string(device.status().message())));
    return;
  }
  setDevice(Text(*device));
}

// Shows the GPUs of the table whose texts contain all words of the search.
void DeviceDialog::Filter() {
  std::vector<std::string> words;
  for (const QString& word : search_->text().split(QLatin1Char(' '), Qt::SkipEmptyParts))
    words.push_back(word.toStdString());
  int row = 0, first = -1;
  bool selected = false;
  for (const run::Device& d : run::DeviceTable()) {
    const bool fits = run::HasWords(run::SearchText(d), words);
    table_->setRowHidden(row, !fits);
    if (fits && first < 0) first = row;
    selected = selected || (fits && table_->selectionModel()->isRowSelected(row, {}));
    ++row;
  }
  // Select a visible row, because the Return key chooses the selected row.
  if (!selected && first >= 0) table_->selectRow(first);
  if (first < 0) table_->clearSelection();
  Check();
}

QString DeviceDialog::SelectedKey() const {
  const QList<QTableWidgetItem*> cells = table_->selectedItems();
  return cells.isEmpty() ? QString()
                         : table_->item(cells.front()->row(), 0)->data(Qt::UserRole).toString();
}

void DeviceDialog::ShowSlices() {
  const QSignalBlocker block(slice_);
  slice_->clear();
  slice_->addItem(tr("the whole GPU"));
  for (const run::MigSlice& slice : run::MigSlicesOf(SelectedKey().toStdString())) {
    slice_->addItem(tr("%1: %2, %3 SMs")
                        .arg(Text(slice.profile), Text(run::FormatBytes(slice.memory_bytes)))
                        .arg(slice.sm_count),
                    Text(slice.profile));
  }
  slice_->setEnabled(slice_->count() > 1);
  slice_->setToolTip(slice_->isEnabled() ? QString() : tr("This GPU does not support MIG"));
}

std::string DeviceDialog::Written() const {
  std::string text;
  if (pages_->currentIndex() == kTablePage) {
    text = SelectedKey().toStdString();
    if (const QString slice = slice_->currentData().toString(); !slice.isEmpty())
      text += ":" + slice.toStdString();
    if (const QString memory = memory_->text().trimmed(); !memory.isEmpty())
      text += ",memory=" + memory.toStdString();
    return text;
  }
  if (const QString like = figures_.at("like")->text().trimmed(); !like.isEmpty())
    text = like.toStdString();
  for (const auto& [name, edit] : figures_) {
    const QString value = edit->text().trimmed();
    if (name != "like" && !value.isEmpty())
      text += (text.empty() ? "" : ",") + name + "=" + value.toStdString();
  }
  return text;
}

void DeviceDialog::ShowProblem(const QString& problem) {
  const bool good = problem.isEmpty();
  ok_->setEnabled(good);
  problem_->setWrappedText(problem);
  problem_->setVisible(!good);
  about_->setVisible(good);
}

void DeviceDialog::Check() {
  if (ok_ == nullptr) return;  // still under construction
  const std::string written = Written();
  absl::StatusOr<run::Device> device = run::ReadDevice(written);
  QString problem;
  if (written.empty()) {
    problem = pages_->currentIndex() == kTablePage
                  ? tr("No GPU in the table matches.")
                  : tr("Enter the GPU's properties, or open a device file.");
  } else if (!device.ok()) {
    problem = Text(std::string(device.status().message()));
    if (problem.startsWith(QLatin1String("device: "))) problem.remove(0, 8);
  }
  const bool good = problem.isEmpty();
  ShowProblem(problem);
  const QString key = good ? Text(device->key) : QString();
  text_->setText(!good                            ? QString()
                 : key.contains(QLatin1Char(' ')) ? QStringLiteral("--device '%1'").arg(key)
                                                  : QStringLiteral("--device ") + key);
  text_->setCursorPosition(0);
  if (!good) return;
  QString about = tr("%1: %2, %3 multiprocessors, compute capability %4.")
                      .arg(Text(device->name), Text(run::FormatBytes(device->memory_bytes)))
                      .arg(device->sm_count)
                      .arg(Text(run::ComputeCapabilityText(device->compute_capability)));
  if (device->integrated) about += tr(" Its memory is shared with the processor.");
  if (const std::vector<std::string> assumed = device->sources.Assumed(); !assumed.empty())
    about += tr(" Assumed: %1.").arg(Joined(assumed));
  if (!run::RunsOnLibTorch(device->compute_capability))
    about +=
        tr(" LibTorch has no kernels for this GPU, so you can plan only your own programs for this "
           "GPU.");
  about_->setWrappedText(about);
}

QString DeviceDialog::device() const {
  const absl::StatusOr<run::Device> device = run::ReadDevice(Written());
  return device.ok() ? Text(device->key) : QString();
}

void DeviceDialog::accept() {
  const QString device = this->device();
  if (device.isEmpty()) return;
  Q_EMIT chosen(device);
  QDialog::accept();
}

}  // namespace vramscope::ui
