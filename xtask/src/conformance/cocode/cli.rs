//! Cases of cocode that run the built program.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::{Value, json};

use crate::conformance::Outcome;
use crate::conformance::cocode::each;
use crate::conformance::cocode::fixture::CocodeFixture;
use crate::conformance::expected::list;
use crate::conformance::problem::Problem;
use crate::{Step, root};

/// Runs a case of the kind cli.
pub(crate) fn run(case: &Value) -> Outcome {
    cli(case).unwrap_or_else(|problem| Outcome::Failed(problem.to_string()))
}

fn cli(case: &Value) -> Result<Outcome, Problem> {
    let fixture = CocodeFixture::new()?;
    let (input, expect) = (&case["input"], &case["expect"]);
    if input["PATH_without"] != "gh" {
        fixture.stub(
            "gh",
            "#!/bin/sh\necho '{\"title\":\"T\",\"body\":\"B\",\"url\":\"https://example.org/5\"}'\n",
        )?;
    }
    fixture.stub(
        "stub-agent",
        "#!/bin/sh\necho '[INFO] at work'\necho x > done\ngit add done\ngit commit -q -m \"$COCODE_READY_MARKER\"\n",
    )?;
    let settings = fixture.root.join("home/.config/agentd");
    fs::create_dir_all(&settings)?;
    fs::write(settings.join("agents.toml"), "[agents.a]\ncommand = 'stub-agent'\n")?;
    let words = input["cmd"].as_str().ok_or_else(|| Problem::new("the case has no command"))?;
    let mut command = Command::new(program()?);
    command.args(words.split_whitespace()).current_dir(fixture.repository());
    command.env_clear().envs(&fixture.host.variables).env("TMPDIR", &fixture.root).stdin(Stdio::null());
    let output = command.output()?;
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let has = |part: &&Value| part.as_str().is_some_and(|part| stdout.contains(part));
    let parts: Vec<&Value> = list(&expect["stdout_contains"]).iter().filter(has).collect();
    let branches = fixture.git(&fixture.repository(), &["branch", "--list", "cocode/*"])?;
    let actual = json!({
        "exit": output.status.code(),
        "stdout_contains": parts,
        "nothing_started": branches.is_empty(),
    });
    Ok(each(expect, &actual))
}

/// Set by the tests of this crate for the tasks that they start.
const WITH_TESTS: &str = "XTASK_BUILDS_WITH_TESTS";

/// Builds the program, once, and returns where it is: beside the program that runs this.
pub(crate) fn program() -> Result<PathBuf, Problem> {
    static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        let own = std::env::current_exe().map_err(|error| error.to_string())?;
        let is_test = own.parent().is_some_and(|folder| folder.ends_with("deps"))
            || std::env::var_os(WITH_TESTS).is_some();
        // `cargo test --workspace` has built it with the features that all tests need together. For the package alone, these are
        // others, with which half of the dependencies would be built once more.
        let packages: &[&str] =
            if is_test { &["--workspace", "--tests"] } else { &["--package", "agentd-workspace"] };
        let arguments = [&["build", "--quiet", "--bin", "agentd"], packages].concat();
        Step::cargo("agentd", &arguments).folder(&root()).run().map_err(|error| error.to_string())?;
        let folders = own.ancestors().skip(1).take(2);
        let program = folders.map(|folder| folder.join("agentd")).find(|path| path.is_file());
        program.ok_or_else(|| "the built program is not beside this one".to_owned())
    });
    built.clone().map_err(Problem::new)
}
