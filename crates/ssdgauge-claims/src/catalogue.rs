//! The reviews of this program, and the claims that a user names.

use crate::claim::{Claim, Review, TestNeed};
use thiserror::Error;

/// The text of each review. A new review is a new file and its line here.
const REVIEWS: [(&str, &str); 5] = [
    ("970-evo.toml", include_str!("../claims/970-evo.toml")),
    ("960-evo.toml", include_str!("../claims/960-evo.toml")),
    ("dc500.toml", include_str!("../claims/dc500.toml")),
    ("sm951.toml", include_str!("../claims/sm951.toml")),
    ("983-zet.toml", include_str!("../claims/983-zet.toml")),
];

/// The claims that measurements of real drives make.
const MEASURED: (&str, &str) = ("measured.toml", include_str!("../claims/measured.toml"));

/// The text of the suite with the loads of these measurements; its id is `measured`.
pub const MEASURED_SUITE: &str = include_str!("../measured/suite.toml");

/// Why claims cannot be read or found.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CatalogueError {
    /// The text of a review is not valid.
    #[error("{file}: {reason}")]
    Text {
        /// The file.
        file: String,
        /// The error of the TOML reader, or what is missing.
        reason: String,
    },
    /// No claim has this id.
    #[error("unknown claim '{id}'")]
    Unknown {
        /// The id.
        id: String,
        /// The most similar id; `None` where none is similar.
        similar: Option<String>,
    },
}

/// One run that claims need: a test on a virtual drive.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunNeed {
    /// The target after `sim:`.
    pub drive: String,
    /// The test.
    pub test: TestNeed,
}

/// Returns every review.
///
/// # Errors
/// A text that is not valid, or a reference to a drive or a test that it does not define. The built-in
/// texts are tested.
pub fn reviews() -> Result<Vec<Review>, CatalogueError> {
    REVIEWS.iter().map(|(file, text)| parse(file, text)).collect()
}

/// Returns the claims that public measurements of real drives make.
///
/// # Errors
/// As [`reviews`].
pub fn measured() -> Result<Review, CatalogueError> {
    parse(MEASURED.0, MEASURED.1)
}

/// Reads the text of a review.
///
/// # Errors
/// As [`reviews`].
pub fn parse(file: &str, text: &str) -> Result<Review, CatalogueError> {
    let wrong = |reason: String| CatalogueError::Text { file: file.to_owned(), reason };
    let review: Review = toml::from_str(text).map_err(|error| wrong(error.to_string()))?;
    for claim in &review.claims {
        let answers = [claim.is_checked(), !claim.cannot.is_empty(), !claim.open.is_empty()];
        if answers.iter().filter(|one| **one).count() != 1 {
            return Err(wrong(format!("{}: one of checks, cannot and open is needed", claim.id)));
        }
        for (drive, test) in claim.needs() {
            if !review.drives.contains_key(&drive) {
                return Err(wrong(format!("{}: unknown drive '{drive}'", claim.id)));
            }
            if !review.tests.contains_key(&test) {
                return Err(wrong(format!("{}: unknown test '{test}'", claim.id)));
            }
        }
    }
    Ok(review)
}

impl Review {
    /// Returns the runs that `claim` needs, with the names of drive and test in the review.
    pub fn runs_of(&self, claim: &Claim) -> Vec<(String, String, RunNeed)> {
        let run = |(drive, test): (String, String)| {
            let need =
                RunNeed { drive: self.drives[&drive].clone(), test: self.tests[&test].clone() };
            (drive, test, need)
        };
        claim.needs().into_iter().map(run).collect()
    }

    /// Keeps the claims that `ids` name; all of them where it is empty.
    pub fn retain(&mut self, ids: &[String]) {
        self.claims.retain(|claim| ids.is_empty() || ids.contains(&claim.id));
    }
}

