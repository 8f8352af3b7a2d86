//! What the steps of a plan measured together: repeated steps, scored tests, steady rounds.

pub(crate) mod repeated;
pub(crate) mod scored;
pub(crate) mod steady_rounds;
