//! The results of a single drive: a row for each test.

use crate::page::kit::stack;
use maud::{Markup, html};
use ssdgauge_analysis::findings::trust;
use ssdgauge_analysis::groups::group::Group;
use ssdgauge_analysis::groups::workload_text;
use ssdgauge_analysis::headlines::headline_notes;
use ssdgauge_analysis::model::Run;
use ssdgauge_analysis::text::interval;
use ssdgauge_analysis::text::labels;
use ssdgauge_analysis::text::number;

/// Returns the table; `ids` are the anchors of the groups.
pub(super) fn table(runs: &[Run], groups: &[Group<'_>], ids: &[String]) -> Markup {
    let is_repeated = runs.iter().any(Run::is_repeated);
    // The state is a column where it differs from the usual one.
    let mut members = groups.iter().flat_map(|group| &group.members);
    let has_state = members.any(|member| !member.test.complete);
    let mut heads =
        vec!["Test", "Result", interval::heading(is_repeated), "Duration", "Computed as"];
    heads.extend(has_state.then_some("State"));
    html! {
        div.scroll tabindex="0" role="group" aria-label="Results of all tests" {
        table.num.left.stack style=(stack::names(&heads)) {
            thead { tr {
                @for (place, head) in heads.iter().enumerate() {
                    th.n[(1..4).contains(&place)] scope="col" { (head) }
                }
            } }
            tbody {
                @for (group, id) in groups.iter().zip(ids) {
                    @for member in &group.members {
                        @let test = member.test;
                        @let headline = &test.headline;
                        @let doubt = trust::doubt_in_words(member.run, test);
                        tr {
                            th scope="row" {
                                a href={ "#" (id) } { (group.full_title()) }
                                @if group.members.len() > 1 {
                                    " " small { (labels::short_id(&member.run.head.id)) }
                                }
                                @if let Some(doubt) = &doubt { br; small { (number::spaced(doubt)) } }
                            }
                            td.n { b {
                                (interval::headline_measured(headline)
                                    .unwrap_or_else(|| number::NOTHING.to_owned()))
                            } @if doubt.is_some() { "\u{a0}" (trust::DOUBT) } }
                            td.n {
                                (interval::words(&headline.interval, headline.metric)
                                    .unwrap_or_else(|| number::NOTHING.to_owned()))
                                @if let Some(remark) = headline_notes::other_than_rule(test) {
                                    br; small { (remark) }
                                }
                            }
                            td.n { (seconds(headline.n)) }
                            td.full {
                                (headline.metric.title()) ", "
                                (number::spaced(&workload_text::rule(&test.test, &test.test.score)))
                            }
                            @if has_state {
                                td { (state(test.points.len(), test.planned, test.complete)) }
                            }
                        }
                    }
                }
            }
        } }
        @let headlines = groups.iter().flat_map(|group| &group.members);
        @if let Some(unseen) = interval::unseen(headlines.map(|member| &member.test.headline)) {
            p { small { (unseen) } }
        }
    }
}

fn state(done: usize, planned: usize, complete: bool) -> String {
    match complete {
        true => "complete".to_owned(),
        false => format!("{done} of {planned} steps"),
    }
}

/// Returns full seconds in words: a burst may have none, and an imported result states none.
fn seconds(full: u64) -> String {
    if full == 0 { number::NOTHING.to_owned() } else { format!("{}\u{a0}s", number::count(full)) }
}
