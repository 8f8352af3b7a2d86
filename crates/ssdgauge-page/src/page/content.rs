//! What a page is made of, and its parts by their anchors.

use crate::page::head::{self, Head};
use crate::page::kit::names::names_kept;
use crate::page::publishing::Files;
use crate::page::{
    answer, bar, caveats, copies, endurance, fill_states, flag, grade, inside, live, method, notes,
    one_drive, outcome, quick, results, sections, specification,
};
use maud::{Markup, html};
use ssdgauge_analysis::answers::answer::{self as answers, Answer};
use ssdgauge_analysis::answers::one_drive::{self as one_drive_answer, FirstScreen};
use ssdgauge_analysis::answers::prices;
use ssdgauge_analysis::drives::caches::{self, Writes};
use ssdgauge_analysis::drives::fill_states::{self as states, FillStates};
use ssdgauge_analysis::drives::model_cohort::ModelCohort;
use ssdgauge_analysis::drives::report_drives::ReportDrives;
use ssdgauge_analysis::drives::sections::{self as order, Sections};
use ssdgauge_analysis::findings::run_outcome::{self, Account, RunOutcome};
use ssdgauge_analysis::findings::trust::{self, Trust};
use ssdgauge_analysis::groups::group::{self, Group};
use ssdgauge_analysis::inputs::options::PageOptions;
use ssdgauge_analysis::model::Run;
use ssdgauge_analysis::quick::quick_look;
use ssdgauge_analysis::text::number;
use ssdgauge_analysis::text::sanitize;

/// Everything that a page shows.
pub(super) struct Content<'a> {
    pub(super) runs: &'a [Run],
    pub(super) options: &'a PageOptions,
    pub(super) drives: ReportDrives,
    /// The headline.
    pub(super) title: String,
    /// The headline of an editor, where what happened to the run takes its place.
    stated: Option<String>,
    /// The line above it.
    pub(super) kick: String,
    dek: Markup,
    groups: Vec<Group<'a>>,
    /// The anchor of each group.
    ids: Vec<String>,
    answer: Answer,
    writes: Vec<Option<Writes>>,
    sections: Sections,
    states: Vec<FillStates>,
    /// The files of the charts, where the page offers them.
    files: Option<Files<'a>>,
    /// What to know of the only run, where it is not simply complete.
    account: Option<(RunOutcome, Account)>,
    /// The first screen of the only run, where that is complete and no quick one.
    screen: Option<FirstScreen>,
}

