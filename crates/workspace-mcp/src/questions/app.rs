//! A proposal in the form that a client's app draws.

use change_review::{ProposalEnd, ProposedStep, State, StepEffect};
use wap_core::{visible_line, visible_text};
use wap_mcp::{LineKind, Question, ReviewProgress, ShownLine, ShownReview, ShownStep};
use workspace_host::{SecretRules, ShownProposal};

use super::description::{self, StepDescription};
use super::text::plain;

/// The maximum number of lines of all steps.
const MOST_LINES: usize = 3_000;

/// The maximum number of characters of all lines.
const MOST_CHARACTERS: usize = 400_000;

/// The longest line in characters.
const MOST_OF_A_LINE: usize = 2_000;

/// The longest title in characters.
const MOST_OF_A_TITLE: usize = 300;

/// Returns a proposal in the form that the app draws, with the question that a verdict is bound to.
pub(super) fn drawn(
    review: &ShownProposal,
    question: Question,
    rules: &SecretRules,
    is_deciding: bool,
) -> ShownReview {
    let proposal = &review.proposal;
    let progress = match &proposal.state {
        State::Pending if is_deciding => ReviewProgress::Landing,
        State::Pending => ReviewProgress::Pending,
        State::Landing { .. } => ReviewProgress::Landing,
        State::Decided(decision) => match decision.end() {
            ProposalEnd::Landed => ReviewProgress::Landed,
            ProposalEnd::SentBack => ReviewProgress::SentBack,
            ProposalEnd::Closed => ReviewProgress::Closed,
        },
    };
    let mut room = Room { lines: MOST_LINES, characters: MOST_CHARACTERS, is_cut: false };
    let mut steps = Vec::new();
    let surroundings = description::surroundings_of(proposal, rules);
    if !surroundings.is_empty() {
        let lines =
            visible_text(&surroundings).lines().map(|line| (LineKind::Note, line.to_owned())).collect();
        steps.push(ShownStep { title: "Its surroundings".to_owned(), lines: room.take(lines) });
    }
    for described in proposal.steps.iter().flat_map(|step| descriptions(step, rules)) {
        room.is_cut |= described.is_withheld;
        steps.push(room.take_step(&described.text));
    }
    // Another window has begun to choose: this one would decide less than it shows.
    let is_chosen_from = !review.draft.selection.0.is_empty();
    ShownReview {
        question,
        subject: cleaned(&visible_line(&rules.mask_rest(&proposal.subject), MOST_OF_A_TITLE)),
        progress,
        steps,
        is_cut: room.is_cut || is_chosen_from,
    }
}

/// Describes a step, and the changes that it made when it was tried.
fn descriptions(step: &ProposedStep, rules: &SecretRules) -> Vec<StepDescription> {
    let mut all = vec![description::step(step, rules)];
    if let StepEffect::Command(command) = &step.effect {
        let tried = |file: &change_review::FileStep| {
            description::change(&format!("when tried: {}", file.title()), file, rules)
        };
        all.extend(command.effects.iter().map(tried));
    }
    all
}

/// The remaining room for lines.
struct Room {
    lines: usize,
    characters: usize,
    is_cut: bool,
}

impl Room {
    /// Turns the text of a step into its title and its lines.
    fn take_step(&mut self, text: &str) -> ShownStep {
        let text = visible_text(text);
        let (title, rest) = text.split_once('\n').unwrap_or((&text, ""));
        if title.chars().count() > MOST_OF_A_TITLE {
            self.is_cut = true;
        }
        let lines = rest.lines().map(classified).collect();
        ShownStep { title: cleaned(&visible_line(title, MOST_OF_A_TITLE)), lines: self.take(lines) }
    }

    /// Returns the lines that fit.
    fn take(&mut self, lines: Vec<(LineKind, String)>) -> Vec<ShownLine> {
        let mut taken = Vec::new();
        for (kind, line) in lines {
            if self.lines == 0 || self.characters == 0 {
                self.is_cut = true;
                break;
            }
            let most = MOST_OF_A_LINE.min(self.characters);
            let text: String = line.chars().take(most).map(plain).collect();
            if line.chars().nth(most).is_some() {
                self.is_cut = true;
            }
            self.lines -= 1;
            self.characters -= text.chars().count();
            taken.push(ShownLine { kind, text });
        }
        taken
    }
}

/// Reads the marker of a line. Every line of a file has one, so that none can pass for another kind.
fn classified(line: &str) -> (LineKind, String) {
    let markers = [
        ("+ ", LineKind::Added),
        ("- ", LineKind::Removed),
        ("! ", LineKind::Note),
        ("$ ", LineKind::Command),
    ];
    for (marker, kind) in markers {
        if let Some(rest) = line.strip_prefix(marker) {
            return (kind, format!("{}{rest}", if kind == LineKind::Note { "" } else { marker }));
        }
    }
    let kind = if line.starts_with("line ") { LineKind::Position } else { LineKind::Plain };
    (kind, line.to_owned())
}

fn cleaned(text: &str) -> String {
    text.chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use wap_mcp::LineKind;

    use super::{MOST_OF_A_LINE, Room, classified};

    fn room(lines: usize, characters: usize) -> Room {
        Room { lines, characters, is_cut: false }
    }

    #[test]
    fn a_step_has_its_title_and_its_hunks() {
        let mut room = room(100, 1_000);
        let step = room.take_step("change a.txt\n! obeyed\nline 2:\n- two\n+ TWO\n$ echo\n");
        let kinds: Vec<&str> = step.lines.iter().map(|line| line.kind.name()).collect();
        assert_eq!(step.title, "change a.txt");
        assert_eq!(kinds, ["note", "position", "removed", "added", "command"]);
        assert!(!room.is_cut);
    }

    #[test]
    fn what_does_not_fit_is_noticed() {
        for (lines, characters, is_cut) in [(2, 100, false), (1, 100, true), (2, 6, true), (2, 10, false)] {
            let mut room = room(lines, characters);
            room.take_step("t\n+ one\n+ two\n");
            assert_eq!(room.is_cut, is_cut, "{lines} {characters}");
        }
        let mut room = room(10, 1_000_000);
        room.take_step(&format!("t\n+ {}\n", "x".repeat(MOST_OF_A_LINE)));
        assert!(room.is_cut);
    }

    proptest! {
        #[test]
        fn no_text_of_a_file_passes_for_another_kind(marker in "[-+]", text in "\\PC*") {
            let kind = if marker == "+" { LineKind::Added } else { LineKind::Removed };
            prop_assert_eq!(classified(&format!("{marker} {text}")).0, kind);
        }
    }
}
