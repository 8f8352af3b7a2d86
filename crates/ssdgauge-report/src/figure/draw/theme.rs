//! Colours that people with any colour vision tell apart, on light and dark ground.

/// The source of the colours of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Theme {
    /// From the style sheet of the page.
    Page,
    /// From the picture itself, on white.
    Light,
}

/// The colours of drives on white: Okabe and Ito (2008), yellow left out because it vanishes on
/// white, darkened where a thin line would be faint.
pub(crate) const PALETTE_LIGHT: [&str; 7] =
    ["#0072b2", "#d55e00", "#00865f", "#b0548c", "#c98500", "#3a9ad0", "#444444"];

/// The same colours, lightened for a dark ground.
pub(crate) const PALETTE_DARK: [&str; 7] =
    ["#56b4e9", "#ff8a3d", "#2fc79a", "#e59cc8", "#f0b429", "#9ad4f5", "#c8c8c8"];

impl Theme {
    /// Returns the colour of text.
    pub(super) fn text(self) -> String {
        self.pick("var(--text)", "#1d2329")
    }

    /// Returns the colour of secondary text.
    pub(super) fn muted(self) -> String {
        self.pick("var(--muted)", "#5b6670")
    }

    /// Returns the colour of grid lines.
    pub(super) fn grid(self) -> String {
        self.pick("var(--grid)", "#e3e7ea")
    }

    /// Returns the colour of axes.
    pub(super) fn axis(self) -> String {
        self.pick("var(--axis)", "#8a949d")
    }

    /// Returns the ground; none on a page, whose own ground shows through.
    pub(super) fn background(self) -> Option<String> {
        match self {
            Theme::Page => None,
            Theme::Light => Some("#ffffff".to_owned()),
        }
    }

    /// Returns the colour of the drive or step with this number.
    pub(super) fn series(self, number: usize) -> String {
        let place = number % PALETTE_LIGHT.len();
        match self {
            Theme::Page => format!("var(--c{place})"),
            Theme::Light => PALETTE_LIGHT[place].to_owned(),
        }
    }

    /// Returns how often the colours repeated before the drive with this number: its shape and
    /// its dashes, so that no two of the first 28 look alike.
    pub(super) fn turn(number: usize) -> usize {
        number / PALETTE_LIGHT.len() % 4
    }

    /// Returns the dashes of the drive or step with this number: whole lines for the first seven,
    /// then patterns.
    pub(super) fn dashes(number: usize) -> Option<&'static str> {
        [None, Some("8 3"), Some("2 3"), Some("8 3 2 3")][Theme::turn(number)]
    }

    fn pick(self, variable: &str, fixed: &str) -> String {
        match self {
            Theme::Page => variable.to_owned(),
            Theme::Light => fixed.to_owned(),
        }
    }
}
