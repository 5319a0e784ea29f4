//! The areas that are measured.

use std::path::{Path, PathBuf};

use crate::setup::client_packages::{install_clients, install_peers, install_question_packages};
use crate::{CrateList, Step, TaskError};

/// An area of what this project does, with the benchmarks that measure it.
#[derive(Clone, Debug, PartialEq, Eq, clap::Subcommand)]
pub enum BenchArea {
    /// Searching, listing, reading and editing files, beside `rg` and `find`.
    Files {
        /// In a tree of 90,000 files instead of 20,000.
        #[arg(long = "large")]
        is_large: bool,
    },
    /// Searching with a list of files that is kept, beside `rg` and beside searching without it, in both sizes of tree.
    Search,
    /// The same calls with 1,000 to 100,000 files, with files of 1 to 100 MB, and from 1 to 100 clients.
    Growth,
    /// Single edits with their commits, beside plain writes that are synced.
    Journal,
    /// Confined commands, beside plain ones and another sandbox.
    Exec,
    /// The servers, beside other servers for files, which are installed first.
    Serve,
    /// Coding agents.
    Cocode,
    /// A fleet of real processes on this machine, and commands that have nothing to do with fleets beside a build without the
    /// feature `fleet`, which is made first. Needs root, for the network namespaces of the hosts.
    Fleet,
    /// Rounds of a loop with a model program.
    Loop,
    /// Envelopes and the code index, and the quality of its search beside plain ways of ranking. The packages that it is asked
    /// about are installed first.
    Codali {
        /// Search quality alone.
        #[arg(long = "quality")]
        is_quality_alone: bool,
    },
    /// Crates that others use alone: every benchmark that no other area has.
    Crates,
    /// The benchmarks of one package, which the option of this name chooses.
    #[command(skip)]
    Package(String),
}

/// The benchmarks that areas other than [`BenchArea::Crates`] run, with their packages: names alone are not unique.
const IN_OTHER_AREAS: [(&str, &str); 11] = [
    ("agentd-workspace", "cocode"),
    ("agentd-workspace", "fleet"),
    ("agentd-workspace", "growth"),
    ("agentd-workspace", "loop"),
    ("agentd-workspace", "serve"),
    ("codali-envelope", "codali"),
    ("code-index", "codali"),
    ("local-workspace", "exec"),
    ("local-workspace", "files"),
    ("local-workspace", "journal"),
    ("sandbox-exec", "exec"),
];

impl BenchArea {
    /// All areas, in the order of the page.
    #[must_use]
    pub fn all() -> Vec<BenchArea> {
        vec![
            BenchArea::Files { is_large: false },
            BenchArea::Search,
            BenchArea::Growth,
            BenchArea::Journal,
            BenchArea::Exec,
            BenchArea::Serve,
            BenchArea::Loop,
            BenchArea::Codali { is_quality_alone: false },
            BenchArea::Cocode,
            BenchArea::Fleet,
            BenchArea::Crates,
        ]
    }

    /// Returns the heading of its section.
    pub(super) fn heading(&self) -> String {
        let heading = match self {
            BenchArea::Files { is_large: false } => "Files",
            BenchArea::Files { is_large: true } => "Files, 90,000 of them",
            BenchArea::Search => "Search",
            BenchArea::Growth => "Growth",
            BenchArea::Journal => "Edits and their journal",
            BenchArea::Exec => "Commands",
            BenchArea::Serve => "Servers",
            BenchArea::Cocode => "Coding agents",
            BenchArea::Fleet => "Fleets",
            BenchArea::Loop => "Loops",
            BenchArea::Codali { is_quality_alone: false } => "Envelopes and the index",
            BenchArea::Codali { is_quality_alone: true } => "Search quality",
            BenchArea::Crates => "Single crates",
            BenchArea::Package(name) => return format!("Package {name}"),
        };
        heading.to_owned()
    }

    /// Returns the words after `cargo xtask bench` that measure it.
    pub(super) fn words(&self) -> String {
        let words = match self {
            BenchArea::Files { is_large: false } => "files",
            BenchArea::Files { is_large: true } => "files --large",
            BenchArea::Search => "search",
            BenchArea::Growth => "growth",
            BenchArea::Journal => "journal",
            BenchArea::Exec => "exec",
            BenchArea::Serve => "serve",
            BenchArea::Cocode => "cocode",
            BenchArea::Fleet => "fleet",
            BenchArea::Loop => "loop",
            BenchArea::Codali { is_quality_alone: false } => "codali",
            BenchArea::Codali { is_quality_alone: true } => "codali --quality",
            BenchArea::Crates => "crates",
            BenchArea::Package(name) => return format!("--package {name}"),
        };
        words.to_owned()
    }

    /// Returns whether its benchmarks measure a program, which may then be another one than that of the build.
    pub(super) fn measures_program(&self) -> bool {
        matches!(self, BenchArea::Serve | BenchArea::Growth)
    }

