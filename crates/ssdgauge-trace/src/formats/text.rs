//! Formats of one line for each request or event.

mod blkparse;
mod columns;
mod fio;

use super::fields::Fields;
use super::{Event, LeftOut, Source};
use crate::error::TraceError;
use crate::format::Format;
use crate::lines::Lines;
use crate::record::{Kind, SECTOR, TraceRecord, whole_sectors};
use ssdgauge_core::Nanos;
use std::collections::BTreeMap;
use std::io::BufRead;

/// The maximum number of streams that are told apart; the others count as one.
const MAX_STREAMS: usize = 4_096;

/// How the lines of a format are read.
enum Parser {
    Fio(fio::Fio),
    Blkparse(blkparse::Blkparse),
    Columns(columns::Columns),
}

impl Parser {
    /// Returns the parser of `format` for a trace that begins with `head`; `None` for binary formats.
    fn new(format: Format, head: &str) -> Option<Parser> {
        match format {
            Format::FioIolog => Some(Parser::Fio(fio::Fio::default())),
            Format::Blkparse => Some(Parser::Blkparse(blkparse::Blkparse::new(head))),
            Format::Msr
            | Format::Alibaba
            | Format::Tencent
            | Format::Systor
            | Format::Mqsim
            | Format::CloudPhysics
            | Format::VscsiCsv => columns::Columns::new(format).map(Parser::Columns),
            Format::Blktrace | Format::Vscsi | Format::RequestLog | Format::Packed => None,
        }
    }

    /// Returns the fields of line `number`; `None` where it holds no request.
    fn parse<'a>(&mut self, number: u64, line: &'a str) -> Result<Option<Fields<'a>>, String> {
        match self {
            Parser::Fio(fio) => fio.parse(number, line),
            Parser::Blkparse(blkparse) => blkparse.parse(line),
            Parser::Columns(columns) => columns.parse(number, line),
        }
    }
}

/// The lines that are tried on each format.
const TRIED_LINES: usize = 16;

/// Recognises the format of a text by its first lines: the one that accepts most requests before its
/// first error. `None` where none accepts a request, or several accept as many.
pub(crate) fn recognise(head: &str) -> Option<Format> {
    let accepted = |format: Format| {
        let mut parser = Parser::new(format, head)?;
        let mut found = 0;
        for (number, line) in (1..).zip(head.lines().take(TRIED_LINES * 64)) {
            match parser.parse(number, line.trim()) {
                Ok(fields) => found += usize::from(fields.is_some()),
                Err(_) => break,
            }
            if found == TRIED_LINES {
                break;
            }
        }
        // A log of fio may open its files and do nothing in its first lines.
        let is_fio = format == Format::FioIolog && head.starts_with(fio::HEADER);
        Some(found + usize::from(is_fio)).filter(|found| *found > 0)
    };
    let scores = Format::ALL.into_iter().filter_map(|format| Some((accepted(format)?, format)));
    let scores: Vec<(usize, Format)> = scores.collect();
    let (most, format) = *scores.iter().max_by_key(|(found, _)| *found)?;
    let is_only = scores.iter().filter(|(found, _)| *found == most).count() == 1;
    is_only.then_some(format)
}

/// The reader of a text.
pub(crate) struct TextSource<R> {
    lines: Lines<R>,
    parser: Parser,
    streams: BTreeMap<String, u16>,
    left_out: LeftOut,
}

impl<R: BufRead> TextSource<R> {
    /// Returns the reader of a text in `format` that begins with `head`; `None` for binary formats.
    pub(crate) fn new(input: R, format: Format, head: &[u8]) -> Option<TextSource<R>> {
        let parser = Parser::new(format, &String::from_utf8_lossy(head))?;
        let lines = Lines::new(input);
        Some(TextSource { lines, parser, streams: BTreeMap::new(), left_out: LeftOut::default() })
    }
}

/// Returns the number of the stream called `name`.
fn stream_number(streams: &mut BTreeMap<String, u16>, name: &str) -> u16 {
    if let Some(number) = streams.get(name) {
        return *number;
    }
    if streams.len() >= MAX_STREAMS {
        return MAX_STREAMS as u16;
    }
    let number = streams.len() as u16;
    streams.insert(name.to_owned(), number);
    number
}

impl<R: BufRead> Source for TextSource<R> {
    fn next(&mut self) -> Result<Option<Event>, TraceError> {
        loop {
            let number = self.lines.number + 1;
            let Some(line) = self.lines.next()? else { return Ok(None) };
            let fields = match line {
                "" => Ok(None),
                line => self.parser.parse(number, line),
            };
            let event = fields.and_then(|fields| {
                let Some(fields) = fields else { return Ok(None) };
                let stream = stream_number(&mut self.streams, fields.stream);
                event(&fields, stream, &mut self.left_out)
            });
            match event {
                Ok(Some(event)) => return Ok(Some(event)),
                Ok(None) => self.left_out.ignored += 1,
                Err(what) if !self.lines.is_whole => {
                    let hint = "the file was cut off: copy it again, or remove its last line";
                    return Err(TraceError::at_line(number, what, hint));
                }
                Err(what) => {
                    let hint = "correct or remove the line, or name the format with --format";
                    return Err(TraceError::at_line(number, what, hint));
                }
            }
        }
    }

    fn left_out(&self) -> LeftOut {
        self.left_out
    }
}

/// Returns the event of a line; `None` where it transfers nothing.
fn event(
    fields: &Fields<'_>,
    stream: u16,
    left_out: &mut LeftOut,
) -> Result<Option<Event>, String> {
    let Fields { completes, at, kind, offset, length, response, .. } = *fields;
    if completes {
        let offset = offset / SECTOR * SECTOR;
        return Ok(Some(Event::Completion { stream, kind, offset, at }));
    }
    if length == 0 && kind != Kind::Flush {
        return Ok(None);
    }
    let (first, whole) = whole_sectors(kind, offset, length)?;
    left_out.rounded += u64::from((first.0, whole.0) != (offset, length));
    let response = response.map(Nanos);
    Ok(Some(Event::Request(TraceRecord {
        at: Nanos(at),
        kind,
        stream,
        offset: first,
        length: whole,
        response,
    })))
}
