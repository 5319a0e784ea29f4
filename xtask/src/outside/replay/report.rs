//! The report of a run, as text of a page.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use super::case::Case;
use super::damage::Damage;
use super::format::Format;
use super::peers::Peer;
use super::verdict::{Outcome, Verdict};
use super::{Input, Replay};
use crate::TaskError;
use crate::repository::page::cell;

/// Counts of one row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) replies: usize,
    pub(super) can_land: usize,
    /// Those that landed of those that could.
    pub(super) landed_of_those: usize,
    /// All that landed.
    pub(super) landed: usize,
    pub(super) partly: usize,
    pub(super) refused: usize,
    pub(super) as_written: usize,
    pub(super) wrong: usize,
}

/// The report.
#[derive(Debug)]
pub(super) struct Report {
    command: String,
    inputs: Vec<Input>,
    rows: BTreeMap<(Format, Damage), Counts>,
    reasons: BTreeMap<&'static str, usize>,
    needless: BTreeMap<&'static str, usize>,
    peers: Vec<PeerRows>,
}

/// Outcomes of another program for the replies in its formats, beside ours.
#[derive(Debug)]
struct PeerRows {
    name: String,
    missing: Option<String>,
    rows: BTreeMap<(Format, Damage), (Counts, Counts)>,
}

impl PeerRows {
    fn of(peer: &Peer, cases: &[Case], outcomes: &[Outcome]) -> PeerRows {
        let mut rows: BTreeMap<(Format, Damage), (Counts, Counts)> = BTreeMap::new();
        for ((case, outcome), verdict) in cases.iter().zip(outcomes).zip(&peer.verdicts) {
            let Some(verdict) = verdict else { continue };
            let (ours, theirs) = rows.entry((case.format, case.damage)).or_default();
            ours.add(case, outcome.verdict);
            theirs.add(case, *verdict);
        }
        PeerRows { name: peer.name.clone(), missing: peer.missing.clone(), rows }
    }

    fn write(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.name;
        if let Some(why) = &self.missing {
            return writeln!(formatter, "\n{name}: {why}.");
        }
        writeln!(
            formatter,
            "\n| format | damage | replies | ours landed | refused | wrong | {name} landed | refused | wrong |"
        )?;
        writeln!(formatter, "| --- | --- | --- | --- | --- | --- | --- | --- | --- |")?;
        let mut sums: BTreeMap<Format, (Counts, Counts)> = BTreeMap::new();
        let row =
            |formatter: &mut fmt::Formatter<'_>, format: &str, damage: &str, both: &(Counts, Counts)| {
                let (ours, theirs) = both;
                writeln!(
                    formatter,
                    "| {format} | {damage} | {} | {} | {} | {} | {} | {} | {} |",
                    ours.replies,
                    ours.landed,
                    ours.refused,
                    ours.wrong,
                    theirs.landed,
                    theirs.refused,
                    theirs.wrong
                )
            };
        for ((format, damage), both) in &self.rows {
            row(formatter, format.name(), damage.name(), both)?;
            let sum = sums.entry(*format).or_default();
            *sum = (sum.0.sum(&both.0), sum.1.sum(&both.1));
        }
        for (format, both) in &sums {
            row(formatter, format.name(), "all", both)?;
        }
        Ok(())
    }
}

impl Counts {
    fn add(&mut self, case: &Case, verdict: Verdict) {
        self.replies += 1;
        self.can_land += usize::from(case.can_land);
        self.landed_of_those += usize::from(case.can_land && verdict == Verdict::Landed);
        match verdict {
            Verdict::Landed => self.landed += 1,
            Verdict::Partly => self.partly += 1,
            Verdict::Refused => self.refused += 1,
            Verdict::AsWritten => self.as_written += 1,
            Verdict::Wrong => self.wrong += 1,
        }
    }

    fn sum(self, other: &Counts) -> Counts {
        Counts {
            replies: self.replies + other.replies,
            can_land: self.can_land + other.can_land,
            landed_of_those: self.landed_of_those + other.landed_of_those,
            landed: self.landed + other.landed,
            partly: self.partly + other.partly,
            refused: self.refused + other.refused,
            as_written: self.as_written + other.as_written,
            wrong: self.wrong + other.wrong,
        }
    }
}

impl Report {
    pub(super) fn new(
        run: &Replay,
        inputs: Vec<Input>,
        cases: &[Case],
        outcomes: &[Outcome],
        peers: &[Peer],
    ) -> Report {
        let mut rows: BTreeMap<(Format, Damage), Counts> = BTreeMap::new();
        let (mut reasons, mut needless) = (BTreeMap::new(), BTreeMap::new());
        for (case, outcome) in cases.iter().zip(outcomes) {
            rows.entry((case.format, case.damage)).or_default().add(case, outcome.verdict);
            if matches!(outcome.verdict, Verdict::Refused | Verdict::Partly) {
                let reason = reason(&outcome.texts);
                *reasons.entry(reason).or_default() += 1;
                if case.can_land {
                    *needless.entry(reason).or_default() += 1;
                }
            }
        }
        let command = format!("cargo xtask outside replay --seed {} --replies {}", run.seed, run.replies);
        let peers = peers.iter().map(|peer| PeerRows::of(peer, cases, outcomes)).collect();
        Report { command, inputs, rows, reasons, needless, peers }
    }

    pub(super) fn total(&self) -> Counts {
        self.rows.values().fold(Counts::default(), Counts::sum)
    }
}

