//! A claim of a review as data, and the file of a review.

use crate::check::Check;
use crate::held_out::is_held_out;
use crate::reference::Needs;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The claims of one review, with the drives and tests that they are about.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Review {
    /// The key of the review, such as `samsung-970-evo`.
    pub id: String,
    /// The subject of the review.
    pub title: String,
    /// Publisher, article and date.
    pub source: String,
    /// The target of each virtual drive behind `sim:`, by its name in the checks.
    pub drives: BTreeMap<String, String>,
    /// The tests, by their names in the checks.
    pub tests: BTreeMap<String, TestNeed>,
    /// Whether the claims are numbers of public measurements, and not statements of a review.
    #[serde(default)]
    pub measured: bool,
    /// The claims, in the order of the page.
    #[serde(rename = "claim")]
    pub claims: Vec<Claim>,
}

/// A test that claims need.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestNeed {
    /// The id of the suite.
    pub suite: String,
    /// The id of the test in it.
    pub test: String,
    /// The divisor of durations and byte limits; 1 for the full length.
    #[serde(default = "one")]
    pub shorten: u32,
    /// How often it is carried out, for a number whose interval over the seconds of one run does not decide a claim.
    #[serde(default = "one")]
    pub repeat: u32,
    /// Why a shorter test or a smaller drive gives the same answer; empty where neither is used.
    #[serde(default)]
    pub scale: String,
}

fn one() -> u32 {
    1
}

/// A statement of a review that runs can confirm or contradict.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The id, such as `S2-4`.
    pub id: String,
    /// The statement in our own words.
    pub statement: String,
    /// Its kind.
    pub kind: Kind,
    /// What its result is evidence of; `None` where it has no checks.
    pub label: Option<Label>,
    /// The quantities that a prediction is about, in the words of `fits/parameters.toml`.
    #[serde(default)]
    pub about: Vec<String>,
    /// What entails, corrected or constructed it: claims, parameters as `PROFILE SECTION.KEY`, or drives.
    #[serde(default)]
    pub by: Vec<String>,
    /// Whether its checks hold on every profile: then it proves nothing, and is not counted.
    #[serde(default)]
    pub cannot_fail: bool,
    /// The published number or relation in a few characters, for tables.
    #[serde(default)]
    pub published: String,
    /// The lines of `measured/facts.tsv` that it is about, as `DRIVE, LOAD, POINT, NUMBER`; empty for reviews.
    #[serde(default)]
    pub facts: Vec<String>,
    /// What must be true; empty where the claim is not checked.
    #[serde(default)]
    pub checks: Vec<Check>,
    /// Why a model cannot show it; empty where it can.
    #[serde(default)]
    pub cannot: String,
    /// Why it has no check yet; empty where it has one, or cannot be modelled.
    #[serde(default)]
    pub open: String,
    /// Where the statement and these models disagree, and why.
    #[serde(default)]
    pub note: String,
    /// The ids of claims that contradict it in these models.
    #[serde(default)]
    pub contradicts: Vec<String>,
}

/// What a result of a claim is evidence of, by how the parameters of its drives were chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Label {
    /// No parameter of its drives, inherited ones included, was fitted to it, or to a quantity that entails it.
    Predicted,
    /// It follows from numbers that parameters were fitted to, or from the structure of the model.
    Entailed,
    /// A parameter was fitted to it.
    Fitted,
    /// A drive was made for it.
    Constructed,
    /// A parameter was changed after it had failed.
    Corrected,
}

/// The kind of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A number.
    Quantity,
    /// An order of drives.
    Ordering,
    /// The shape of a curve.
    Shape,
    /// A method, or what it measures.
    Method,
    /// A statement or a question of a reader, or of the author in the comments.
    Reader,
}

/// The group in which claims are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Quantities, orderings and shapes.
    Behaviour,
    /// Methods.
    Method,
    /// Readers.
    Readers,
}

impl Kind {
    /// Returns the word used in tables and in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Quantity => "quantity",
            Kind::Ordering => "ordering",
            Kind::Shape => "shape",
            Kind::Method => "method",
            Kind::Reader => "reader",
        }
    }

    /// Returns the group in which it is counted.
    pub fn group(self) -> Group {
        match self {
            Kind::Quantity | Kind::Ordering | Kind::Shape => Group::Behaviour,
            Kind::Method => Group::Method,
            Kind::Reader => Group::Readers,
        }
    }
}

impl Label {
    /// All labels, those that are evidence first.
    pub const ALL: [Label; 5] =
        [Label::Predicted, Label::Entailed, Label::Fitted, Label::Constructed, Label::Corrected];

    /// Returns the word used in tables and in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Label::Predicted => "predicted",
            Label::Entailed => "entailed",
            Label::Fitted => "fitted",
            Label::Constructed => "constructed",
            Label::Corrected => "corrected",
        }
    }
}

impl Claim {
    /// Returns whether no parameter may be chosen by looking at it.
    pub fn is_held_out(&self) -> bool {
        is_held_out(&self.id)
    }

    /// Returns whether it has checks.
    pub fn is_checked(&self) -> bool {
        !self.checks.is_empty()
    }

    /// Returns the drives and tests that its checks refer to, by their names in the review.
    pub fn needs(&self) -> Needs {
        let mut needs = Needs::new();
        self.checks.iter().for_each(|check| check.add_needs(&mut needs));
        needs
    }
}