    /// Returns the steps that measure it, in their order, after installing what they compare with.
    ///
    /// # Errors
    ///
    /// If the list of crates cannot be read, and [`TaskError::NothingMeasured`] for a package without a benchmark.
    pub(super) fn steps(&self, root: &Path) -> Result<Vec<Step>, TaskError> {
        let steps = match self {
            BenchArea::Files { is_large } => {
                let more: &[&str] = if *is_large { &["--large"] } else { &[] };
                vec![step("files", "local-workspace", "files", more)]
            }
            BenchArea::Search => vec![
                step("search", "local-workspace", "files", &["warm"]),
                step("search, large", "local-workspace", "files", &["warm", "--large"]),
            ],
            BenchArea::Growth => vec![step("growth", "agentd-workspace", "growth", &[])],
            BenchArea::Journal => named(root, |_, bench| bench == "journal")?,
            BenchArea::Exec => named(root, |_, bench| bench == "exec")?,
            BenchArea::Serve => vec![serve()],
            BenchArea::Cocode => vec![step("cocode", "agentd-workspace", "cocode", &[])],
            BenchArea::Fleet => fleet(root),
            BenchArea::Loop => vec![step("loop", "agentd-workspace", "loop", &[])],
            BenchArea::Codali { is_quality_alone } => codali(*is_quality_alone),
            BenchArea::Crates => named(root, |package, bench| !IN_OTHER_AREAS.contains(&(package, bench)))?,
            BenchArea::Package(package) => named(root, |name, _| name == package)?,
        };
        if steps.is_empty() {
            return Err(TaskError::NothingMeasured { words: self.words() });
        }
        Ok(steps.into_iter().map(|step| step.folder(root)).collect())
    }
}

fn step(title: &str, package: &str, bench: &str, more: &[&str]) -> Step {
    let behind: &[&str] = if more.is_empty() { &[] } else { &["--"] };
    Step::cargo(title, &[&["bench", "--package", package, "--bench", bench], behind, more].concat())
}

/// The benchmarks of all packages whose package and own name `is_wanted`.
fn named(root: &Path, is_wanted: impl Fn(&str, &str) -> bool) -> Result<Vec<Step>, TaskError> {
    let list = CrateList::read(root)?;
    let all = list.crates.iter().flat_map(|one| one.benches.iter().map(move |bench| (&one.name, bench)));
    Ok(all
        .filter(|(name, bench)| is_wanted(name, bench))
        .map(|(name, bench)| step(&format!("{name} {bench}"), name, bench, &[]))
        .collect())
}

fn serve() -> Step {
    install_clients();
    let peers = install_peers();
    step("serve", "agentd-workspace", "serve", &[])
        .variable("PEER_NODE", &peers.node.to_string_lossy())
        .variable("PEER_SERVER_FILESYSTEM", &peers.server_filesystem.to_string_lossy())
        .variable("PEER_RUST_MCP_FILESYSTEM", &peers.rust_mcp_filesystem.to_string_lossy())
}

fn fleet(root: &Path) -> Vec<Step> {
    let folder = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let [built, without] = ["release/agentd", "release/agentd-without-fleets"]
        .map(|name| folder.join(name).to_string_lossy().into_owned());
    // All else is the same, or the difference would not be that of the fleets.
    let build = ["build", "--release", "--package", "agentd-workspace", "--no-default-features"];
    let others = ["--features", "more-languages"];
    vec![
        Step::cargo("a build without fleets", &[&build[..], &others].concat()),
        // The benchmark builds the program anew, with them.
        Step::new("keep it", "cp", &[built.as_str(), &without]),
        step("fleet", "agentd-workspace", "fleet", &[]).variable("FLEET_BENCH_WITHOUT", &without),
    ]
}

fn codali(is_quality_alone: bool) -> Vec<Step> {
    let packages = install_question_packages();
    let more: &[&str] = if is_quality_alone { &["--quality"] } else { &[] };
    let index = step("code-index", "code-index", "codali", more)
        .variable("QUESTIONS_PYTHON", &packages.python.to_string_lossy())
        .variable("QUESTIONS_NODE", &packages.node.to_string_lossy());
    match is_quality_alone {
        true => vec![index],
        false => vec![step("codali-envelope", "codali-envelope", "codali", &[]), index],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_benchmark_is_in_an_area() {
        let list = CrateList::read(&crate::root()).unwrap();
        // These three install packages before they run.
        let installs =
            [("agentd-workspace", "serve"), ("agentd-workspace", "fleet"), ("codali-envelope", "codali")];
        let installs = installs.iter().chain(&[("code-index", "codali")]);
        let of_others = ["serve", "codali", "fleet"];
        let areas = BenchArea::all().into_iter().filter(|area| !of_others.contains(&area.words().as_str()));
        let steps: Vec<Step> = areas.flat_map(|area| area.steps(&crate::root()).unwrap()).collect();
        for (package, bench) in list
            .crates
            .iter()
            .flat_map(|one| one.benches.iter().map(|bench| (one.name.as_str(), bench.as_str())))
        {
            let is_run = |step: &Step| {
                [package, bench].iter().all(|name| step.arguments().contains(&(*name).to_owned()))
            };
            let is_there =
                installs.clone().any(|other| *other == (package, bench)) || steps.iter().any(is_run);
            assert!(is_there, "{package} {bench}");
        }
    }

    #[test]
    fn the_build_without_fleets_has_all_else() {
        let manifest = std::fs::read_to_string(crate::root().join("crates/agentd/Cargo.toml")).unwrap();
        let manifest: toml::Table = manifest.parse().unwrap();
        let usual =
            manifest["features"]["default"].as_array().unwrap().iter().map(|one| one.as_str().unwrap());
        let others: Vec<&str> = usual.filter(|feature| *feature != "fleet").collect();
        let steps = fleet(&crate::root());
        assert_eq!(steps[0].arguments().last(), Some(&others.join(",")));
    }
}
