//! Colours, lines and cells of the terminal summary.

use ssdgauge_core::Severity;

/// The style of the terminal summary: width and colours.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    /// True for colours and line drawing; plain ASCII otherwise.
    pub(super) colour: bool,
    /// The columns of the terminal.
    pub(super) width: usize,
}

impl Style {
    /// Returns `text` in bold, cut to the width.
    pub(super) fn bold(&self, text: &str) -> String {
        self.wrapped_in("1", &self.fit(text, self.width))
    }

    /// Returns `text` in grey, cut to the width.
    pub(super) fn dim(&self, text: &str) -> String {
        self.wrapped_in("2", &self.fit(text, self.width))
    }

    /// Returns `text` in grey, in as many lines as its words need.
    pub(super) fn dim_folded(&self, text: &str) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for word in text.split_whitespace() {
            match lines.last_mut() {
                Some(line) if line.chars().count() + 1 + word.chars().count() <= self.width => {
                    line.push(' ');
                    line.push_str(word);
                }
                Some(_) | None => lines.push(word.to_owned()),
            }
        }
        lines.iter().map(|line| self.dim(line)).collect()
    }

    /// Returns `text` as a mark that must not be overlooked.
    pub(super) fn alarm(&self, text: &str) -> String {
        self.wrapped_in("1;33", &self.fit(text, self.width))
    }

    /// Returns `text` as it is, cut to the width.
    pub(super) fn plain(&self, text: &str) -> String {
        self.fit(text, self.width)
    }

    /// Returns an already cut cell in the colour of reads.
    pub(super) fn read(&self, cell: &str) -> String {
        self.wrapped_in("36", cell)
    }

    /// Returns an already cut cell in the colour of writes.
    pub(super) fn write(&self, cell: &str) -> String {
        self.wrapped_in("35", cell)
    }

    /// Returns an already cut cell as a state without objection.
    pub(super) fn good(&self, cell: &str) -> String {
        self.wrapped_in("32", cell)
    }

    /// Returns an already cut cell as a state that matters.
    pub(super) fn bad(&self, cell: &str) -> String {
        self.wrapped_in("31", cell)
    }

    /// Returns an already cut cell in bold.
    pub(super) fn strong(&self, cell: &str) -> String {
        self.wrapped_in("1", cell)
    }

    /// Returns an already cut cell in grey.
    pub(super) fn faint(&self, cell: &str) -> String {
        self.wrapped_in("2", cell)
    }

    /// Returns a line over the whole width.
    pub(super) fn rule(&self) -> String {
        let line = if self.colour { "─" } else { "-" };
        self.wrapped_in("2", &line.repeat(self.width))
    }

    /// Returns `text` in a cell of `width` columns, at its left edge.
    pub(super) fn left(&self, text: &str, width: usize) -> String {
        let text = self.fit(text, width);
        format!("{text:<width$}")
    }

    /// Returns `text` in a cell of `width` columns, at its right edge.
    pub(super) fn right(&self, text: &str, width: usize) -> String {
        let text = self.fit(text, width);
        format!("{text:>width$}")
    }

    /// Returns the width of a column at its right edge: `least`, or what the longest of `cells` needs with a space
    /// before it. Numbers are never cut, and never touch.
    pub(super) fn column<'a>(&self, least: usize, cells: impl Iterator<Item = &'a str>) -> usize {
        cells.map(|cell| self.letters(cell).chars().count() + 1).fold(least, usize::max)
    }

    /// Returns `text` broken into lines after `name`, and indented below it.
    pub(super) fn folded(&self, name: &str, text: &str) -> Vec<String> {
        let rows = self.rows(name.len(), text).into_iter().enumerate();
        let indent = " ".repeat(name.len());
        rows.map(
            |(number, row)| {
                if number == 0 { format!("{name}{row}") } else { format!("{indent}{row}") }
            },
        )
        .collect()
    }

    /// Returns the words of `text` in rows that have room after `indent`.
    fn rows(&self, indent: usize, text: &str) -> Vec<String> {
        let room = self.width.saturating_sub(indent).max(20);
        let mut rows = vec![String::new()];
        for word in self.letters(text).split_whitespace() {
            let row = rows.last().map_or(0, |row| row.chars().count());
            let word: String = word.chars().take(room).collect();
            if row > 0 && row + 1 + word.chars().count() > room {
                rows.push(word);
            } else if let Some(last) = rows.last_mut() {
                if row > 0 {
                    last.push(' ');
                }
                last.push_str(&word);
            }
        }
        rows
    }

    /// Returns `text` broken into lines, with `label` before the first and indented below it.
    pub(super) fn wrapped(&self, label: &str, severity: Severity, text: &str) -> Vec<String> {
        let indent = label.len() + 2;
        let colour = match severity {
            Severity::Note => "2",
            Severity::Warning => "33",
            Severity::Invalid => "1;31",
        };
        self.rows(indent, text)
            .into_iter()
            .enumerate()
            .map(|(number, row)| match number {
                0 => format!("{}: {row}", self.wrapped_in(colour, label)),
                _ => format!("{}{row}", " ".repeat(indent)),
            })
            .collect()
    }

    fn wrapped_in(&self, code: &str, text: &str) -> String {
        match self.colour {
            true => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            false => text.to_owned(),
        }
    }

    fn fit(&self, text: &str, width: usize) -> String {
        let text = self.letters(text);
        if text.chars().count() <= width {
            return text;
        }
        let end = if self.colour { "…" } else { "~" };
        let kept: String = text.chars().take(width.saturating_sub(1)).collect();
        format!("{}{end}", kept.trim_end())
    }

    /// Returns `text` in the characters that the terminal summary may use.
    fn letters(&self, text: &str) -> String {
        if self.colour {
            return text.to_owned();
        }
        let mut plain = String::with_capacity(text.len());
        for character in text.chars() {
            match character {
                ' '..='~' => plain.push(character),
                'µ' => plain.push('u'),
                '–' | '—' | '·' | '\u{2212}' => plain.push('-'),
                '×' => plain.push('x'),
                '÷' => plain.push('/'),
                'σ' => plain.push_str("sigma"),
                '°' => {}
                '±' => plain.push_str("+/-"),
                '…' => plain.push('~'),
                '\u{a0}' | '\u{202f}' => plain.push(' '),
                _ => plain.push('?'),
            }
        }
        plain
    }
}
