//! The fuzz targets: built, seeded and run, with their figures.

mod figures;
mod seeds;
mod tally;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::thread;

use rustix::param::clock_ticks_per_second;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use self::figures::Figures;
use crate::{Step, TaskError};

/// The memory at which a target counts as faulty. A megabyte of input is far below it.
const MEMORY_MEGABYTES: u32 = 2_048;
/// The time for one input at which a target counts as faulty.
const INPUT_SECONDS: u32 = 20;
/// The longest input in bytes.
const MOST_BYTES: u32 = 16_384;

/// A run of fuzz targets.
#[derive(Clone, Debug)]
pub struct Fuzz {
    /// The time for each target.
    pub seconds: u64,
    /// The names of the targets; all if there are none.
    pub targets: Vec<String>,
    /// The number of targets that run at once.
    pub at_once: usize,
    /// Builds quickly, for a check that every target works: by the stable compiler, without optimization, and without the
    /// sanitizer of addresses, which finds more in unsafe code.
    pub is_quick: bool,
    /// Adds the figures to those of earlier runs, and writes them into the page.
    pub writes_page: bool,
}

/// Builds every fuzz target, runs those that are wanted, and prints a table of what they did.
///
/// What they learn is kept in `target/fuzz/corpus`, what they find in `target/fuzz/found`. Seeds are made of `fixtures/`.
///
/// # Errors
///
/// [`TaskError::StepFailed`] if the targets cannot be built, as without `cargo fuzz`, which `setup` installs; [`TaskError::FuzzFound`] if one found something, and
/// [`TaskError::NoTarget`] for an unknown name.
pub fn fuzz(root: &Path, run: &Fuzz) -> Result<(), TaskError> {
    let folder = root.join(if run.is_quick { "target/fuzz-quick" } else { "target/fuzz" });
    build(root, &folder, run.is_quick)?;
    let names = targets(root)?;
    if let Some(unknown) = run.targets.iter().find(|wanted| !names.contains(wanted)) {
        return Err(TaskError::NoTarget { name: unknown.clone(), targets: names.join(", ") });
    }
    let wanted = names.iter().filter(|name| run.targets.is_empty() || run.targets.contains(name));
    let waiting: Mutex<Vec<&String>> = Mutex::new(wanted.rev().collect());
    let done = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..run.at_once.max(1) {
            scope.spawn(|| {
                loop {
                    let next = waiting.lock().unwrap_or_else(|error| error.into_inner()).pop();
                    let Some(name) = next else { return };
                    let figures = run_target(root, &folder, name, run);
                    done.lock().unwrap_or_else(|error| error.into_inner()).push(figures);
                }
            });
        }
    });
    let done = done.into_inner().unwrap_or_else(|error| error.into_inner());
    let mut done = done.into_iter().collect::<Result<Vec<Figures>, TaskError>>()?;
    done.sort_by(|one, other| one.name.cmp(&other.name));
    print!("{}", figures::table(&done));
    if run.writes_page {
        tally::add(root, &done)?;
    }
    let failed: Vec<&str> = done.iter().filter(|one| one.has_failed).map(|one| one.name.as_str()).collect();
    if failed.is_empty() { Ok(()) } else { Err(TaskError::FuzzFound { targets: failed.join(", ") }) }
}

/// Runs one target to its end.
fn run_target(root: &Path, folder: &Path, name: &str, run: &Fuzz) -> Result<Figures, TaskError> {
    let seconds = run.seconds;
    let (corpus, faults) = (folder.join("corpus").join(name), folder.join("found").join(name));
    let seeds = seeds::write(root, folder, name)?;
    for made in [&corpus, &faults] {
        fs::create_dir_all(made).map_err(|source| TaskError::Unwritable { path: made.clone(), source })?;
    }
    let program = program(folder, name, run.is_quick);
    // Targets that work on folders make thousands of them: in memory where there is a place for that.
    let temporary = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    let temporary =
        temporary.map_err(|source| TaskError::Unwritable { path: std::env::temp_dir(), source })?;
    println!("== {name}: {seconds} s");
    let not_started = |source| TaskError::NotStarted { program: name.to_owned(), source };
    let mut target = Command::new(&program)
        .arg(&corpus)
        .args(seeds)
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-timeout={INPUT_SECONDS}"))
        .arg(format!("-rss_limit_mb={MEMORY_MEGABYTES}"))
        .arg(format!("-max_len={MOST_BYTES}"))
        .arg(format!("-artifact_prefix={}/", faults.display()))
        .arg("-print_final_stats=1")
        .env("TMPDIR", temporary.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(not_started)?;
    let mut report = Vec::new();
    target.stderr.take().expect("it is piped").read_to_end(&mut report).map_err(not_started)?;
    let cpu_seconds = cpu_seconds_at_end(&target);
    let is_success = target.wait().map_err(not_started)?.success();
    let report = String::from_utf8_lossy(&report);
    let figures = Figures { cpu_seconds, ..Figures::read(name, &report, is_success) };
    if figures.has_failed {
        // The lines of the panic and of the fuzzer; what was printed before is thousands of lines.
        let last: Vec<&str> = report.lines().rev().take(60).collect();
        for line in last.iter().rev() {
            println!("{line}");
        }
        println!(
            "== {name}: copy the input into fixtures/fuzz/{name}/, and `cargo test -p fuzz-checks` shows the fault"
        );
    }
    Ok(figures)
}

/// Waits for the end of a process and returns the time of the processor that it took; 0 where that is not known. The process
/// is still there to be waited for.
fn cpu_seconds_at_end(process: &Child) -> u64 {
    let ended = waitid(WaitId::Pid(Pid::from_child(process)), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
    let stat = ended.ok().and_then(|_| fs::read_to_string(format!("/proc/{}/stat", process.id())).ok());
    // The name of the program, in parentheses, may have blanks.
    let fields = stat.as_deref().and_then(|stat| Some(stat.rsplit_once(')')?.1)).unwrap_or_default();
    let ticks: u64 =
        fields.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    ticks / clock_ticks_per_second()
}

/// Builds every target into `folder`.
fn build(root: &Path, folder: &Path, is_quick: bool) -> Result<(), TaskError> {
    let folder = folder.to_string_lossy();
    let own = ["fuzz", "build", "--fuzz-dir", "fuzz", "--target-dir", &folder];
    let arguments = if is_quick {
        [&own[..], &["--dev", "--sanitizer", "none"]].concat()
    } else {
        // By its name, which another compiler can be asked of; the cargo that runs this task is the stable one.
        [&["+nightly"], &own[..]].concat()
    };
    Step::new("fuzz targets", "cargo", &arguments).folder(root).run().map(drop)
}

/// The place of a built target: `cargo fuzz` builds for the machine's own triple.
fn program(folder: &Path, name: &str, is_quick: bool) -> PathBuf {
    let triple = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    folder.join(triple).join(if is_quick { "debug" } else { "release" }).join(name)
}

/// Reads the names of the targets, which are those of their files.
fn targets(root: &Path) -> Result<Vec<String>, TaskError> {
    let folder = root.join("fuzz/targets");
    let unreadable = |source| TaskError::Unreadable { path: folder.clone(), source };
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        names.extend(path.file_stem().map(|name| name.to_string_lossy().into_owned()));
    }
    names.sort_unstable();
    Ok(names)
}
