#include "ui/panels/run_panel.h"

#include <QComboBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QStandardItemModel>
#include <QToolButton>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/base/i18n.h"
#include "profiler/estimate/weights.h"
#include "profiler/run/catalogue.h"
#include "profiler/run/seq.h"
#include "ui/panels/device_dialog.h"
#include "ui/panels/form_widgets.h"
#include "ui/panels/qt_theme.h"
#include "ui/panels/techniques.h"
#include "ui/timeline/model/format.h"

namespace vramscope::ui {
namespace {

using run::RunConfig;

constexpr std::string_view kDefaultMomentum = "0.9";
constexpr int kBoxPadding = 22;  // in pixels: border, padding and text cursor
constexpr int kArrow = 18;       // in pixels: the arrow of a combo box
constexpr const char* kUsualDevice = "RTX 4090 \u00b7 24 GiB";  // for the box's minimum width
constexpr int kUsualLengths[] = {128, 256, 512, 1024, 2048, 4096, 8192};

// An optimizer of the catalogue with one of its implementations. SGD has two entries, with and
// without momentum.
struct OptimizerChoice {
  std::string name, title, impl, momentum;
};
const std::vector<OptimizerChoice>& OptimizerChoices() {
  static const auto* choices = [] {
    auto* out = new std::vector<OptimizerChoice>;
    for (const run::OptimizerDeclaration& o : run::TheCatalogue().optimizers) {
      const auto add = [&](std::string_view momentum) {
        for (const std::string& impl : o.implementations)
          out->push_back({o.id, o.title, impl, std::string(momentum)});
      };
      add("0");
      if (o.id == "sgd") add(kDefaultMomentum);
    }
    return out;
  }();
  return *choices;
}

QString LabelOf(const OptimizerChoice& choice) {
  const std::string more = choice.momentum == "0" ? "" : i18n::Text(" + momentum");
  return ToQString(i18n::Text(choice.title) + more + " · " + choice.impl);
}

// Returns a title such as "gpt2 · 124 M", or only the name if the parameters are not counted.
QString TitleOfPreset(const run::ModelPreset& preset) {
  static const auto* parameters = [] {
    auto* counts = new std::map<std::string, uint64_t, std::less<>>;
    for (const run::ModelPreset& each : run::ModelPresets())
      if (const auto weights = estimate::CountWeights(each.config_json); weights.ok())
        counts->emplace(each.name, weights->total());
      else if (each.parameters > 0)
        counts->emplace(each.name, each.parameters);
    return counts;
  }();
  const QString name = ToQString(preset.name);
  const auto count = parameters->find(preset.name);
  return count == parameters->end()
             ? name
             : QStringLiteral("%1 · %2").arg(name,
                                             ToQString(timeline::FormatParameters(count->second)));
}

// Returns the text of the sequence field. If the samples' lengths come from a file, the text is
// only the length to which they are truncated. The technique's own control shows the file.
std::string ShownSeq(const RunConfig& config) {
  return config.Get("lengths").empty() ? std::to_string(config.seq) : run::SeqText(config);
}

}  // namespace

RunPanel::RunPanel(QWidget* parent) : QWidget(parent) {
  auto* grid = new QGridLayout(this);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setHorizontalSpacing(8);
  grid->setVerticalSpacing(4);
  grid->setColumnStretch(1, 1);
  grid->setColumnMinimumWidth(0, 112);
  grid->addWidget(MakeLabel(tr("RUN"), LabelRole::kHeading), 0, 0);

  int line = 1;
  auto add = [&](const QString& title, QWidget* widget, const QString& explanation) {
    QLabel* label = MakeLabel(title, LabelRole::kBody);
    label->setProperty("role", "label");
    label->setToolTip(explanation);
    widget->setToolTip(explanation);
    grid->addWidget(label, line, 0);
    grid->addWidget(widget, line, 1);
    ++line;
  };

  model_ = MakeComboBox();
  model_->setObjectName(QStringLiteral("model"));
  add(tr("Model"), model_,
      tr("A built-in model with its number of parameters, or a Hugging Face config.json"));
  connect(model_, &QComboBox::activated, this, &RunPanel::ModelChosen);

  device_ = MakeComboBox();
  device_->setObjectName(QStringLiteral("device"));
  FillDevices(device_);
  QToolButton* choose = MakeDeviceButton("chooseDevice");
  connect(choose, &QToolButton::clicked, this, &RunPanel::chooseDevice);
  // The button is next to the title, because the combo box needs the whole line below.
  device_->setMinimumWidth(
      device_->fontMetrics().horizontalAdvance(QString::fromUtf8(kUsualDevice)) + kBoxPadding +
      kArrow);
  add(tr("Device"), device_, tr("The GPU to plan for"));
  grid->addWidget(choose, line - 1, 0, Qt::AlignRight | Qt::AlignVCenter);
  connect(device_, &QComboBox::activated, this, [this](int index) {
    RunConfig config = config_;
    config.device = device_->itemData(index).toString().toStdString();
    Edit(config);
  });

  auto spin = [this](const char* name, const QString& title, int high, int RunConfig::*field) {
    QSpinBox* box = MakeSpinBox(1, high, [this, title, high](const QString& typed) {
      Q_EMIT refused(tr("%1 is unchanged: \"%2\" is not a whole number from 1 to %3.")
                         .arg(title, typed)
                         .arg(high));
    });
    box->setObjectName(QString::fromLatin1(name));
    connect(box, &QSpinBox::valueChanged, this, [this, field](int value) {
      RunConfig config = config_;
      config.*field = value;
      Edit(config);
    });
    return box;
  };
  batch_ = spin("batch", tr("Batch"), 65536, &RunConfig::batch);
  // Make the box wide enough for the largest number, so that no digit is cut off.
  batch_->setMinimumWidth(batch_->fontMetrics().horizontalAdvance(QStringLiteral("65536")) +
                          kBoxPadding);
  seq_ = MakeComboBox();
  seq_->setObjectName(QStringLiteral("seq"));
  seq_->setEditable(true);
  // Wide enough for one length. The user can scroll a longer list in the field.
  seq_->setMinimumWidth(seq_->fontMetrics().horizontalAdvance(QStringLiteral("8192")) +
                        kBoxPadding + kArrow);
  seq_->setInsertPolicy(QComboBox::NoInsert);
  connect(seq_, &QComboBox::activated, this, [this](int i) { EditSeq(seq_->itemText(i)); });
  connect(seq_->lineEdit(), &QLineEdit::editingFinished, this,
          [this] { EditSeq(seq_->currentText()); });
  auto* sizes = new QWidget;
  auto* pair = new QHBoxLayout(sizes);
  pair->setContentsMargins(0, 0, 0, 0);
  pair->setSpacing(2);
  pair->addWidget(batch_, 2);
  pair->addWidget(MakeLabel(QStringLiteral("\u00d7"), LabelRole::kDim));
  pair->addWidget(seq_, 3);
  add(tr("Batch × sequence"), sizes,
      tr("Samples per optimizer step × tokens per sample. For varying lengths, enter a list "
         "(400,1536,400), ranges (256-1024), or the path of a file with lines \"length,count\""));
  micro_batches_ = spin("micro_batches", tr("Micro-batches"), 4096, &RunConfig::micro_batches);
  add(tr("Micro-batches"), micro_batches_,
      tr("Number of parts into which a batch is split. Each part has its own forward and backward "
         "pass"));
  steps_ = spin("steps", tr("Steps"), 1000, &RunConfig::steps);
  add(tr("Steps"), steps_,
      tr("Number of training steps. The first step creates the optimizer's state"));

  optimizer_ = MakeComboBox();
  optimizer_->setObjectName(QStringLiteral("optimizer"));
  for (const OptimizerChoice& choice : OptimizerChoices()) optimizer_->addItem(LabelOf(choice));
  add(tr("Optimizer"), optimizer_,
      tr("The optimizer and its implementation: “foreach” processes lists of tensors, “fused” uses "
         "one kernel, and “loop” processes one tensor at a time"));
  connect(optimizer_, &QComboBox::activated, this, [this](int index) {
    RunConfig config = config_;
    const OptimizerChoice& choice = OptimizerChoices()[static_cast<size_t>(index)];
    config.Set("optimizer.name", choice.name);
    config.Set("optimizer.impl", choice.impl);
    config.Set("optimizer.momentum", choice.momentum);
    run::SetDefaultWeightDecay(config);
    Edit(config);
  });
}

void RunPanel::chooseDevice() {
  auto* dialog = new DeviceDialog(QString::fromStdString(config_.device), window());
  connect(dialog, &DeviceDialog::chosen, this, [this](const QString& device) {
    RunConfig config = config_;
    config.device = device.toStdString();
    config.custom_device = {};  // discards the figures of the previous GPU
    Edit(config);
  });
  dialog->open();
}

void RunPanel::ModelChosen(int index) {
  if (index == model_->count() - 1) {
    setConfig(config_);  // resets the box to the present model
    Q_EMIT openModelConfigRequested();
    return;
  }
  const QString name = model_->itemData(index).toString();
  setConfig(config_);  // the box shows the present model until the window changes it
  Q_EMIT presetChosen(name);
}

void RunPanel::Edit(const RunConfig& config) {
  Q_EMIT configEdited(config);
  setConfig(config_);
}

void RunPanel::EditSeq(const QString& text) {
  const std::string written = text.trimmed().toStdString();
  if (written == ShownSeq(config_)) return;
  run::RunConfigBuilder builder(config_);
  absl::Status status = builder.Set("seq", written);
  const absl::StatusOr<RunConfig> config = builder.Build();
  if (status.ok()) status = config.status();
  if (status.ok()) return Edit(*config);
  Q_EMIT refused(ToQString(std::string(status.message())));
  setConfig(config_);
}

void RunPanel::setConfig(const RunConfig& config) {
  config_ = config;
  const QSignalBlocker blocks[] = {QSignalBlocker(model_),        QSignalBlocker(device_),
                                   QSignalBlocker(optimizer_),    QSignalBlocker(batch_),
                                   QSignalBlocker(seq_),          QSignalBlocker(steps_),
                                   QSignalBlocker(micro_batches_)};
  model_->clear();
  const bool all = qEnvironmentVariableIsSet("VRAMSCOPE_TEST_MODELS");
  for (const run::ModelPreset& preset : run::ModelPresets())
    if (all || !preset.for_tests || preset.name == config.model) {
      model_->addItem(TitleOfPreset(preset), ToQString(preset.name));
      // If the number of parameters were cut off, it could be misread as another number.
      model_->setItemData(model_->count() - 1, ToQString(preset.name), kShortTextRole);
    }
  const QString name = QString::fromStdString(config.model);
  if (model_->findData(name) < 0) model_->addItem(name, name);
  model_->setCurrentIndex(model_->findData(name));
  model_->insertSeparator(model_->count());
  model_->addItem(tr("open config.json …"));

  ShowDevice(device_, config.device);
  batch_->setValue(config.batch);
  const QString seq = ToQString(ShownSeq(config));
  seq_->clear();
  for (const int usual : kUsualLengths) seq_->addItem(QString::number(usual));
  if (seq_->findText(seq) < 0) seq_->addItem(seq);
  seq_->setCurrentIndex(seq_->findText(seq));
  micro_batches_->setValue(config.micro_batches);
  steps_->setValue(config.steps);
  const bool momentum = config.Number("optimizer.momentum") > 0;
  for (int i = 0; i < optimizer_->count(); ++i) {
    const OptimizerChoice& choice = OptimizerChoices()[static_cast<size_t>(i)];
    optimizer_->setItemText(i, LabelOf(choice));  // the language may have changed
    if (config.Is("optimizer.name", choice.name) && config.Is("optimizer.impl", choice.impl) &&
        (choice.name != "sgd" || (choice.momentum != "0") == momentum))
      optimizer_->setCurrentIndex(i);
  }
  if (available_) DisableUnavailable();
}

void RunPanel::setAvailable(std::function<bool(const RunConfig&)> available, const QString& why) {
  if (!available && !available_) return;
  available_ = std::move(available);
  unavailable_ = why;
  for (QWidget* widget :
       std::initializer_list<QWidget*>{device_, optimizer_, batch_, seq_, micro_batches_, steps_}) {
    widget->setEnabled(!available_);
    if (available_) {
      if (!widget->property("tip").isValid()) widget->setProperty("tip", widget->toolTip());
      widget->setToolTip(unavailable_);
    } else {
      widget->setToolTip(widget->property("tip").toString());
    }
  }
  setConfig(config_);
}

void RunPanel::DisableUnavailable() {
  auto* items = qobject_cast<QStandardItemModel*>(model_->model());
  if (items == nullptr) return;
  for (int i = 0; i < model_->count(); ++i) {
    const std::string name = model_->itemData(i).toString().toStdString();
    const absl::StatusOr<PresetChange> change = WithPreset(config_, name);
    if (name == config_.model || (change.ok() && available_(change->config))) continue;
    items->item(i)->setEnabled(false);
    items->item(i)->setToolTip(unavailable_);
  }
}

}  // namespace vramscope::ui