impl<'a> Content<'a> {
    /// Returns what the page of `runs` shows.
    pub(super) fn new(
        runs: &'a [Run],
        options: &'a PageOptions,
        files: Option<Files<'a>>,
    ) -> Content<'a> {
        let drives = ReportDrives::new(runs, options.highlight);
        let account = account(runs, options);
        let mut groups = group::groups(runs);
        if account.is_some() {
            // A test that has not begun is a line in a list, and not an empty section.
            groups.retain(|group| group.members.iter().any(|one| !one.test.points.is_empty()));
        }
        let peers = match (runs, &options.background) {
            ([run], Some(background)) => background.peers(run),
            ([run], None) if !is_quick(runs, options) => {
                let id = &run.head.plan.suite.id;
                let shipped = ModelCohort::shipped_of(id).background(id);
                shipped.and_then(|shipped| shipped.peers(run))
            }
            ([] | [_, ..], _) => None,
        };
        let drives = drives.with_peers(peers);
        let answer = answers::answer(&groups, &drives);
        let writes = caches::of_drives(&groups, &drives);
        let sections = order::sections(&groups);
        let is_simple = account.is_none() && !is_quick(runs, options);
        let screen = match runs {
            [run] if is_simple && !run.tests.is_empty() => {
                Some(one_drive_answer::first_screen(run, &groups, &drives, sections.hero))
            }
            [] | [_, ..] => None,
        };
        let of_notes = options.notes.as_ref().and_then(|notes| notes.title.as_deref());
        let stated = options.title.as_deref().or(of_notes).map(sanitize::prose);
        let head = match runs {
            [] => head::empty(),
            [run] if let Some(screen) = &screen => {
                head::of_screen(run, screen, &drives, stated.as_deref())
            }
            [run] => head::single(run, &groups, &sections, &drives),
            [_, ..] => head::several(runs, (&groups, &sections), (&answer, &writes), &drives),
        };
        let Head { kick, title, dek } = match options.compare_labels {
            true => head::labelled(head, runs, &drives),
            false => head,
        };
        let title = match (&stated, runs) {
            (Some(title), _) => title.clone(),
            (None, [run]) if is_quick(runs, options) => quick_look::headline(run),
            (None, _) => title,
        };
        let (title, dek) = match &account {
            Some((_, account)) => {
                (account.title.clone(), html! { (number::spaced(&account.meaning)) })
            }
            None => (title, dek),
        };
        let ids = ids(&groups);
        let states = states::fill_states(runs, &drives);
        Content {
            runs,
            options,
            drives,
            title,
            stated: stated.filter(|_| account.is_some()),
            kick,
            dek,
            groups,
            ids,
            answer,
            writes,
            sections,
            states,
            files,
            account,
            screen,
        }
    }

    /// Returns the colour of an editor.
    pub(super) fn accent(&self) -> Option<&str> {
        self.options.notes.as_ref()?.accent.as_deref()
    }

    /// Returns author, date and price by the notes of an editor.
    fn byline(&self) -> Markup {
        let notes = self.options.notes.as_ref();
        notes.map_or_else(|| html! {}, |notes| notes::byline(notes, self.runs, &self.drives))
    }

    /// Returns headline, author, date and price of an editor, where what happened to the run comes first.
    fn after_the_doubt(&self) -> Markup {
        html! {
            @if self.account.is_some() {
                @if let Some(stated) = &self.stated { p.dek { b { (names_kept(stated, &self.drives)) } } }
                (self.byline())
            }
        }
    }

    /// Returns what the notes of an editor add to the head of the document.
    pub(super) fn author(&self) -> Markup {
        self.options.notes.as_ref().map_or_else(|| html! {}, notes::author)
    }

    /// Returns the body of the page.
    pub(super) fn body(&self) -> Markup {
        if let [run] = self.runs
            && is_quick(self.runs, self.options)
        {
            let tests = (&self.groups[..], &self.sections, &self.ids[..]);
            let claims = self.claims();
            return html! {
                a.skip href="#answer" { "Skip to the results" }
                (flag::flag(self.runs))
                (quick::body(
                    (run, self.files),
                    (&self.title, &self.byline(), self.scripts()),
                    tests,
                    &self.drives,
                    self.options.cohort.as_ref(),
                    claims,
                ))
            };
        }
        if let Some((outcome @ (RunOutcome::Failed | RunOutcome::Disturbed), account)) =
            &self.account
            && let [run] = self.runs
        {
            return self.not_quoted(run, *outcome, account);
        }
        let notes = self.options.notes.as_ref();
        html! {
            a.skip href="#answer" { "Skip to the results" }
            (flag::flag(self.runs))
            div.wrap {
                header.page {
                    @if let Some(notes) = notes { (notes::logo(notes)) }
                    (inside::small(&self.options.xrays, &self.drives))
                    p.kick {
                        @if let Some(progress) = &self.options.progress { (live::word(progress)) " " }
                        @else if let Some((outcome, _)) = &self.account { (outcome::word(*outcome)) " " }
                        (self.kick)
                    }
                    h1 { (names_kept(&self.title, &self.drives)) }
                    @if self.account.is_none() { (self.byline()) }
                    p.dek { (self.dek) }
                    (self.after_the_doubt())
                    @if self.drives.count() == 1 && self.runs.iter().any(run_outcome::has_grade) {
                        (self.grade())
                    }
                }
                @if let Some(progress) = &self.options.progress { (live::now(progress, &self.drives)) }
                @if let Some((_, account)) = &self.account { (outcome::next(account)) }
                section aria-label="Answer" {
                    (self.answer_table())
                    @if let (Some(_), [run]) = (&self.account, self.runs) { (outcome::to_come(run)) }
                }
            }
            (bar::bar(&self.sections, &self.answer.order, &self.drives, &self.further()))
            main.wrap {
                @if let Some(notes) = notes { (notes::introduction(notes)) }
                @if let ([run], Some(copies)) = (self.runs, self.screen.as_ref().and_then(|screen| screen.copies.as_ref())) {
                    @let heading = html! { h2 { "How long does a copy take?" } };
                    @let bars = copies::bars(copies, run, &heading);
                    @if !bars.0.is_empty() { section.use { (bars) } }
                }
                (self.uses(|_| true))
                (fill_states::section(&self.states, &self.drives))
                (self.inside())
                (self.claims())
                @if let Some(conclusion) = self.conclusion() { (conclusion) }
                section.use aria-labelledby="caveats" { (self.caveats()) }
                @if self.screen.is_some() {
                    details.fold #results {
                        summary { "Every test: result, interval and computation" }
                        (results::table(self.runs, &self.groups, &self.ids))
                    }
                }
                section.use aria-labelledby="method" { (self.method()) }
                footer.page {
                    "Made with ssdgauge. One file, " (self.scripts()) ", no network. The terms are explained in "
                    "the glossary of its documentation."
                }
            }
        }
    }

    /// Returns the body of the page of a run whose numbers are not those of the drive.
    fn not_quoted(&self, run: &Run, outcome: RunOutcome, account: &Account) -> Markup {
        let trust = trust::of_runs(self.runs).filter(|_| run_outcome::has_grade(run));
        let notes = self.options.notes.as_ref();
        html! {
            a.skip href="#todo" { "Skip to what to do now" }
            (flag::flag(self.runs))
            main.wrap.d-0 {
                header.page {
                    @if let Some(notes) = notes { (notes::logo(notes)) }
                    p.kick { (outcome::word(outcome)) " " (self.kick) }
                    h1 class=[(outcome == RunOutcome::Failed).then_some("bad")] { (self.title) }
                    p.dek { (self.dek) }
                    (self.after_the_doubt())
                    @if trust.is_some() { (grade::line(trust.as_ref())) }
                }
                (outcome::next(account))
                @if let Some(notes) = notes { (notes::introduction(notes)) }
                (outcome::record(run, outcome, (&self.groups, &self.ids), &self.uses(|_| true)))
                (self.inside())
                @if let Some(conclusion) = self.conclusion() { (conclusion) }
                section.use aria-labelledby="caveats" { (self.caveats()) }
                section.use aria-labelledby="method" { (self.method()) }
                footer.page { "Made with ssdgauge. One file, " (self.scripts()) ", no network." }
            }
        }
    }

    /// Returns the X-rays of the drives.
    fn inside(&self) -> Markup {
        inside::section(&self.options.xrays, &self.drives)
    }

    /// Returns the judged claims of the spec files.
    fn claims(&self) -> Markup {
        specification::section(self.runs, &self.drives, &self.options.specifications)
    }

    /// Returns what the foot of the page says about scripts.
    fn scripts(&self) -> &'static str {
        if self.options.script {
            "one script for zoom, sorting and the address"
        } else {
            "no scripts"
        }
    }

    /// Returns the part of the page with the anchor `id`.
    pub(super) fn part(&self, id: &str) -> Option<Markup> {
        if let Some(number) = self.ids.iter().position(|known| known == id) {
            let (group, id) = (&self.groups[number], &self.ids[number]);
            return Some(sections::figure(
                number,
                group,
                id,
                (self.runs, self.files),
                &self.drives,
            ));
        }
        if self.sections.uses.iter().any(|section| section.of.anchor() == id) {
            return Some(self.uses(|anchor| anchor == id));
        }
        match id {
            "answer" => Some(self.answer_table()),
            "caveats" => Some(self.caveats()),
            "method" => Some(self.method()),
            fill_states::ANCHOR if !self.states.is_empty() => {
                Some(fill_states::section(&self.states, &self.drives))
            }
            inside::ANCHOR if !self.options.xrays.is_empty() => Some(self.inside()),
            "conclusion" => self.conclusion(),
            _ => None,
        }
    }

    /// Returns the anchors of all parts.
    pub(super) fn anchors(&self) -> Vec<String> {
        let mut anchors: Vec<String> = vec!["answer".to_owned()];
        anchors.extend(self.sections.uses.iter().map(|section| section.of.anchor().to_owned()));
        anchors.extend(self.ids.iter().cloned());
        anchors.extend((!self.states.is_empty()).then(|| fill_states::ANCHOR.to_owned()));
        anchors.extend((!self.options.xrays.is_empty()).then(|| inside::ANCHOR.to_owned()));
        anchors.extend(self.conclusion().map(|_| "conclusion".to_owned()));
        anchors.extend(["caveats".to_owned(), "method".to_owned()]);
        anchors
    }

    /// Returns anchor and name of what lies between the sections by use and the method.
    fn further(&self) -> Vec<(&'static str, &'static str)> {
        let states = (!self.states.is_empty()).then_some((fill_states::ANCHOR, "Fill levels"));
        let verdict = self.conclusion().map(|_| ("conclusion", "Conclusion"));
        let inside = (!self.options.xrays.is_empty()).then_some((inside::ANCHOR, "Inside"));
        states.into_iter().chain(inside).chain(verdict).collect()
    }

    /// Returns the grade of the only drive.
    fn grade(&self) -> Markup {
        match (trust::of_runs(self.runs), &self.screen) {
            (Some(trust), Some(screen)) => one_drive::quality(&trust, &screen.tiles),
            (trust, _) => grade::line(trust.as_ref()),
        }
    }

    fn answer_table(&self) -> Markup {
        if let Some(screen) = &self.screen {
            return one_drive::screen(screen, &self.ids, self.drives.peers());
        }
        if self.runs.len() < 2 || self.drives.count() < 2 {
            // A run that has no result yet has no table either.
            let has_rows = self.groups.iter().any(|group| !group.members.is_empty());
            return html! {
                div #answer { @if has_rows { (results::table(self.runs, &self.groups, &self.ids)) } }
            };
        }
        let mut below = head::below(self.runs, &self.drives);
        if let Some(notes) = &self.options.notes {
            notes::add_prices(&mut below, notes, self.runs, &self.drives);
        }
        let trust = trust(self.runs, &self.drives);
        let facts = answer::Facts {
            answer: &self.answer,
            writes: &self.writes,
            trust: &trust,
            below: &below,
        };
        answer::table(&facts, &self.drives)
    }

    fn uses(&self, is_wanted: impl Fn(&str) -> bool) -> Markup {
        let wanted = self.sections.uses.iter().filter(|section| is_wanted(section.of.anchor()));
        let wanted = wanted.collect::<Vec<_>>();
        sections::sections(&wanted, &self.groups, &self.ids, (self.runs, self.files), &self.drives)
    }

    /// Returns the conclusion of the editor; `None` without one.
    fn conclusion(&self) -> Option<Markup> {
        let notes = self.options.notes.as_ref()?;
        // No price divides a number that is not one of the drive.
        let is_quoted =
            !matches!(&self.account, Some((RunOutcome::Failed | RunOutcome::Disturbed, _)));
        let prices = prices::prices(notes, self.runs, &self.groups, &self.answer, &self.drives);
        let prices = prices.filter(|_| is_quoted);
        let test = prices.as_ref().and_then(|prices| prices.test);
        let test = test.map(|test| self.groups[test].full_title());
        notes::conclusion(notes, prices.as_ref(), test, (self.runs, &self.answer, &self.drives))
    }

    fn caveats(&self) -> Markup {
        html! {
            div {
                h2 #caveats { "Caveats" }
                p.cond { "One line for each kind, with the drives that it concerns" }
                (caveats::list(self.runs, &self.drives))
            }
        }
    }

    fn method(&self) -> Markup {
        html! {
            div {
                h2 #method { "Method" }
                (endurance::table(self.runs, self.options.notes.as_ref(), &self.drives))
                (method::prose(self.runs, &self.drives))
            }
        }
    }
}

