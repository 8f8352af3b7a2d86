//! `ssdgauge config`: the settings that count, and where each comes from.

use crate::arguments::ConfigArguments;
use crate::settings::{self, Key, Origin, Settings};
use serde::Serialize;
use ssdgauge_watch::terminal;
use ssdgauge_watch::terminal::table::{self, Column, Fit};

const COLUMNS: [Column; 4] = [
    Column::text("KEY", Fit::Whole),
    Column::text("VALUE", Fit::Cut(12)),
    Column::text("FROM", Fit::Whole),
    Column::text("OPTION", Fit::Omit),
];

/// The settings, as JSON.
#[derive(Debug, Serialize)]
struct Document {
    schema_version: u32,
    file: Option<String>,
    exists: bool,
    settings: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    key: &'static str,
    value: Option<String>,
    /// `option`, `environment`, `file` or `default`.
    from: &'static str,
    /// The option, the variable or the line of the file.
    place: Option<String>,
    option: &'static str,
    variable: Option<&'static str>,
}

/// Prints the settings. Nothing is written.
pub(crate) fn execute(arguments: &ConfigArguments) {
    let settings = settings::current();
    let document = Document {
        schema_version: 1,
        file: settings.file.as_ref().map(|file| file.display().to_string()),
        exists: settings.has_file,
        settings: Key::ALL.map(|key| Row::new(settings, key)).into(),
    };
    match arguments.json {
        true => terminal::print_json(&serde_json::json!(document)),
        false => terminal::print_text(&text(&document)),
    }
}

impl Row {
    fn new(settings: &Settings, key: Key) -> Row {
        let (from, place) = match settings.origin(key) {
            Origin::Option(name) => ("option", Some((*name).to_owned())),
            Origin::Variable(name) => ("environment", Some((*name).to_owned())),
            Origin::Line(line) => ("file", Some(line.to_string())),
            Origin::Default => ("default", None),
        };
        let (option, variable) = (key.option(), key.variable());
        Row { key: key.name(), value: settings.text(key), from, place, option, variable }
    }

    fn cells(&self) -> Vec<String> {
        let from = match (self.from, &self.place) {
            ("file", Some(line)) => format!("line {line}"),
            (_, Some(place)) => place.clone(),
            (from, None) => from.to_owned(),
        };
        let value = terminal::line(self.value.as_deref().unwrap_or("-"));
        vec![self.key.to_owned(), value, from, self.option.to_owned()]
    }
}

fn text(document: &Document) -> String {
    let file = match (&document.file, document.exists) {
        (Some(file), true) => terminal::line(file),
        (Some(file), false) => format!("{} (does not exist)", terminal::line(file)),
        (None, _) => "none: no home folder is known".to_owned(),
    };
    let cells: Vec<Vec<String>> = document.settings.iter().map(Row::cells).collect();
    let rows = table::rows(&COLUMNS, &cells, terminal::width::columns()).concat();
    format!("configuration: {file}\n\n{}", rows.trim_end())
}
