//! Edit replay: commits turned into replies as models write them, carried out by a session, and judged by the commit's result.

mod carry_out;
mod case;
mod damage;
mod dice;
mod format;
mod history;
mod merge;
mod passage;
mod peers;
mod reindented;
mod report;
mod verdict;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use carry_out::Desk;
use case::Case;
use damage::Damage;
use dice::Dice;
use format::Format;
pub use history::Repository;
use report::Report;
use verdict::Outcome;

use crate::TaskError;
use crate::conformance::Problem;

/// A run of edit replay.
#[derive(Clone, Debug)]
pub struct Replay {
    /// The repositories, at least one.
    pub repositories: Vec<Repository>,
    /// The number of replies.
    pub replies: usize,
    /// The seed by which changes and damages are chosen.
    pub seed: u64,
    /// The page that gets the report; `None` to print it alone.
    pub page: Option<PathBuf>,
    /// A new folder for the replies that landed wrong or were refused without need; `None` to keep none.
    pub details: Option<PathBuf>,
}

/// A failure of edit replay.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// A repository that git cannot read.
    #[error(
        "cannot read the history of {name}: give the folder of a git checkout, with at least one change of a file"
    )]
    NoHistory {
        /// The name of the repository.
        name: String,
    },
    /// A reply that could not be carried out at all.
    #[error("cannot carry out a reply to {path} of {commit}: {why}")]
    NotRun {
        /// The commit.
        commit: String,
        /// The path of the file.
        path: String,
        /// The cause.
        why: String,
    },
    /// Edits that landed wrong, or too many that were refused.
    #[error(
        "{wrong} replies landed wrong, and {landed} of {can_land} that could land did; --details DIR keeps them"
    )]
    NotMet {
        /// The replies that landed wrong.
        wrong: usize,
        /// Those that landed, of those that could.
        landed: usize,
        /// The replies that could land.
        can_land: usize,
    },
}

/// The share of the replies that have to land, of those that can.
const GOAL_PERCENT: usize = 97;

/// Makes the replies, carries them out and judges them; prints the report, and writes it into the page.
///
/// # Errors
///
/// [`TaskError::Replay`] if a reply landed wrong or too few landed, also if a repository cannot be read.
pub fn replay(root: &Path, run: &Replay) -> Result<(), TaskError> {
    let (cases, inputs) = cases(run)?;
    let outcomes = outcomes(&cases)?;
    let peers = peers::judge(&cases);
    let report = Report::new(run, inputs, &cases, &outcomes, &peers);
    println!("{report}");
    if let Some(folder) = &run.details {
        report::keep_details(folder, &cases, &outcomes)?;
    }
    if let Some(page) = &run.page {
        crate::repository::page::write_section(
            &root.join(page),
            super::BEGINNING,
            "Edit replay",
            &report.to_string(),
        )?;
    }
    let total = report.total();
    if total.wrong == 0 && total.landed_of_those * 100 >= total.can_land * GOAL_PERCENT {
        return Ok(());
    }
    let (wrong, landed, can_land) = (total.wrong, total.landed_of_those, total.can_land);
    Err(ReplayError::NotMet { wrong, landed, can_land }.into())
}

/// The facts about one repository.
#[derive(Clone, Debug)]
struct Input {
    name: String,
    newest: String,
    commits: usize,
    changes: usize,
    replies: usize,
}

/// Makes as many replies as wanted, from all repositories alike, and as many of each format.
fn cases(run: &Replay) -> Result<(Vec<Case>, Vec<Input>), ReplayError> {
    let dice = Dice::of(run.seed);
    let (mut cases, mut inputs) = (Vec::new(), Vec::new());
    for (number, repository) in (1..).zip(&run.repositories) {
        let share = run.replies.div_ceil(run.repositories.len());
        let mut dice = dice.part(number);
        let history = history::read(repository, share, &mut dice)?;
        let before = cases.len();
        let mut changes = 0;
        for (index, change) in (0..).zip(history.changes) {
            if cases.len() - before >= share {
                break;
            }
            let change = Arc::new(change);
            let mut dice = dice.part(index);
            let made = Format::ALL.into_iter().filter_map(|format| one_case(&change, format, &mut dice));
            let made: Vec<Case> = made.take(share - (cases.len() - before)).collect();
            changes += usize::from(!made.is_empty());
            cases.extend(made);
        }
        let (name, newest) = (repository.name.clone(), history.newest);
        inputs.push(Input { name, newest, commits: history.commits, changes, replies: cases.len() - before });
    }
    Ok((cases, inputs))
}

/// Makes one reply with a damage that the change can have. One in six has none.
fn one_case(change: &Arc<history::Change>, format: Format, dice: &mut Dice) -> Option<Case> {
    for _ in 0..12 {
        let damage = match dice.below(6) {
            0 => Damage::None,
            _ => Damage::ALL[dice.below(Damage::ALL.len())],
        };
        if let Some(case) = Case::make(change, format, damage, dice) {
            return Some(case);
        }
    }
    None
}

/// Carries out all replies, on all processors.
fn outcomes(cases: &[Case]) -> Result<Vec<Outcome>, ReplayError> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(cases.len().max(1));
    let next = AtomicUsize::new(0);
    let outcomes: Mutex<Vec<Option<Outcome>>> = Mutex::new(vec![None; cases.len()]);
    let work = || -> Result<(), ReplayError> {
        let mut desk: Option<Desk> = None;
        while let Some((index, case)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, cases.get(at)?)))
        {
            let judge = |desk: &mut Option<Desk>| -> Result<Outcome, Problem> {
                match desk {
                    Some(desk) => desk.judge(case),
                    None => desk.insert(Desk::new()?).judge(case),
                }
            };
            let outcome = judge(&mut desk).map_err(|problem| ReplayError::NotRun {
                commit: case.change.commit.clone(),
                path: case.change.path.clone(),
                why: problem.to_string(),
            })?;
            outcomes.lock().expect("no thread panics while holding it")[index] = Some(outcome);
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("a worker does not panic"))
    })?;
    let outcomes = outcomes.into_inner().expect("no thread panics while holding it");
    Ok(outcomes.into_iter().map(|outcome| outcome.expect("every case was judged")).collect())
}
