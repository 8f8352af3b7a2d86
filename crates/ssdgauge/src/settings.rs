//! What counts where an option is absent: the environment, then the configuration file, then a default.
//!
//! The values are read once, before the command begins. The code that has the option asks here where it is absent.

mod file;
mod key;

pub(crate) use key::Key;

use crate::arguments::parse_size;
use crate::caller;
use crate::failure::{Failure, FailureKind};
use clap::ValueEnum;
use file::Written;
use ssdgauge_core::Bytes;
use ssdgauge_watch::terminal::colour::{self, ColourChoice};
use std::path::PathBuf;
use std::sync::OnceLock;

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// An option of this command line.
    Option(&'static str),
    /// This environment variable.
    Variable(&'static str),
    /// This line of the configuration.
    Line(usize),
    /// Nothing sets it.
    Default,
}

/// The values.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    /// The configuration file, whether it exists or not.
    pub(crate) file: Option<PathBuf>,
    /// Whether it exists.
    pub(crate) has_file: bool,
    pub(crate) library: Option<PathBuf>,
    pub(crate) notes: Option<PathBuf>,
    pub(crate) cohort: Option<PathBuf>,
    pub(crate) meters: Vec<String>,
    pub(crate) colour: ColourChoice,
    pub(crate) max_writes: Option<Bytes>,
    origins: Vec<(Key, Origin)>,
}

/// The values of this process.
static CURRENT: OnceLock<Settings> = OnceLock::new();

/// Returns the values; those of a process without any where they were not read, as in one that the program itself
/// starts.
pub(crate) fn current() -> &'static Settings {
    CURRENT.get_or_init(Settings::default)
}

/// Reads the values, once; `options` are those of the command line that any command has.
///
/// # Errors
///
/// Fails where a variable or the configuration has a wrong value or key, and refuses a configuration of root that
/// another user may write.
pub(crate) fn read(options: &GlobalOptions) -> Result<(), Failure> {
    let written = file::read()?;
    let mut settings = Settings {
        file: file::path(),
        has_file: written.is_some(),
        origins: Vec::new(),
        ..Settings::default()
    };
    for key in Key::ALL {
        let origin = settings.find(key, options, written.as_ref())?;
        settings.origins.push((key, origin));
    }
    // A second reading cannot occur: `main` parses one command line.
    let _ = CURRENT.set(settings);
    Ok(())
}

/// Takes only the values of `options`, for a process that the program itself starts.
pub(crate) fn take(options: &GlobalOptions) {
    let GlobalOptions { colour, library } = options.clone();
    let colour = colour.unwrap_or_default();
    let _ = CURRENT.set(Settings { library, colour, ..Settings::default() });
}

/// The keys that are options of every command.
#[derive(Clone, Debug, Default)]
pub(crate) struct GlobalOptions {
    /// `--color`.
    pub(crate) colour: Option<ColourChoice>,
    /// `--library`.
    pub(crate) library: Option<PathBuf>,
}

impl Settings {
    /// Returns where the value of `key` comes from.
    pub(crate) fn origin(&self, key: Key) -> &Origin {
        let found = self.origins.iter().find(|(one, _)| *one == key);
        found.map_or(&Origin::Default, |(_, origin)| origin)
    }

    /// Returns the value of `key` as text; `None` where it has none.
    pub(crate) fn text(&self, key: Key) -> Option<String> {
        let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
        match key {
            Key::Library => path(&self.library),
            Key::Notes => path(&self.notes),
            Key::Cohort => path(&self.cohort),
            Key::Meters => (!self.meters.is_empty()).then(|| self.meters.join(", ")),
            Key::Colour => Some(self.colour.name().to_owned()),
            Key::MaxWrites => self.max_writes.map(|bytes| bytes.about()),
        }
    }

    /// Sets `key` by the first that has it.
    fn find(
        &mut self,
        key: Key,
        options: &GlobalOptions,
        written: Option<&Written>,
    ) -> Result<Origin, Failure> {
        let option = match key {
            Key::Colour => options.colour.map(|colour| self.colour = colour),
            Key::Library => options.library.clone().map(|folder| self.library = Some(folder)),
            Key::Notes | Key::Cohort | Key::Meters | Key::MaxWrites => None,
        };
        if option.is_some() {
            return Ok(Origin::Option(key.option()));
        }
        if let (Key::Colour, Some(name)) = (key, colour::variable()) {
            // The variable says what is automatic.
            return Ok(Origin::Variable(name));
        }
        let variable = key.variable().and_then(|name| Some((name, std::env::var_os(name)?)));
        if let Some((name, value)) = variable.filter(|(_, value)| !value.is_empty()) {
            let value = value.to_string_lossy().into_owned();
            let texts: Vec<String> = match key == Key::Meters {
                true => value.lines().map(str::to_owned).collect(),
                false => vec![value],
            };
            self.set(key, &texts).map_err(|reason| {
                let text = format!("the environment variable {name}: {reason}");
                Failure::new(FailureKind::Usage, text, "set it to a valid value, or unset it")
            })?;
            return Ok(Origin::Variable(name));
        }
        let Some((written, (texts, line))) = written.and_then(|one| Some((one, one.get(key)?)))
        else {
            return Ok(Origin::Default);
        };
        let texts = match key {
            Key::Library | Key::Notes | Key::Cohort => {
                texts.iter().map(|text| absolute(text)).collect()
            }
            Key::Meters | Key::Colour | Key::MaxWrites => Ok(texts.to_vec()),
        };
        texts
            .and_then(|texts: Vec<String>| self.set(key, &texts))
            .map_err(|reason| written.wrong_value(key, &reason))?;
        Ok(Origin::Line(line))
    }

    fn set(&mut self, key: Key, texts: &[String]) -> Result<(), String> {
        let first = texts.first().map_or("", String::as_str);
        match key {
            Key::Library => self.library = Some(first.into()),
            Key::Notes => self.notes = Some(first.into()),
            Key::Cohort => self.cohort = Some(first.into()),
            Key::Meters => self.meters = texts.to_vec(),
            Key::Colour => {
                self.colour = ColourChoice::from_str(first, false)
                    .map_err(|_| format!("'{first}' is not auto, always or never"))?;
            }
            Key::MaxWrites => self.max_writes = Some(parse_size(first)?),
        }
        Ok(())
    }
}

/// Returns a path of the configuration, which has no folder that a relative one could begin at.
fn absolute(text: &str) -> Result<String, String> {
    let path = match text.strip_prefix("~/") {
        Some(rest) => caller::home().map(|home| home.join(rest).display().to_string()),
        None => std::path::Path::new(text).is_absolute().then(|| text.to_owned()),
    };
    path.ok_or_else(|| format!("'{text}' is not a path that begins with / or ~/"))
}