/// The text in front of the tables of other programs.
const PEER_RULES: &str = "\
The tables below judge other programs by this project's rules, which are not theirs. Only the lines of the file are compared, whatever
the program reports. A reply has landed if they are those of the commit, or of git's merge; it is refused if they are as before; anything
else is wrong. A reply that the program carries out as it is written, in part, or by a looser match that it means to make is therefore
wrong here. Ours has the verdicts *as written* and *partly* for some of these.
";

/// The kinds of refusals, by a part of their texts.
const REASONS: [(&str, &str); 17] = [
    ("already applied", "the new text is there already"),
    ("new text is already at", "the new text is there already"),
    ("is indented with", "tabs in a file of spaces, or spaces in one of tabs"),
    ("has curly quotes and the file", "curly quotes in a file without any"),
    ("start of the text after the numbers", "numbers of a view that cannot be taken off for certain"),
    ("search text occurs", "the text occurs more than once"),
    ("with less indentation", "a new line has less indentation than is to be taken off"),
    ("does not occur", "the text does not occur"),
    ("can mean", "the line numbers can mean two positions"),
    ("are not what they were", "the addressed lines have changed"),
    ("is not what was=", "`was` says another line"),
    ("left out", "code is left out"),
    ("leaves code out", "code is left out"),
    ("uotes", "the paste has curly quotes"),
    ("has no line of the file", "a hunk without a line of the file"),
    ("both touch", "two edits touch the same lines"),
    ("Invalid line range", "the lines do not exist"),
];

fn reason(texts: &[String]) -> &'static str {
    let find = |text: &String| REASONS.iter().find(|(part, _)| text.contains(part)).map(|(_, name)| *name);
    texts.iter().find_map(find).unwrap_or("another reason")
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{}", include_str!("about.md"))?;
        let total = self.total();
        let share = |part: usize, all: usize| if all == 0 { 100.0 } else { part as f64 * 100.0 / all as f64 };
        writeln!(
            formatter,
            "`{}` with the repositories below: {} replies, {} of which could land; {} of these did ({:.1} %); {} landed wrong.\n",
            self.command,
            total.replies,
            total.can_land,
            total.landed_of_those,
            share(total.landed_of_those, total.can_land),
            total.wrong
        )?;
        writeln!(formatter, "| repository | newest commit | commits read | changes used | replies |")?;
        writeln!(formatter, "| --- | --- | --- | --- | --- |")?;
        for input in &self.inputs {
            let newest: String = input.newest.chars().take(12).collect();
            let Input { name, commits, changes, replies, .. } = input;
            let name = cell(name);
            writeln!(formatter, "| {name} | {newest} | {commits} | {changes} | {replies} |")?;
        }
        writeln!(
            formatter,
            "\n| format | damage | replies | can land | of these landed | landed | partly | refused | as written | wrong |"
        )?;
        writeln!(formatter, "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")?;
        let row = |formatter: &mut fmt::Formatter<'_>, format: &str, damage: &str, counts: &Counts| {
            let Counts { replies, can_land, landed_of_those, landed, partly, refused, as_written, wrong } =
                counts;
            writeln!(
                formatter,
                "| {format} | {damage} | {replies} | {can_land} | {landed_of_those} | {landed} | {partly} | {refused} | {as_written} | {wrong} |"
            )
        };
        for ((format, damage), counts) in &self.rows {
            row(formatter, format.name(), damage.name(), counts)?;
        }
        row(formatter, "all", "", &total)?;
        writeln!(
            formatter,
            "\n| reason of a refusal | replies | that could have landed |\n| --- | --- | --- |"
        )?;
        for (reason, count) in &self.reasons {
            writeln!(formatter, "| {reason} | {count} | {} |", self.needless.get(reason).unwrap_or(&0))?;
        }
        if self.peers.iter().any(|peer| peer.missing.is_none()) {
            write!(formatter, "\n{PEER_RULES}")?;
        }
        self.peers.iter().try_for_each(|peer| peer.write(formatter))
    }
}

/// Writes each reply that landed wrong, or was refused without need, into a folder of its own.
pub(super) fn keep_details(folder: &Path, cases: &[Case], outcomes: &[Outcome]) -> Result<(), TaskError> {
    let unwritable = |source| TaskError::Unwritable { path: folder.to_owned(), source };
    for (number, (case, outcome)) in cases.iter().zip(outcomes).enumerate() {
        let name = match outcome.verdict {
            Verdict::Wrong => "wrong",
            Verdict::Refused | Verdict::Partly if case.can_land => "refused",
            _ => continue,
        };
        let folder = folder.join(format!("{name}-{number:05}"));
        std::fs::create_dir_all(&folder).map_err(unwritable)?;
        let expected = case.expected(&outcome.is_done).unwrap_or_default();
        let (change, texts) = (&case.change, outcome.texts.join("\n"));
        let about = format!(
            "{} {} {}\n{}, {}\n\n{texts}\n",
            change.repository,
            change.commit,
            change.path,
            case.format.name(),
            case.damage.name()
        );
        let files = [
            ("about", &about),
            ("reply", &case.reply),
            ("as_read", &case.as_read),
            ("before", &case.before),
            ("expected", &expected),
            ("after", outcome.after.as_ref().unwrap_or(&case.before)),
        ];
        for (name, text) in files {
            std::fs::write(folder.join(name), text).map_err(unwritable)?;
        }
    }
    Ok(())
}
