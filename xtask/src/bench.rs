//! The benchmarks.

use std::path::Path;

use crate::{CrateList, Step, TaskError};

/// Runs the benchmarks of every package that has some, or of one.
///
/// # Errors
///
/// Those of the first benchmark that fails.
pub fn bench(root: &Path, package: Option<&str>) -> Result<(), TaskError> {
    let list = CrateList::read(root)?;
    let wanted = list.crates.iter().filter(|one| package.is_none_or(|package| one.name == package));
    for one in wanted {
        for bench in &one.benches {
            let name = format!("{} {bench}", one.name);
            Step::cargo(&name, &["bench", "--package", &one.name, "--bench", bench]).folder(root).run()?;
        }
    }
    Ok(())
}