/// Returns what to know of a single run that is not simply complete.
fn account(runs: &[Run], options: &PageOptions) -> Option<(RunOutcome, Account)> {
    let [run] = runs else { return None };
    let mut account = run_outcome::account(run, options.rest.as_deref())?;
    if options.progress.is_some() {
        // It goes on by itself.
        account.next.clear();
    }
    Some((run_outcome::of(run), account))
}

/// A single quick run has a page of its own; with the notes of an editor or an X-ray it is a page like others.
fn is_quick(runs: &[Run], options: &PageOptions) -> bool {
    options.notes.is_none()
        && options.xrays.is_empty()
        && quick::fits(runs)
        && account(runs, options).is_none()
}

/// Returns the trust in each drive, by its number.
fn trust(runs: &[Run], drives: &ReportDrives) -> Vec<Option<Trust>> {
    let of_drive = |drive: usize| trust::of_runs(drives.runs_of(drive).map(|run| &runs[run]));
    (0..drives.count()).map(of_drive).collect()
}

/// Returns the anchor of each group, `SUITE/TEST`; further groups of one test have a number after it.
fn ids(groups: &[Group<'_>]) -> Vec<String> {
    let clean = |text: &str| -> String {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        text.chars().take(64).map(|c| if allowed(c) { c } else { '-' }).collect()
    };
    let mut ids: Vec<String> = Vec::with_capacity(groups.len());
    for group in groups {
        let first = group.first();
        let id = format!("{}/{}", clean(&first.run.head.plan.suite.id), clean(&first.test.test.id));
        let mut unique = id.clone();
        let mut number = 2;
        while ids.contains(&unique) {
            unique = format!("{id}~{number}");
            number += 1;
        }
        ids.push(unique);
    }
    ids
}
