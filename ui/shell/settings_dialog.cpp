#include "ui/shell/settings_dialog.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QPushButton>
#include <QTabBar>
#include <QTabWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/language/language.h"
#include "ui/panels/form_widgets.h"
#include "ui/panels/toggle_switch.h"
#include "ui/shell/keys_page.h"
#include "ui/shell/style.h"

namespace vramscope::ui {
namespace {

constexpr int kSettingsWidth = 720, kSettingsHeight = 560;
constexpr QLatin1String kScaleKey("ui-scale");

}  // namespace

int StoredUiScale(const QSettings& settings) {
  const int percent = settings.value(kScaleKey, 100).toInt();
  return std::ranges::find(kUiScales, percent) == std::end(kUiScales) ? 100 : percent;
}

SettingsDialog::SettingsDialog(ActionRegistry* registry, KeyBindings* bindings, QSettings* settings,
                               QWidget* parent)
    : QDialog(parent), registry_(registry), settings_(settings) {
  setAttribute(Qt::WA_DeleteOnClose);
  setObjectName(QStringLiteral("settingsDialog"));
  setWindowTitle(tr("Settings"));
  auto* column = new QVBoxLayout(this);
  tabs_ = new QTabWidget;
  tabs_->setDocumentMode(true);
  tabs_->tabBar()->setDrawBase(false);
  keys_ = new KeysPage(*registry, bindings);
  tabs_->addTab(MakeAppearance(), tr("Appearance"));
  tabs_->addTab(keys_, tr("Keys"));
  column->addWidget(tabs_, 1);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
  buttons->button(QDialogButtonBox::Close)->setIcon({});
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  column->addWidget(buttons);
  resize(kSettingsWidth, kSettingsHeight);
}

QWidget* SettingsDialog::MakeAppearance() {
  auto* page = new QWidget;
  auto* form = new QFormLayout(page);
  form->setVerticalSpacing(12);
  const auto trigger = [this](const QString& id) {
    QAction* action = registry_->Find(id);
    if (action != nullptr && !action->isChecked()) action->trigger();
  };
  const auto choice = [&](const char* name, const QString& prefix, const QStringList& values) {
    auto* box = MakeComboBox();
    box->setObjectName(QString::fromLatin1(name));
    for (const QString& value : values)
      if (const QAction* action = registry_->Find(prefix + value)) {
        box->addItem(action->text(), prefix + value);
        if (action->isChecked()) box->setCurrentIndex(box->count() - 1);
      }
    connect(box, &QComboBox::activated, this,
            [box, trigger](int at) { trigger(box->itemData(at).toString()); });
    return box;
  };
  registry_->Refresh();
  form->addRow(tr("Theme"), choice("settingsTheme", QStringLiteral("view.theme."),
                                   {ThemeName(ThemeChoice::kSystem), ThemeName(ThemeChoice::kDark),
                                    ThemeName(ThemeChoice::kLight)}));
  QStringList languages;
  for (const Language language : Languages()) languages << LanguageName(language);
  form->addRow(tr("Language"),
               choice("settingsLanguage", QStringLiteral("view.language."), languages));
  auto* scale = MakeComboBox();
  scale->setObjectName(QStringLiteral("settingsScale"));
  for (const int percent : kUiScales) {
    scale->addItem(tr("%1 %").arg(percent), percent);
    if (percent == StoredUiScale(*settings_)) scale->setCurrentIndex(scale->count() - 1);
  }
  auto* later = new QWidget;
  later->setObjectName(QStringLiteral("settingsScaleLater"));
  auto* restart = new QPushButton(tr("Restart now"));
  restart->setObjectName(QStringLiteral("settingsRestart"));
  restart->setToolTip(tr("Closes the window and opens it again with the same tabs"));
  connect(restart, &QPushButton::clicked, this, &SettingsDialog::restartAsked);
  auto* below = new QHBoxLayout(later);
  below->setContentsMargins(0, 0, 0, 0);
  below->addWidget(MakeLabel(tr("Takes effect at the next start"), LabelRole::kDim), 1);
  below->addWidget(restart);
  later->hide();
  connect(scale, &QComboBox::activated, this, [this, scale, later](int at) {
    settings_->setValue(kScaleKey, scale->itemData(at).toInt());
    later->show();
  });
  form->addRow(tr("UI scale"), scale);
  form->addRow(QString(), later);
  auto* motion = new QWidget;
  auto* line = new QHBoxLayout(motion);
  line->setContentsMargins(0, 0, 0, 0);
  motion_ = new ToggleSwitch;
  motion_->setObjectName(QStringLiteral("settingsMotion"));
  motion_->setAccessibleName(tr("Motion"));
  motion_->setChecked(!registry_->Find(QStringLiteral("view.animations"))->isChecked());
  connect(motion_, &QAbstractButton::clicked, this,
          [this] { registry_->Find(QStringLiteral("view.animations"))->trigger(); });
  line->addWidget(motion_);
  line->addWidget(MakeLabel(tr("Reduced: no animations"), LabelRole::kBody), 1);
  form->addRow(tr("Motion"), motion);
  return page;
}

void SettingsDialog::openPage(const QString& id) {
  tabs_->setCurrentIndex(id == QLatin1String("keys") ? 1 : 0);
}

void SettingsDialog::setTheme(const timeline::Theme& theme) {
  keys_->setTheme(theme);
  motion_->setTheme(theme);
}

}  // namespace vramscope::ui
