//! The suites by the question that each one answers.

/// The questions, in the order of the list, with the suites that answer each.
pub(super) const QUESTIONS: [(&str, &[&str]); 12] = [
    ("Is my drive as fast as it should be?", &["quick"]),
    (
        "Does it suit my work: language models, databases, a desktop or games?",
        &["quick-ai", "quick-database", "quick-desktop", "fsload", "tasks"],
    ),
    (
        "What would a review of a client drive print?",
        &["client-2018", "client-2018-full", "client-2021", "iometer-2015", "as-ssd"],
    ),
    ("What would a review of a server drive print?", &["enterprise-2019", "enterprise-2020"]),
    ("How large is the cache, and how fast are writes after it?", &["cache-fill", "pulse"]),
    (
        "Does it slow down: when full, under long load, after heavy use?",
        &["fill-ladder", "consistency-2016", "degrade-recover", "four-states", "trim"],
    ),
    (
        "How much load can it take within a latency limit?",
        &["act", "act-24h", "act-48h", "load-curve", "commit"],
    ),
    ("How do size and depth of requests change its speed?", &["size-curve"]),
    ("How does it take a day of real requests?", &["like-light", "like-heavy", "like-destroyer"]),
    ("Models with experts, checkpoints of a training?", &["ai-experts", "ai-checkpoint"]),
    ("How much power does it need, and how fast does it wake up?", &["power-states"]),
    ("What do test standards and research say?", &["snia-pts-c", "snia-pts-e", "ssd-iq", "demo"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_suite_of_the_list_answers_one_question() {
        let mut answered: Vec<&str> =
            QUESTIONS.iter().flat_map(|(_, suites)| suites.iter().copied()).collect();
        answered.sort_unstable();
        let mut listed: Vec<&str> = ssdgauge_lab::listed().iter().map(|suite| suite.id).collect();
        listed.sort_unstable();
        assert_eq!(answered, listed);
    }
}
