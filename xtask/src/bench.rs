//! The benchmarks.

use std::path::Path;

use crate::{CrateList, Step, TaskError};

/// Runs the benchmarks of every package that has some, or those of one name, or of one package.
///
/// # Errors
///
/// Those of the first benchmark that fails.
pub fn bench(root: &Path, name: Option<&str>, package: Option<&str>) -> Result<(), TaskError> {
    let list = CrateList::read(root)?;
    let wanted = list.crates.iter().filter(|one| package.is_none_or(|package| one.name == package));
    for one in wanted {
        for bench in one.benches.iter().filter(|bench| name.is_none_or(|name| name == bench.as_str())) {
            let title = format!("{} {bench}", one.name);
            Step::cargo(&title, &["bench", "--package", &one.name, "--bench", bench]).folder(root).run()?;
        }
    }
    Ok(())
}
