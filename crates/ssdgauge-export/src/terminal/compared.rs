//! A comparison on a terminal: how many numbers differ, then each of them, the worst first.

use crate::comparison;
use crate::terminal::NARROWEST;
use crate::terminal::style::Style;
use ssdgauge_analysis::comparison::compare::{Comparison, Difference, TestComparison};
use ssdgauge_analysis::text::number;
use ssdgauge_core::Metric;

/// The columns of a table, each with the space before it.
const VERDICT: usize = 14;
const VALUE: usize = 11;
const CHANGE: usize = 10;
const INTERVAL: usize = 20;
const UNIT: usize = 8;
/// The minimum width of a title next to the numbers. Chosen: two words of a title fit.
const TITLE: usize = 24;

/// Returns the comparison in at most `width` columns, in plain ASCII without `colour`.
///
/// A narrow table omits the intervals, then the values; the differences stay.
pub fn comparison_text(comparison: &Comparison, width: usize, colour: bool) -> String {
    let style = Style { colour, width: width.max(NARROWEST) };
    let mut lines = Vec::new();
    for (letter, name, id) in [
        ("A", &comparison.names[0], &comparison.ids[0]),
        ("B", &comparison.names[1], &comparison.ids[1]),
    ] {
        lines.extend(style.folded("   ", &format!("{name}, run {id}")));
        let last = lines.len() - 1;
        lines[last] = lines[last].replacen("   ", &format!("{letter}  "), 1);
    }
    lines
        .extend((!comparison.marks.is_empty()).then(|| style.alarm(&comparison.marks.join(" · "))));
    let doubts = comparison::doubts_in_words(comparison);
    lines.extend(doubts.iter().flat_map(|doubt| style.folded("", doubt)));
    lines.push(String::new());
    lines.extend(style.folded("", &count(comparison)));
    lines.push(String::new());
    lines.extend(table(comparison, &style));
    lines.push(String::new());
    lines.extend(style.folded("", &comparison::basis(comparison)));
    lines.extend(comparison::gate_words(comparison).map(|words| style.strong(&words)));
    lines.push(String::new());
    lines.join("\n")
}

/// Returns how many numbers of B are better, worse, equal and unknown.
fn count(comparison: &Comparison) -> String {
    let rows = comparison.rows();
    let of = |wanted: &dyn Fn(&Difference) -> bool| {
        rows.iter().filter(|(test, _)| wanted(&test.difference)).count()
    };
    let worse = of(&|one| *one == Difference::Worse);
    let better = of(&|one| *one == Difference::Better);
    let equal = of(&|one| *one == Difference::Equal);
    let rest = rows.len() - worse - better - equal;
    let numbers = match rows.len() {
        1 => "1 number".to_owned(),
        count => format!("{count} numbers"),
    };
    format!(
        "B is worse in {worse} of {numbers}, better in {better}, equal within {} in {equal}; \
         {rest} not decided",
        comparison::margin(comparison)
    )
}

/// Returns the place of a difference in the table: worse, better, equal, unknown.
fn place(difference: &Difference) -> u8 {
    match difference {
        Difference::Worse => 0,
        Difference::Better => 1,
        Difference::Equal => 2,
        Difference::Unknown(_) => 3,
    }
}

fn table(comparison: &Comparison, style: &Style) -> Vec<String> {
    let mut rows = comparison.rows();
    let distance = |test: &TestComparison| test.ratio.map_or(0.0, |ratio| ratio.value.ln().abs());
    rows.sort_by(|(a, _), (b, _)| {
        let far = || distance(b).total_cmp(&distance(a));
        place(&a.difference).cmp(&place(&b.difference)).then_with(far)
    });
    let cells: Vec<[String; 4]> = rows.iter().map(|(test, _)| cells_of(test)).collect();
    let [width_a, width_b, change_width, interval_width] = {
        let least = [VALUE, VALUE, CHANGE, INTERVAL];
        let column = |place: usize| cells.iter().map(move |cells| cells[place].as_str());
        [0, 1, 2, 3].map(|place| style.column(least[place], column(place)))
    };
    let taken = VERDICT + TITLE + change_width + UNIT + width_a + width_b;
    let (with_values, with_interval) =
        (style.width >= taken, style.width >= taken + interval_width);
    let numbers = |[a, b, change, interval]: [&str; 4]| {
        let mut cells = String::new();
        if with_values {
            cells.push_str(&style.right(a, width_a));
            cells.push_str(&style.right(b, width_b));
        }
        cells.push_str(&style.right(change, change_width));
        if with_interval {
            cells.push_str(&style.right(interval, interval_width));
        }
        cells
    };
    let head = numbers(["A", "B", "B to A", "95 % interval"]);
    let room = style.width.saturating_sub(VERDICT + UNIT + head.chars().count());
    let title = style.left("number", room);
    let mut lines = vec![style.faint(&format!("{:<VERDICT$}{title}{head}  unit", ""))];
    for ((test, others), cells) in rows.into_iter().zip(&cells) {
        let cells = numbers(cells.each_ref().map(String::as_str));
        let narrow = Style { width: room.saturating_sub(2), ..*style };
        let mut titles = narrow.folded("", &test.title).into_iter();
        let title = style.left(&titles.next().unwrap_or_default(), room);
        let unit = style.left(test.metric.unit(), UNIT - 2);
        let line = format!("{}{title}{cells}  {unit}", verdict(test, style));
        lines.push(line.trim_end().to_owned());
        lines.extend(titles.map(|more| format!("{:VERDICT$}{more}", "")));
        for remark in comparison::limit(test).into_iter().chain(comparison::cut(test)) {
            lines.extend(style.folded(&" ".repeat(VERDICT), &remark));
        }
        if let Difference::Unknown(reason) = &test.difference {
            lines.extend(style.folded(&" ".repeat(VERDICT), reason));
        }
        for other in others {
            let words = comparison::by_another_rule(other);
            lines.extend(style.folded(&" ".repeat(VERDICT), &words));
        }
    }
    lines
}

/// Returns both values, the change and its interval, as words.
fn cells_of(test: &TestComparison) -> [String; 4] {
    // The unit has a column of its own.
    let value = |place: usize| match test.metric == Metric::LoadMultiple {
        true => test.value_words(place).trim_end_matches('×').to_owned(),
        false => number::optional(test.values[place]),
    };
    let interval = test.ratio.and_then(|ratio| ratio.interval);
    let or_dash = |words: Option<String>| words.unwrap_or_else(|| number::NOTHING.to_owned());
    [
        value(0),
        value(1),
        or_dash(test.ratio.map(|ratio| number::change(ratio.value))),
        or_dash(
            interval
                .map(|(low, high)| format!("{} to {}", number::change(low), number::change(high))),
        ),
    ]
}

/// Returns the verdict in a cell, in the colour of its meaning.
fn verdict(test: &TestComparison, style: &Style) -> String {
    let cell = |word: &str| format!("{word:<VERDICT$}");
    match &test.difference {
        Difference::Better => style.good(&cell("better")),
        Difference::Worse => style.bad(&cell("worse")),
        Difference::Equal => style.faint(&cell("equal")),
        // Both were measured.
        Difference::Unknown(_) if test.ratio.is_some() => cell("not decided"),
        Difference::Unknown(_) => cell("not compared"),
    }
}
