//! Formats with one request a line, in columns.

use crate::format::Format;
use crate::formats::fields::Fields;
use crate::formats::number;
use crate::formats::vscsi;
use crate::record::Kind;

/// What separates the columns.
#[derive(Clone, Copy)]
enum Separator {
    Comma,
    Space,
}

/// The unit of a column of offsets or lengths.
#[derive(Clone, Copy)]
enum Unit {
    Bytes,
    Sectors,
}

/// How reads and writes are named.
#[derive(Clone, Copy)]
enum Names {
    /// By a word that begins with R or W, in either case.
    Words,
    /// 0 reads, 1 writes.
    ReadsAreZero,
    /// 1 reads, 0 writes.
    WritesAreZero,
    /// Operation codes of SCSI in hexadecimal digits.
    ScsiCodes,
}

/// The columns of a format, each by its number from 0.
pub(super) struct Columns {
    separator: Separator,
    count: usize,
    time: usize,
    /// The decimal digits by which a time of 1 is multiplied to nanoseconds.
    time_digits: u32,
    response: Option<usize>,
    stream: Option<usize>,
    kind: usize,
    names: Names,
    offset: (usize, Unit),
    length: (usize, Unit),
    /// Whether the first line may hold the names of the columns.
    has_titles: bool,
}

/// The maximum number of columns of a format.
const MAX_COLUMNS: usize = 7;

impl Columns {
    /// Returns the columns of `format`; `None` where it has none.
    pub(super) fn new(format: Format) -> Option<Columns> {
        let bytes = |column| (column, Unit::Bytes);
        let sectors = |column| (column, Unit::Sectors);
        let csv = Columns {
            separator: Separator::Comma,
            count: 5,
            time: 0,
            time_digits: 3,
            response: None,
            stream: None,
            kind: 0,
            names: Names::Words,
            offset: bytes(0),
            length: bytes(0),
            has_titles: true,
        };
        match format {
            // Timestamp and ResponseTime in ticks of 100 ns: README of the traces, SNIA IOTTA 388.
            Format::Msr => Some(Columns {
                count: 7,
                time_digits: 2,
                stream: Some(2),
                kind: 3,
                offset: bytes(4),
                length: bytes(5),
                response: Some(6),
                ..csv
            }),
            // device_id, opcode, offset, length, timestamp in µs.
            Format::Alibaba => Some(Columns {
                time: 4,
                stream: Some(0),
                kind: 1,
                offset: bytes(2),
                length: bytes(3),
                ..csv
            }),
            // Timestamp in s, Offset and Size in sectors, IOType, VolumeID.
            Format::Tencent => Some(Columns {
                time_digits: 9,
                stream: Some(4),
                kind: 3,
                names: Names::ReadsAreZero,
                offset: sectors(1),
                length: sectors(2),
                ..csv
            }),
            // Timestamp and Response in s, IOType, LUN, Offset, Size.
            Format::Systor => Some(Columns {
                count: 6,
                time_digits: 9,
                response: Some(1),
                stream: Some(3),
                kind: 2,
                offset: bytes(4),
                length: bytes(5),
                ..csv
            }),
            // Time in ns, device, first sector, sectors, type.
            Format::Mqsim => Some(Columns {
                separator: Separator::Space,
                time_digits: 0,
                stream: Some(1),
                kind: 4,
                names: Names::WritesAreZero,
                offset: sectors(2),
                length: sectors(3),
                has_titles: false,
                ..csv
            }),
            // Time in µs, sector, op, bytes.
            Format::CloudPhysics => {
                Some(Columns { count: 4, kind: 2, offset: sectors(1), length: bytes(3), ..csv })
            }
            // Version of the record, time in s, operation code, bytes, sector: `data/trace.csv` of
            // libCacheSim.
            Format::VscsiCsv => Some(Columns {
                time: 1,
                time_digits: 9,
                kind: 2,
                names: Names::ScsiCodes,
                offset: sectors(4),
                length: bytes(3),
                ..csv
            }),
            Format::FioIolog
            | Format::Blkparse
            | Format::Blktrace
            | Format::Vscsi
            | Format::RequestLog
            | Format::Packed => None,
        }
    }

    pub(super) fn parse<'a>(
        &self,
        line_number: u64,
        line: &'a str,
    ) -> Result<Option<Fields<'a>>, String> {
        if line.starts_with('#') {
            return Ok(None);
        }
        let is_title = |text: &str| text.starts_with(|first: char| first.is_ascii_alphabetic());
        let mut columns = [""; MAX_COLUMNS];
        let mut count = 0;
        let mut add = |column: &'a str| {
            if let Some(place) = columns.get_mut(count) {
                *place = column.trim();
            }
            count += 1;
        };
        match self.separator {
            Separator::Comma => line.split(',').for_each(&mut add),
            Separator::Space => line.split_ascii_whitespace().for_each(&mut add),
        }
        if line_number == 1 && self.has_titles && is_title(columns[self.time]) {
            return Ok(None);
        }
        if count != self.count {
            return Err(format!("it has {count} columns, where this format has {}", self.count));
        }
        if matches!(self.names, Names::ScsiCodes) && !matches!(columns[0], "1" | "2") {
            return Err(format!("its version is '{}', not 1 or 2", columns[0].escape_default()));
        }
        // Systor has requests of no known type: an empty column.
        let Some(kind) = self.kind(columns[self.kind])? else { return Ok(None) };
        let length_of = |(column, unit): (usize, Unit)| match unit {
            Unit::Bytes => number::whole(columns[column]),
            Unit::Sectors => number::sectors(columns[column]),
        };
        let time = |column: usize| number::scaled(columns[column], self.time_digits);
        let response = match self.response.map(|column| columns[column]) {
            // A request of which the completion was not seen.
            None | Some("") => None,
            Some(text) => Some(number::scaled(text, self.time_digits)?),
        };
        let (offset, length) = match kind {
            Kind::Flush => (0, 0),
            Kind::Read | Kind::Write | Kind::Discard => {
                (length_of(self.offset)?, length_of(self.length)?)
            }
        };
        Ok(Some(Fields {
            completes: false,
            at: time(self.time)?,
            kind,
            // The host name of MSR is the same in a file.
            stream: self.stream.map_or("", |column| columns[column]),
            offset,
            length,
            response,
        }))
    }

    fn kind(&self, text: &str) -> Result<Option<Kind>, String> {
        let wrong = || Err(format!("'{}' is not a type of request", text.escape_default()));
        match (self.names, text) {
            (Names::ReadsAreZero, "0") | (Names::WritesAreZero, "1") => Ok(Some(Kind::Read)),
            (Names::ReadsAreZero, "1") | (Names::WritesAreZero, "0") => Ok(Some(Kind::Write)),
            (Names::ReadsAreZero | Names::WritesAreZero, _) => wrong(),
            (Names::ScsiCodes, code) => match u8::from_str_radix(code, 16) {
                Ok(code) => Ok(vscsi::kind_of(code)),
                Err(_) => wrong(),
            },
            (Names::Words, "") => Ok(None),
            (Names::Words, "R" | "r" | "Read" | "read" | "READ") => Ok(Some(Kind::Read)),
            (Names::Words, "W" | "w" | "Write" | "write" | "WRITE") => Ok(Some(Kind::Write)),
            (Names::Words, _) => wrong(),
        }
    }
}
