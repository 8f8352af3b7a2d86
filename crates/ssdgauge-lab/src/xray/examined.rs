//! The result of an X-ray.

use ssdgauge_core::Bytes;
use ssdgauge_xray::{Answer, Series};

/// The result of an X-ray.
#[derive(Clone, Debug, PartialEq)]
pub struct Examined {
    /// The answer for each structure that was asked for, and for each that these need, in the order of
    /// [`ssdgauge_xray::Structure::ALL`].
    pub answers: Vec<Answer>,
    /// The series that they were read from, reduced for charts, in the same order.
    pub series: Vec<Series>,
    /// The bytes that were written.
    pub written: Bytes,
    /// The bytes that were read.
    pub read: Bytes,
    /// Whether every experiment was carried out.
    pub is_complete: bool,
}
