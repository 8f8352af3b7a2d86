//! Values of a suite file that are words or numbers with a unit.

use ssdgauge_core::{Bytes, Nanos, PowerSaving};
use std::str::FromStr;

/// The last part of a step: a duration or a number of bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window(pub(crate) ssdgauge_core::Window);

impl FromStr for Window {
    type Err = String;

    fn from_str(text: &str) -> Result<Window, String> {
        let (time, bytes) = (text.parse::<Nanos>(), text.parse::<Bytes>());
        match (time, bytes) {
            (Ok(time), _) if time > Nanos::ZERO => Ok(Window(ssdgauge_core::Window::Time(time))),
            (_, Ok(bytes)) if bytes > Bytes(0) => Ok(Window(ssdgauge_core::Window::Bytes(bytes))),
            _ => Err(format!("'{text}' is neither a time such as 400s nor a size such as 16GB")),
        }
    }
}

/// Power saving of a drive, such as `active` or `PS1`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Power(pub(crate) PowerSaving);

impl FromStr for Power {
    type Err = String;

    fn from_str(text: &str) -> Result<Power, String> {
        // NVMe counts 32 power states (Base Specification, NPSS).
        let state = |number: &str| number.parse::<u8>().ok().filter(|number| *number < 32);
        match (text, text.strip_prefix("PS").and_then(state)) {
            ("as-found", _) => Ok(Power(PowerSaving::AsFound)),
            ("active", _) => Ok(Power(PowerSaving::Active)),
            ("low", _) => Ok(Power(PowerSaving::Low)),
            (_, Some(number)) => Ok(Power(PowerSaving::State(number))),
            (_, None) => Err(format!(
                "'{text}' is none of \"as-found\", \"active\", \"low\" and \"PS0\" to \"PS31\""
            )),
        }
    }
}
