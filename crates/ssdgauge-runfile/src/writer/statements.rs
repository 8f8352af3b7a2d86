//! Statements that add a record.

pub(super) const RUN: &str = "INSERT INTO run VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
pub(super) const DRIVE: &str =
    "INSERT INTO drive VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
pub(super) const ENVIRONMENT: &str = "INSERT INTO environment VALUES (?1, ?2, ?3)";
pub(super) const STEP: &str = "INSERT INTO step VALUES \
    (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)";
/// The columns of a step that are final at its start.
pub(super) const START_COLUMNS: usize = 9;
pub(super) const INTERVAL: &str = "INSERT INTO interval VALUES \
    (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";
pub(super) const READING: &str = "INSERT INTO reading VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
pub(super) const PROPERTY: &str = "INSERT INTO property VALUES (?1, ?2, ?3, ?4)";
pub(super) const FINDING: &str = "INSERT INTO finding VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
pub(super) const ANSWER: &str = "INSERT INTO answer VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
pub(super) const PERCENTILE: &str = "INSERT INTO percentile VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
pub(super) const LOG_PAGE: &str = "INSERT INTO log_page VALUES (?1, ?2, ?3, ?4, ?5)";
pub(super) const DIGEST: &str = "INSERT INTO digest VALUES (?1, ?2, ?3, ?4, ?5)";
pub(super) const OUTCOME: &str = "INSERT INTO outcome VALUES (?1, ?2, ?3, ?4)";
pub(super) const LINK: &str = "INSERT INTO link VALUES (?1, ?2, ?3, ?4)";
