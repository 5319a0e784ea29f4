//! The commands of the pages under `docs/start/` are run, in their own folder, and print what the pages say.
//!
//! Fences marked `sh` are run in their order by one shell. A fence marked `text` after one holds lines of its output, in their
//! order, with `…` for what differs from run to run. Commands in fences marked `console` need more than a folder and are not run.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::fixture::at_once::at_once;
use crate::fixture::project::program;

/// Printed between the outputs of two fences.
const MARK: &str = "-- the next fence of the page --";

/// Commands of a page, and the lines that they print among others.
#[derive(Debug, Default, PartialEq, Eq)]
struct Commands {
    script: String,
    printed: Vec<String>,
}

/// The fences of a page that are run.
fn commands(page: &str) -> Vec<Commands> {
    let mut all: Vec<Commands> = Vec::new();
    let mut fence: Option<(String, String)> = None;
    // Whether the fence before was run: only then a `text` is about it.
    let mut is_about_last = false;
    for line in page.lines() {
        match (&mut fence, line.strip_prefix("```")) {
            (None, Some(language)) => fence = Some((language.to_owned(), String::new())),
            (None, None) => {}
            (Some((_, text)), None) => text.push_str(&format!("{line}\n")),
            (Some((language, text)), Some(_)) => {
                let is_run = language == "sh";
                match all.last_mut() {
                    Some(last) if language == "text" && is_about_last => {
                        last.printed.extend(text.lines().map(str::to_owned));
                    }
                    _ if is_run => all.push(Commands { script: text.clone(), printed: Vec::new() }),
                    _ => {}
                }
                is_about_last = is_run;
                fence = None;
            }
        }
    }
    all
}

/// Checks whether a line of an output holds what a line of a page shows, which may leave parts out.
fn holds(line: &str, excerpt: &str) -> bool {
    let mut rest = line;
    for part in excerpt.trim().split('…') {
        match rest.find(part) {
            Some(start) => rest = &rest[start + part.len()..],
            None => return false,
        }
    }
    true
}

/// Returns the first line of the page that the output does not hold after those before it.
fn missing<'a>(output: &str, printed: &'a [String]) -> Option<&'a str> {
    let mut lines = output.lines();
    printed.iter().find(|excerpt| !lines.any(|line| holds(line, excerpt))).map(String::as_str)
}

fn run(page: &Path) {
    let name = page.file_name().unwrap().to_str().unwrap();
    let commands = commands(&fs::read_to_string(page).unwrap());
    if commands.is_empty() {
        return;
    }
    let folder = tempfile::Builder::new().prefix("agentd-start-").tempdir().unwrap();
    for inner in ["home", "tmp", "pages"] {
        fs::create_dir(folder.path().join(inner)).unwrap();
    }
    let scripts: Vec<&str> = commands.iter().map(|one| one.script.as_str()).collect();
    let script = format!("exec 2>&1\nset -e\n{}", scripts.join(&format!("echo '{MARK}'\n")));
    let path = std::env::var("PATH").unwrap();
    let output = Command::new("sh")
        .args(["-c", &script])
        .current_dir(folder.path().join("pages"))
        .env("PATH", format!("{}:{path}", program().parent().unwrap().display()))
        .env("HOME", folder.path().join("home"))
        .env("TMPDIR", folder.path().join("tmp"))
        .env("LC_ALL", "C.UTF-8")
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("XDG_STATE_HOME")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&output.stdout).into_owned()
        + if output.status.success() { "" } else { "\n-- the script has failed" };
    let outputs: Vec<&str> = output.split(&format!("{MARK}\n")).collect();
    assert!(outputs.len() == commands.len() && !output.ends_with("has failed"), "{name}:\n{output}");
    for (commands, output) in commands.iter().zip(outputs) {
        let missing = missing(output, &commands.printed);
        assert_eq!(missing, None, "{name}: is not printed by\n{}but:\n{output}", commands.script);
    }
}

#[test]
fn the_commands_of_the_start_pages_print_what_the_pages_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/start");
    let pages: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    let with_commands = pages.iter().filter(|page| !commands(&fs::read_to_string(page).unwrap()).is_empty());
    assert!(with_commands.count() >= 3, "{pages:?}");
    at_once(&pages, |page| run(page));
}

#[test]
fn a_page_that_shows_another_output_is_noticed() {
    let page = "```sh\nls\n```\nso:\n```text\na …\nb\n```\n```text\nelse\n```\n```console\nrm x\n```\n";
    let expected = Commands { script: "ls\n".to_owned(), printed: vec!["a …".to_owned(), "b".to_owned()] };
    let commands = commands(page);
    assert_eq!(commands, [expected]);
    assert_eq!(missing("x\nan a and more\nb\n", &commands[0].printed), None);
    assert_eq!(missing("b\na c\n", &commands[0].printed), Some("b"));
    assert_eq!(missing("ab\n", &commands[0].printed), Some("a …"));
}
