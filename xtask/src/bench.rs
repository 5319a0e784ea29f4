//! The benchmarks, and the page with their figures.

mod area;
mod machine;
mod page;
mod plot;

use std::path::Path;

pub use area::BenchArea;

use crate::TaskError;

/// Runs the benchmarks of some areas; `program` is measured instead of the one of a release build, where the area measures one. With `keeps`, what each prints goes into its section of `docs/figures.md`, and its plots into
/// `docs/pictures/`.
///
/// # Errors
///
/// Those of the first benchmark that fails: they fail if two programs give different results, on no figure. Or a page that cannot
/// be written.
pub fn bench(root: &Path, areas: &[BenchArea], program: Option<&Path>, keeps: bool) -> Result<(), TaskError> {
    for area in areas {
        let mut measured = page::Measured::begin();
        for step in area.steps(root)? {
            let step = match program {
                Some(program) => step.variable("BENCH_PROGRAM", &program.to_string_lossy()),
                None => step,
            };
            step.run_seen(|line| measured.see(line))?;
        }
        if keeps {
            measured.write(root, area, program.is_some())?;
        }
    }
    Ok(())
}