/// Checks that each of `ids` is the id of a claim of `reviews`.
///
/// # Errors
/// [`CatalogueError::Unknown`] for the first one that is not.
pub fn check_ids(reviews: &[Review], ids: &[String]) -> Result<(), CatalogueError> {
    let known: Vec<&str> =
        reviews.iter().flat_map(|review| &review.claims).map(|claim| claim.id.as_str()).collect();
    match ids.iter().find(|id| !known.contains(&id.as_str())) {
        None => Ok(()),
        Some(id) => {
            let nearest = known.iter().min_by_key(|one| difference(id, one));
            let similar = nearest.filter(|one| difference(id, one) <= 1);
            Err(CatalogueError::Unknown {
                id: id.clone(),
                similar: similar.map(|one| (*one).to_owned()),
            })
        }
    }
}

/// Returns the length of the part in which `written`, in capitals, differs from `id`.
fn difference(written: &str, id: &str) -> usize {
    let (a, b) = (written.to_uppercase().into_bytes(), id.as_bytes());
    let head = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let ends = a[head..].iter().rev().zip(b[head..].iter().rev());
    a.len().max(b.len()) - head - ends.take_while(|(x, y)| x == y).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::{Group, Label};
    use crate::held_out::held_out;
    use std::collections::BTreeSet;

    fn claims() -> Vec<Claim> {
        reviews().unwrap().into_iter().flat_map(|review| review.claims).collect()
    }

    #[test]
    fn the_claims_are_those_of_the_five_reviews() {
        let claims = claims();
        let ids: BTreeSet<&str> = claims.iter().map(|claim| claim.id.as_str()).collect();
        assert_eq!((claims.len(), ids.len()), (77, 77));
        let counted = |group| claims.iter().filter(|claim| claim.kind.group() == group).count();
        assert_eq!([Group::Behaviour, Group::Method, Group::Readers].map(counted), [41, 18, 18]);
        let can = |group: Group| {
            let of_group = claims.iter().filter(|claim| claim.kind.group() == group);
            of_group.filter(|claim| claim.cannot.is_empty()).count()
        };
        assert_eq!([Group::Behaviour, Group::Method, Group::Readers].map(can), [40, 4, 8]);
        assert!(held_out().all(|id| ids.contains(id)));
        let others = claims.iter().flat_map(|claim| &claim.contradicts);
        assert!(others.into_iter().all(|id| ids.contains(id.as_str())));
    }

    #[test]
    fn no_claim_is_held_out_and_fitted() {
        let is_fitted = |claim: &Claim| claim.label == Some(Label::Fitted);
        assert!(claims().iter().all(|claim| !(is_fitted(claim) && claim.is_held_out())));
    }

    #[test]
    fn an_unknown_id_is_refused_with_a_similar_one() {
        let reviews = reviews().unwrap();
        let similar = |id: &str| match check_ids(&reviews, &[id.to_owned()]) {
            Err(CatalogueError::Unknown { similar, .. }) => similar,
            other => panic!("{id}: {other:?}"),
        };
        assert_eq!(similar("s2-4").as_deref(), Some("S2-4"));
        assert_eq!(similar("S24").as_deref(), Some("S2-4"));
        assert_eq!(similar("latency"), None);
        assert_eq!(check_ids(&reviews, &["S2-4".to_owned()]), Ok(()));
    }

    #[test]
    fn a_review_with_a_gap_is_refused_with_its_place() {
        let head = "id='x'\ntitle='t'\nsource='s'\n[drives]\na='tiny'\n[tests]\n[[claim]]\n\
                    id='X-1'\nstatement='s'\nkind='shape'\n";
        for (rest, word) in [
            ("", "one of checks"),
            ("cannot='a'\nopen='b'", "one of checks"),
            ("checks=[{check='settled', of='b t iops'}]", "unknown drive 'b'"),
            ("checks=[{check='settled', of='a t iops'}]", "unknown test 't'"),
            ("checks=[{check='odd', of='a t iops'}]", "odd"),
            ("speed=1", "speed"),
        ] {
            let error = parse("x.toml", &format!("{head}{rest}")).unwrap_err().to_string();
            assert!(error.contains(word) && error.starts_with("x.toml"), "{error}");
        }
    }
}
