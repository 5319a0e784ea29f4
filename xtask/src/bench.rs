//! The benchmarks, and the page with their figures.

mod area;
mod page;
mod plot;

use std::path::{Path, PathBuf};

pub use area::BenchArea;

use crate::TaskError;

/// A run of benchmarks.
#[derive(Clone, Debug, Default)]
pub struct Bench {
    /// The area; all areas if neither it nor a package is given.
    pub area: Option<BenchArea>,
    /// The package whose benchmarks run instead of those of an area.
    pub package: Option<String>,
    /// The program that is measured instead of the one of a release build.
    pub program: Option<PathBuf>,
    /// Writes what each area prints into its section of `docs/figures.md`, and its plots into `docs/pictures/`.
    pub writes_page: bool,
}

impl Bench {
    /// Returns the areas that are measured, in their order.
    ///
    /// # Errors
    ///
    /// [`TaskError::OptionRefused`] if one of the options would be ignored by one of them.
    fn areas(&self) -> Result<Vec<BenchArea>, TaskError> {
        let areas = match (&self.area, &self.package) {
            (Some(_), Some(_)) => {
                let why = "an area has its own benchmarks, of several packages; name either of the two";
                return Err(TaskError::OptionRefused { option: "package", why });
            }
            (Some(area), None) => vec![area.clone()],
            (None, Some(package)) => vec![BenchArea::Package(package.clone())],
            (None, None) => BenchArea::all(),
        };
        if self.program.is_some() && !areas.iter().all(BenchArea::measures_program) {
            let why = "only the areas serve and growth measure a program; name one of them";
            return Err(TaskError::OptionRefused { option: "program", why });
        }
        Ok(areas)
    }
}

/// Runs benchmarks.
///
/// # Errors
///
/// [`TaskError::OptionRefused`] before any of them runs, or the error of the first one that fails: they fail if two programs give
/// different results, on no figure. Or that of a page that cannot be written.
pub fn bench(root: &Path, run: &Bench) -> Result<(), TaskError> {
    for area in run.areas()? {
        let mut measured = page::Measured::begin();
        for step in area.steps(root)? {
            let step = match &run.program {
                Some(program) => step.variable("BENCH_PROGRAM", &program.to_string_lossy()),
                None => step,
            };
            step.run_seen(|line| measured.see(line))?;
        }
        if run.writes_page {
            measured.write(root, &area, run.program.is_some())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(run: &Bench) -> &'static str {
        match run.areas() {
            Err(TaskError::OptionRefused { option, .. }) => option,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_program_is_refused_where_none_is_measured() {
        let with = |area: Option<BenchArea>, package: Option<&str>| Bench {
            area,
            package: package.map(str::to_owned),
            program: Some("agentd".into()),
            writes_page: false,
        };
        for area in BenchArea::all() {
            let run = with(Some(area.clone()), None);
            match area {
                BenchArea::Serve | BenchArea::Growth => assert_eq!(run.areas().unwrap(), [area]),
                _ => assert_eq!(refused(&run), "program", "{area:?}"),
            }
        }
        assert_eq!(refused(&with(None, None)), "program");
        assert_eq!(refused(&with(None, Some("agentd-workspace"))), "program");
    }

    #[test]
    fn a_package_is_refused_beside_an_area() {
        let package = Some("text-edit".to_owned());
        let run = Bench { package: package.clone(), ..Bench::default() };
        assert_eq!(run.areas().unwrap(), [BenchArea::Package("text-edit".to_owned())]);
        assert_eq!(
            refused(&Bench { area: Some(BenchArea::Journal), package, ..Bench::default() }),
            "package"
        );
    }

    #[test]
    fn all_areas_are_measured_if_none_is_named() {
        assert_eq!(Bench::default().areas().unwrap(), BenchArea::all());
    }

    #[test]
    fn a_package_without_a_benchmark_is_refused() {
        let steps = |name: &str| BenchArea::Package(name.to_owned()).steps(&crate::root());
        assert!(matches!(steps("no-such-package"), Err(TaskError::NothingMeasured { .. })));
        assert!(!steps("text-edit").unwrap().is_empty());
    }
}
