//! The page's view of a proposal: hunk by hunk with context lines, within bounds.

use change_review::{
    CommandStep, CommentPosition, Draft, FileClass, FileStep, HunkId, Proposal, ProposalEnd, ProposedStep,
    Selection, SinceReview, State, StepEffect, StepOutcome, StepSince, Tried, reading_order, steps_mark,
};
use serde::Serialize;
use workspace_host::ShownProposal;

use crate::bounded_text::{BoundedText, TextBounds, bounded, cut};
use crate::page::Page;

mod hunks;

use hunks::{Budget, HunkView};

/// The most steps, the most files changed by a command or a trial, and the most characters of a title.
const MOST_STEPS: usize = 1_000;
const MOST_EFFECTS: usize = 100;
const TITLE_CHARACTERS: usize = 500;

/// The bounds of the title of a step.
const TITLE: TextBounds = TextBounds { line_characters: TITLE_CHARACTERS, ..TextBounds::OUTPUT };

/// The most variables of a command that are shown.
const MOST_SURROUNDINGS: usize = 200;

/// The bounds of one hunk, and of one step shown alone.
const HUNK: TextBounds = TextBounds { lines: 400, line_characters: 2_000, bytes: 64 * 1024 };
const WHOLE: TextBounds = TextBounds { lines: 20_000, line_characters: 4_000, bytes: 1 << 20 };

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct View {
    id: u64,
    conversation: String,
    front_end: String,
    came_at: u64,
    subject: String,
    /// `pending`, `landing`, `landed`, `sentBack` or `closed`.
    state: &'static str,
    /// The review that the model received; `None` until it is finished.
    review: Option<String>,
    /// True if the steps come from a trial of everything.
    is_tried: bool,
    /// True while a choice is being tried.
    is_trying: bool,
    /// Changes whenever the steps do.
    mark: String,
    steps: Vec<StepView>,
    steps_left_out: usize,
    draft: Draft,
    /// The position of each comment of the draft.
    positions: Vec<CommentPosition>,
    tried: Option<TriedView>,
    /// True if an earlier version was sent back: then steps without `since` are new.
    has_since: bool,
    /// The titles of the steps of the last review that are not proposed again.
    dropped: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StepView {
    step: u32,
    title: String,
    /// `create`, `delete`, `change` or `command`.
    kind: &'static str,
    problem: Option<String>,
    /// Its position in the order for reading, 0-based.
    position: usize,
    /// The changes since the last review; `None` for a new step.
    since: Option<SinceView>,
    #[serde(flatten)]
    effect: EffectView,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SinceView {
    /// The proposal in which the step was last shown.
    review: u64,
    /// The difference to the step shown there; `None` if it is the same.
    changed: Option<FileView>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum EffectView {
    File(FileView),
    #[serde(rename_all = "camelCase")]
    Command {
        command: BoundedText,
        folder: Option<String>,
        background: Option<String>,
        /// Its variables and other inputs, a line for each.
        surroundings: Vec<String>,
        surroundings_left_out: usize,
        effects: Vec<FileView>,
        effects_left_out: usize,
    },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FileView {
    path: String,
    note: Option<String>,
    /// The reason that it is folded.
    folded: Option<&'static str>,
    lines_added: usize,
    lines_removed: usize,
    /// The hunks. A hunk without an id is the whole of a created or deleted file.
    hunks: Vec<HunkView>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TriedView {
    /// The choice that was tried, in its shortest form.
    selection: Selection,
    /// True if landing the same choice adopts the trial's result.
    is_held: bool,
    outcomes: Vec<OutcomeView>,
    /// The differences of everything together.
    files: Vec<FileView>,
    files_left_out: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OutcomeView {
    step: u32,
    success: bool,
    is_left_out: bool,
    summary: String,
    output: BoundedText,
    exit_code: Option<i32>,
    duration_ms: Option<u64>,
}

/// Returns the view of a proposal.
pub(super) fn view(page: &Page, review: ShownProposal) -> View {
    let ShownProposal { proposal, draft, positions, tried, since } = review;
    let mut budget = Budget::of_a_proposal();
    let steps = proposal.steps.iter().take(MOST_STEPS).map(|step| step_view(step, HUNK, &mut budget));
    let mut steps: Vec<StepView> = steps.collect();
    for (position, index) in reading_order(&proposal.steps).into_iter().enumerate() {
        if let Some(step) = steps.get_mut(index) {
            step.position = position;
        }
    }
    // After the steps themselves: the differences to the folder take precedence within the bounds.
    for step in &mut steps {
        let news = since.as_ref().and_then(|since| since.steps.get(&step.step));
        step.since = news.map(|news| since_view(news, &mut budget));
    }
    let has_since = since.is_some();
    let SinceReview { mut dropped, .. } = since.unwrap_or_default();
    dropped.truncate(MOST_STEPS);
    dropped.iter_mut().for_each(|title| *title = cut(title, TITLE_CHARACTERS).0.to_owned());
    View {
        id: proposal.id.0,
        state: match &proposal.state {
            State::Pending => "pending",
            State::Landing { .. } => "landing",
            State::Decided(decision) => match decision.end() {
                ProposalEnd::Landed => "landed",
                ProposalEnd::SentBack => "sentBack",
                ProposalEnd::Closed => "closed",
            },
        },
        review: review_of(&proposal),
        is_tried: proposal.is_tried,
        is_trying: page.trial(proposal.id).is_some(),
        mark: steps_mark(&proposal.steps),
        steps_left_out: proposal.steps.len() - steps.len(),
        steps,
        positions,
        draft: Draft { selection: draft.selection.normal(&proposal.steps), ..draft },
        tried: tried.map(tried_view),
        has_since,
        dropped,
        conversation: cut(&proposal.conversation, TITLE_CHARACTERS).0.to_owned(),
        front_end: proposal.front_end,
        came_at: proposal.came_at,
        subject: cut(&proposal.subject, TITLE_CHARACTERS).0.to_owned(),
    }
}

/// Returns one step with as much of its texts as a page can display.
pub(super) fn whole_step(step: &ProposedStep) -> StepView {
    step_view(step, WHOLE, &mut Budget::of_a_step())
}

/// Returns the review that the model received.
pub(super) fn review_of(proposal: &Proposal) -> Option<String> {
    match &proposal.state {
        State::Decided(decision) => Some(bounded(&decision.review, TextBounds::OUTPUT).text),
        State::Pending | State::Landing { .. } => None,
    }
}

pub(super) fn outcome(outcome: &StepOutcome) -> OutcomeView {
    OutcomeView {
        step: outcome.step,
        success: outcome.success,
        is_left_out: outcome.is_left_out,
        summary: bounded(&outcome.summary, TextBounds::OUTPUT).text,
        output: bounded(&outcome.output, TextBounds::OUTPUT),
        exit_code: outcome.exit_code,
        duration_ms: outcome.duration_ms,
    }
}

fn tried_view(tried: Tried) -> TriedView {
    let mut budget = Budget::of_a_proposal();
    let files = tried.files.iter().take(MOST_EFFECTS).map(|file| file_view(file, HUNK, &mut budget));
    TriedView {
        files: files.collect(),
        files_left_out: tried.files.len().saturating_sub(MOST_EFFECTS),
        outcomes: tried.steps.iter().map(outcome).collect(),
        selection: tried.selection,
        is_held: tried.is_held,
    }
}

fn step_view(step: &ProposedStep, bounds: TextBounds, budget: &mut Budget) -> StepView {
    let (kind, effect) = match &step.effect {
        StepEffect::File(file) => {
            let kind = match (&file.before, &file.after, &file.note) {
                (None, Some(_), _) => "create",
                (Some(_), None, _) => "delete",
                _ => "change",
            };
            (kind, EffectView::File(file_view(file, bounds, budget)))
        }
        StepEffect::Command(step) => {
            let CommandStep { command, folder, background, effects, .. } = step;
            let effect = EffectView::Command {
                command: bounded(command, TextBounds::OUTPUT),
                folder: folder.clone(),
                background: background.clone(),
                surroundings: surroundings(step, bounds),
                surroundings_left_out: step.surroundings().count().saturating_sub(MOST_SURROUNDINGS),
                effects: effects
                    .iter()
                    .take(MOST_EFFECTS)
                    .map(|file| file_view(file, HUNK, budget))
                    .collect(),
                effects_left_out: effects.len().saturating_sub(MOST_EFFECTS),
            };
            ("command", effect)
        }
    };
    StepView {
        step: step.step,
        title: bounded(&step.title, TITLE).text,
        kind,
        position: 0,
        problem: step.problem.as_deref().map(|problem| bounded(problem, TextBounds::OUTPUT).text),
        since: None,
        effect,
    }
}

/// Returns the variables of a command, of which the first lines must not push the others out of sight.
fn surroundings(command: &CommandStep, bounds: TextBounds) -> Vec<String> {
    let bounds = TextBounds { line_characters: bounds.line_characters, ..TextBounds::OUTPUT };
    command.surroundings().take(MOST_SURROUNDINGS).map(|line| bounded(&line, bounds).text).collect()
}

fn since_view(news: &StepSince, budget: &mut Budget) -> SinceView {
    let changed = news.changed.as_ref().map(|file| file_view(file, HUNK, budget));
    SinceView { review: news.review.0, changed }
}

fn file_view(file: &FileStep, bounds: TextBounds, budget: &mut Budget) -> FileView {
    let (lines_added, lines_removed) = counts(file);
    let text = file.after.as_deref().or(file.before.as_deref()).unwrap_or_default();
    FileView {
        path: file.path.clone(),
        note: file.note.as_deref().map(|note| bounded(note, TextBounds::OUTPUT).text),
        folded: match FileClass::of(&file.path, text) {
            FileClass::LockFile => Some("a lock file"),
            FileClass::Generated => Some("a generated file"),
            FileClass::Code | FileClass::Test => None,
        },
        lines_added,
        lines_removed,
        hunks: hunks::of(file, bounds, budget),
    }
}

fn counts(file: &FileStep) -> (usize, usize) {
    let lines = |text: &Option<String>| text.as_deref().map_or(0, |text| text.lines().count());
    match (&file.before, &file.after) {
        (Some(_), Some(_)) => {
            let added = file.hunks.iter().map(|hunk| hunk.new_count).sum();
            (added, file.hunks.iter().map(|hunk| hunk.old_count).sum())
        }
        (before, after) => (lines(after), lines(before)),
    }
}

/// Returns the name of a hunk for the page.
fn id_of(id: &HunkId) -> String {
    id.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(environment: &[(&str, &str)], ready: Option<&str>) -> ProposedStep {
        let environment =
            environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let command = CommandStep {
            command: "make test".into(),
            environment,
            ready: ready.map(Into::into),
            ..CommandStep::default()
        };
        ProposedStep {
            step: 0,
            title: "run make test".into(),
            effect: StepEffect::Command(command),
            problem: None,
        }
    }

    fn surroundings_in(view: &StepView) -> (Vec<&str>, usize) {
        let EffectView::Command { surroundings, surroundings_left_out, .. } = &view.effect else {
            unreachable!("the step runs a command")
        };
        (surroundings.iter().map(String::as_str).collect(), *surroundings_left_out)
    }

    #[test]
    fn no_variable_hides_another_and_what_is_cut_says_so() {
        let long = "x".repeat(3_000);
        let step = command(&[("A", &long), ("BASH_ENV", "./evil.sh\nwith C=\"\"")], Some("up"));
        let view = step_view(&step, HUNK, &mut Budget::of_a_proposal());
        let (lines, left_out) = surroundings_in(&view);
        assert_eq!((lines.len(), left_out), (3, 0));
        assert!(
            lines[0].starts_with("with A=\"xxx") && lines[0].ends_with("… [1009 more characters]"),
            "{lines:?}"
        );
        // Quoted, so that no value looks like a separate line.
        assert_eq!(
            lines[1..],
            [r#"with BASH_ENV="./evil.sh\nwith C=\"\"""#, r#"ready as soon as it prints "up""#]
        );
        // Shown alone, the step has wider bounds.
        assert!(surroundings_in(&whole_step(&step)).0[0].ends_with("xxx\""));
    }

    #[test]
    fn many_variables_are_bounded_and_counted() {
        let names: Vec<String> = (0..500).map(|number| format!("V{number}")).collect();
        let all: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
        let view = step_view(&command(&all, None), HUNK, &mut Budget::of_a_proposal());
        let (lines, left_out) = surroundings_in(&view);
        assert_eq!((lines.len(), left_out), (MOST_SURROUNDINGS, 500 - MOST_SURROUNDINGS));
    }

    #[test]
    fn a_long_title_says_that_it_is_cut() {
        let mut step = command(&[], None);
        step.title = format!("run {}", "y".repeat(600));
        let view = step_view(&step, HUNK, &mut Budget::of_a_proposal());
        assert!(view.title.ends_with("y… [104 more characters]"), "{}", view.title);
    }
}
