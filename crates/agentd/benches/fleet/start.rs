//! The cost of fleets for other commands: time and memory of two of them, compared with a build without fleets.

use std::process::{Command, Stdio};
use std::time::Instant;

const TURNS: usize = 31;

/// Measures the two programs in turns.
pub(crate) fn measure() {
    let ours = ("with fleets".to_owned(), env!("CARGO_BIN_EXE_agentd").to_owned());
    let without = std::env::var("FLEET_BENCH_WITHOUT").ok().map(|path| ("without".to_owned(), path));
    let programs: Vec<(String, String)> = std::iter::once(ours).chain(without).collect();
    println!("commands without fleets, {TURNS} turns (goal: unchanged)");
    for command in ["--version", "log"] {
        let mut figures = vec![(Vec::new(), Vec::new()); programs.len()];
        for _ in 0..TURNS {
            for ((_, program), (times, memory)) in programs.iter().zip(&mut figures) {
                let folder = tempfile::tempdir().unwrap();
                let began = Instant::now();
                let mut process = Command::new(program);
                process.arg(command).current_dir(folder.path()).env("HOME", folder.path());
                let mut process = process.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
                process.wait().unwrap();
                times.push(began.elapsed().as_secs_f64() * 1e3);
                memory.push(peak_kibibytes(program, command, folder.path()));
            }
        }
        for ((name, _), (times, memory)) in programs.iter().zip(&mut figures) {
            println!("  {command:<10} {name:<12} {} ms, {} KiB", spread(times), spread(memory));
        }
    }
}

/// Returns the peak of memory of another run of the command, by the account of its parent, which is an interpreter: never less than
/// that had when it started the command.
fn peak_kibibytes(program: &str, command: &str, folder: &std::path::Path) -> f64 {
    let script = "import resource,subprocess,sys; d=subprocess.DEVNULL; \
         subprocess.run(sys.argv[1:],stdout=d,stderr=d); \
         print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)";
    let mut python = Command::new("python3");
    python.args(["-c", script, program, command]).current_dir(folder).env("HOME", folder);
    let output = python.output().expect("python3 is there");
    String::from_utf8_lossy(&output.stdout).trim().parse().unwrap_or(f64::NAN)
}

fn spread(values: &mut [f64]) -> String {
    values.sort_by(f64::total_cmp);
    let at = |percent: usize| values[(values.len() - 1) * percent / 100];
    format!("{:>8.1} ({:.1} to {:.1})", at(50), at(5), at(95))
}
