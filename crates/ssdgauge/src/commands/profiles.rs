//! `ssdgauge drives sim:`: lists the virtual drives.

use serde::Serialize;
use ssdgauge_core::VIRTUAL;
use ssdgauge_sim::{ProfileListing, profiles, reviewed_profiles, target_keys};
use ssdgauge_watch::terminal::colour::{Paint, Role};
use ssdgauge_watch::terminal::table::{self, Column, Fit};
use ssdgauge_watch::terminal::{self, width};

/// The columns of the list.
const COLUMNS: [Column; 2] =
    [Column::text("DRIVE", Fit::Whole), Column::text("MODEL OF", Fit::Fold)];

/// `drives sim: --json`.
#[derive(Serialize)]
struct Document {
    schema_version: u32,
    profiles: Vec<Row>,
    /// The keys of a target.
    keys: Vec<String>,
}

/// A profile of a virtual drive.
#[derive(Serialize)]
struct Row {
    name: String,
    target: String,
    title: String,
    description: String,
}

/// Prints the profiles of virtual drives.
pub(crate) fn print_list(as_json: bool) {
    let (own, reviewed) = (profiles(), reviewed_profiles());
    if as_json {
        let row = |profile: &ProfileListing| Row {
            name: profile.name.to_owned(),
            target: format!("{VIRTUAL}{}", profile.name),
            title: profile.title.to_owned(),
            description: profile.description.to_owned(),
        };
        let profiles = own.iter().chain(&reviewed).map(row).collect();
        terminal::print_document(&Document { schema_version: 1, profiles, keys: target_keys() });
        return;
    }
    let paint = Paint::of_stdout();
    let row = |profile: &ProfileListing| {
        vec![paint.text(Role::Value, &format!("{VIRTUAL}{}", profile.name)), profile.title.clone()]
    };
    let rows: Vec<Vec<String>> = own.iter().chain(&reviewed).map(row).collect();
    terminal::print_folded(&table::rows(&COLUMNS, &rows, width::columns()).concat());
    let example = paint.text(Role::Command, "ssdgauge drives sim:tlc-client");
    terminal::print_folded(&format!(
        "\none drive: {example}; its capacity and other keys are set after it: \
         sim:tlc-client?capacity=250GB\nanother drive of a model: sim:tlc-client?seed=2; one that throttles early: \
         sim:tlc-client?thermal.throttle_c=50&thermal.resume_c=45\nkeys: {}\n",
        target_keys().join(", ")
    ));
}
