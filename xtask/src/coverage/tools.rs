//! The programs that read what an instrumented program has counted.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::setup::is_installed;
use crate::{Step, TaskError};

/// `llvm-profdata` and `llvm-cov` of the compiler's own version of LLVM: the form of the counters changes with it.
#[derive(Debug)]
pub(crate) struct CoverageTools {
    profdata: String,
    cov: String,
    version: String,
}

impl CoverageTools {
    /// Finds the programs: the toolchain's component `llvm-tools`, or those of the system with the version in their names.
    pub(crate) fn find() -> Result<CoverageTools, TaskError> {
        let version = llvm_version()?;
        let of_toolchain = toolchain_folder()?.filter(|folder| folder.join("llvm-cov").exists());
        let program = |name: &str| match &of_toolchain {
            Some(folder) => folder.join(name).to_string_lossy().into_owned(),
            None => format!("{name}-{version}"),
        };
        let tools = CoverageTools {
            profdata: program("llvm-profdata"),
            cov: program("llvm-cov"),
            version: version.clone(),
        };
        if of_toolchain.is_some() || is_installed(&tools.cov) && is_installed(&tools.profdata) {
            Ok(tools)
        } else {
            Err(TaskError::NoCoverageTools { version })
        }
    }

    /// Merges all counters in a folder into one file, and returns it.
    pub(crate) fn merge(&self, counters: &Path, merged: &Path) -> Result<PathBuf, TaskError> {
        let unreadable = |source| TaskError::Unreadable { path: counters.to_owned(), source };
        let mut files = String::new();
        for entry in fs::read_dir(counters).map_err(unreadable)? {
            files.push_str(&entry.map_err(unreadable)?.path().to_string_lossy());
            files.push('\n');
        }
        // As a list in a file, because there may be more than a command line holds.
        let list = merged.with_extension("list");
        fs::write(&list, files).map_err(|source| TaskError::Unwritable { path: list.clone(), source })?;
        // A process that was killed while it wrote has left a file that cannot be read: the others count.
        let arguments = [
            "merge",
            "--sparse",
            "--failure-mode=all",
            "--input-files",
            &list.to_string_lossy(),
            "--output",
            &merged.to_string_lossy(),
        ];
        Step::new("merge the counters", &self.profdata, &arguments).output()?;
        Ok(merged.to_owned())
    }

    /// Returns the figures of every source of the programs.
    pub(super) fn export(&self, profile: &Path, programs: &[PathBuf]) -> Result<Value, TaskError> {
        let mut arguments = vec!["export".to_owned(), "--summary-only".to_owned()];
        arguments.push(format!("--instr-profile={}", profile.display()));
        for (index, program) in programs.iter().enumerate() {
            if index > 0 {
                arguments.push("--object".to_owned());
            }
            arguments.push(program.to_string_lossy().into_owned());
        }
        let output = Step::new("read the counters", &self.cov, &arguments).output()?;
        serde_json::from_slice(&output)
            .map_err(|source| TaskError::NotJson { what: "the output of llvm-cov".to_owned(), source })
    }

    pub(super) fn description(&self) -> String {
        format!("counted by -Cinstrument-coverage, read by {} (LLVM {})", self.cov, self.version)
    }
}

/// Tells whether the programs are there.
pub(crate) fn has_coverage_tools() -> bool {
    CoverageTools::find().is_ok()
}

/// Returns the package of the system that has the programs.
pub(crate) fn coverage_package() -> Result<String, TaskError> {
    Ok(format!("llvm-{}", llvm_version()?))
}

/// Returns the major version of the compiler's LLVM.
fn llvm_version() -> Result<String, TaskError> {
    let output = Step::new("version", "rustc", &["--version", "--verbose"]).output()?;
    Ok(major_version(&String::from_utf8_lossy(&output)).to_owned())
}

fn major_version(report: &str) -> &str {
    let version = report.lines().find_map(|line| line.strip_prefix("LLVM version: ")).unwrap_or_default();
    version.split('.').next().unwrap_or_default()
}

/// Returns the folder of the toolchain in which the component `llvm-tools` lies.
fn toolchain_folder() -> Result<Option<PathBuf>, TaskError> {
    let output = Step::new("toolchain", "rustc", &["--print", "target-libdir"]).output()?;
    // `…/lib/rustlib/TRIPLE/lib`, beside which is `bin`.
    let libraries = PathBuf::from(String::from_utf8_lossy(&output).trim());
    Ok(libraries.parent().map(|folder| folder.join("bin")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_first_number_behind_llvm() {
        let report = "rustc 1.95.0 (abc 2026-01-01)\nrelease: 1.95.0\nLLVM version: 22.1.2\n";
        assert_eq!(major_version(report), "22");
        assert_eq!(major_version("rustc 1.95.0\n"), "");
    }
}
