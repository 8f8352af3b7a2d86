//! Options of a replay (`run trace:FILE`).

use clap::Args;
use ssdgauge_core::Nanos;
use ssdgauge_trace::Format;

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ReplayOptions {
    /// Shorten idle times of a trace that are longer, such as 25ms or 1s; none keeps all of them.
    #[arg(long, value_name = "TIME|none", value_parser = parse_cut, hide_short_help = true)]
    pub(crate) idle_cut: Option<IdleCut>,
    /// Write the target once before a trace is replayed; a scratch file is always written.
    #[arg(long, hide_short_help = true)]
    pub(crate) fill: bool,
    /// Format of a trace, as for `trace info` [default: recognised by the content].
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub(crate) trace_format: Option<Format>,
}

/// The longest idle time that is kept; `None` for no cut.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IdleCut(pub(crate) Option<Nanos>);

impl ReplayOptions {
    /// Returns the first option that was given, which a suite does not have.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let options = [
            (self.idle_cut.is_some(), "--idle-cut"),
            (self.fill, "--fill"),
            (self.trace_format.is_some(), "--trace-format"),
        ];
        options.into_iter().find(|(given, _)| *given).map(|(_, name)| name)
    }
}

fn parse_cut(text: &str) -> Result<IdleCut, String> {
    match text {
        "none" => Ok(IdleCut(None)),
        time => time
            .parse()
            .map(Some)
            .map(IdleCut)
            .map_err(|_| "use a time, such as 25ms or 1s, or none".to_owned()),
    }
}
