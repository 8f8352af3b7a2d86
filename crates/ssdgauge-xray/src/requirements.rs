//! What the inference of a structure needs from others. A refusal is inherited.

use crate::answer::{Answer, Refusal};
use crate::structure::Structure;

/// Each structure with those that have to be identified before it.
const NEEDS: [(Structure, &[Structure]); 13] = [
    // Waits of a host that is busy, or for no flash at all, look like those for a program.
    (Structure::Suspend, &[Structure::Link]),
    (Structure::ProgramTime, &[Structure::Link]),
    (Structure::WriteBuffer, &[Structure::Link]),
    (Structure::Command, &[Structure::Link]),
    (Structure::PageRead, &[Structure::Units]),
    (Structure::NativeRate, &[Structure::Cache]),
    (Structure::Overflow, &[Structure::Cache]),
    (Structure::Folding, &[Structure::Cache]),
    (Structure::Chunk, &[Structure::Units]),
    (Structure::Resume, &[Structure::Throttle]),
    (Structure::Cache, &[Structure::Link]),
    (Structure::Volumes, &[Structure::Link]),
    (Structure::Separation, &[Structure::EffectiveSpare]),
];

/// Returns the structures that have to be identified before `structure`.
pub fn needs(structure: Structure) -> &'static [Structure] {
    NEEDS.iter().find(|(of, _)| *of == structure).map_or(&[], |(_, needs)| needs)
}

/// Returns the refusal that `structure` inherits from `answers`; `None` where it lacks nothing.
pub fn lacks(structure: Structure, answers: &[Answer]) -> Option<Refusal> {
    needs(structure).iter().find_map(|needed| {
        let answer = answers.iter().find(|answer| answer.structure == *needed);
        match answer.map(|answer| &answer.outcome) {
            Some(Ok(_)) => None,
            Some(Err(reason)) => {
                Some(Refusal(format!("needs the {}: {}", needed.title(), reason.0)))
            }
            None => Some(Refusal(format!("needs the {}, which was not asked for", needed.title()))),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Value;

    #[test]
    fn a_refusal_is_inherited_with_its_reason() {
        let refused = Answer {
            structure: Structure::Cache,
            outcome: Err(Refusal("the rate never drops".into())),
            celsius: None,
        };
        let reason = lacks(Structure::Folding, std::slice::from_ref(&refused)).unwrap();
        assert_eq!(reason.0, "needs the fast cache, empty: the rate never drops");
        let found = Answer { outcome: Ok(Value::exact(1.0)), ..refused };
        assert_eq!(lacks(Structure::Folding, &[found]), None);
        assert!(lacks(Structure::Folding, &[]).is_some());
        assert_eq!(lacks(Structure::Link, &[]), None);
    }

    #[test]
    fn needs_form_no_circle() {
        for structure in Structure::ALL {
            let mut open = needs(structure).to_vec();
            for _ in 0..Structure::ALL.len() {
                assert!(!open.contains(&structure), "{structure:?}");
                open = open.iter().flat_map(|one| needs(*one)).copied().collect();
            }
            assert_eq!(open, []);
        }
    }
}
