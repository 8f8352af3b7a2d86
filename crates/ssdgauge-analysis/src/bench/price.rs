//! Prices of the drives of a site, from the notes of its editor.

use crate::bench::board::Bench;
use crate::inputs::input_error::InputError;
use crate::inputs::notes::{Notes, unmatched};

impl Bench {
    /// Takes over the prices in `notes`. A note names a drive by its name with capacity, or by a part of this name that no
    /// other drive has.
    ///
    /// # Errors
    ///
    /// Returns the line of the first note that is about no drive, about several, or a repetition.
    pub fn set_prices(&mut self, notes: &Notes) -> Result<(), InputError> {
        self.currency.clone_from(&notes.currency);
        for (number, note) in notes.drives.iter().enumerate() {
            let Some(drive) = self.named(&note.name) else {
                let names: Vec<String> =
                    self.drives.iter().map(|drive| drive.facts.full_name()).collect();
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                let (message, known) = unmatched(&note.name, &names);
                let hint = format!("use a part of one name with its capacity: {known}");
                return Err(notes.drive_error(number, &message, &hint));
            };
            let price = &mut self.drives[drive].price;
            if price.is_some() {
                let name = note.name.escape_debug();
                let message = format!("'{name}' is a drive that has notes already");
                return Err(notes.drive_error(number, &message, "give each drive one [[drive]]"));
            }
            *price = note.price;
        }
        Ok(())
    }

    /// Returns the drive with this name; else the only one whose name contains it, in any case.
    fn named(&self, name: &str) -> Option<usize> {
        let wanted = name.trim().to_lowercase();
        let names: Vec<String> =
            self.drives.iter().map(|drive| drive.facts.full_name().to_lowercase()).collect();
        let mut found = (0..names.len()).filter(|place| names[*place].contains(&wanted));
        let exact = names.iter().position(|name| *name == wanted);
        exact.or_else(|| found.next().filter(|_| found.next().is_none()))
    }
}
