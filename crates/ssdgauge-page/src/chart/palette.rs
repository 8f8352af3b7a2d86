//! Colours that people with any colour vision tell apart, on light and dark ground.

use ssdgauge_analysis::drives::drive_slots::OTHERS;

/// The colours of the six slots of drives on white, and the grey of all others.
///
/// Chosen so that any two of the seven differ by at least 20 (CIE76) and 12 (CIEDE2000) for full
/// protanopia, deuteranopia and tritanopia (simulated by the matrices of Machado, Oliveira and
/// Fernandes, 2009); a test computes the distances.
pub(crate) const PALETTE_LIGHT: [&str; OTHERS + 1] =
    ["#1a4ede", "#c4441c", "#06835a", "#db9106", "#842464", "#25a9f4", "#b9bdc3"];

/// The same slots on a dark ground, by the same rule.
pub(crate) const PALETTE_DARK: [&str; OTHERS + 1] =
    ["#496ee4", "#e75f36", "#0cc68b", "#eddc73", "#ea7bc9", "#bcf3fb", "#4b525c"];

/// A colour of pages and files by its use, in both themes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    /// The ground of a page.
    Ground,
    /// The ground of tables and cards.
    Card,
    /// The ground of what stands out.
    Tint,
    /// Text.
    Text,
    /// Secondary text.
    Muted,
    /// Ticks and remarks.
    Faint,
    /// Grid lines.
    Line,
    /// Axes and frames.
    Axis,
    /// Links.
    Link,
    /// Results that are good.
    Good,
    /// Warnings.
    Warning,
    /// Results that are bad.
    Bad,
    /// The ground of what is highlighted.
    Highlight,
    /// Flash beyond the fast cache.
    Flash,
}

impl Ink {
    const ALL: [Ink; 14] = [
        Ink::Ground,
        Ink::Card,
        Ink::Tint,
        Ink::Text,
        Ink::Muted,
        Ink::Faint,
        Ink::Line,
        Ink::Axis,
        Ink::Link,
        Ink::Good,
        Ink::Warning,
        Ink::Bad,
        Ink::Highlight,
        Ink::Flash,
    ];

    /// Returns the variable of the style sheet, and the colour on light and on dark ground.
    fn entry(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Ink::Ground => ("bg", "#fbfaf8", "#101317"),
            Ink::Card => ("card", "#fff", "#15181d"),
            Ink::Tint => ("tint", "#f3f1ec", "#1c2027"),
            Ink::Text => ("ink", "#16191d", "#eceef1"),
            Ink::Muted => ("ink2", "#565c65", "#a8afb9"),
            Ink::Faint => ("ink3", "#666d77", "#8b929d"),
            Ink::Line => ("line", "#e3e1dc", "#282d35"),
            Ink::Axis => ("line2", "#c9c6bf", "#3d434d"),
            Ink::Link => ("link", "#1a4ede", "#8fb0ff"),
            Ink::Good => ("good", "#06724e", "#3ecf9a"),
            Ink::Warning => ("warn", "#8a5200", "#f0b955"),
            Ink::Bad => ("bad", "#b3261e", "#ff8a7a"),
            Ink::Highlight => ("hi", "#fff6dc", "#2b2615"),
            Ink::Flash => ("blk", "#e6e3dc", "#2a2f37"),
        }
    }

    /// Returns the variable of the style sheet.
    pub(crate) fn variable(self) -> &'static str {
        self.entry().0
    }

    /// Returns the colour on `ground`.
    pub(crate) fn on(self, ground: Ground) -> &'static str {
        let (_, light, dark) = self.entry();
        match ground {
            Ground::Light => light,
            Ground::Dark => dark,
        }
    }
}

/// The ground of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// Dark text on light ground.
    Light,
    /// Light text on dark ground.
    Dark,
}

impl Ground {
    /// Returns the colours of the slots of drives.
    pub(crate) fn slots(self) -> &'static [&'static str] {
        match self {
            Ground::Light => &PALETTE_LIGHT,
            Ground::Dark => &PALETTE_DARK,
        }
    }
}

/// Returns the variables of the style sheet on light ground, or on dark ground.
pub(crate) fn variables(is_dark: bool) -> String {
    let of_ink = |ink: Ink| {
        let (name, light, dark) = ink.entry();
        format!("--{name}:{};", if is_dark { dark } else { light })
    };
    let slots = if is_dark { PALETTE_DARK } else { PALETTE_LIGHT };
    let of_slot = |(number, colour): (usize, &&str)| format!("--s{number}:{colour};");
    let grey = format!("--mute:{};", slots[OTHERS]);
    let inks = Ink::ALL.into_iter().map(of_ink);
    inks.chain(slots.iter().enumerate().map(of_slot)).chain([grey]).collect()
}

#[cfg(test)]
mod tests;
