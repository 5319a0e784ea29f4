//! Content search, compared with the `rg` program.

use std::process::{Command, Stdio};

use change_journal::Journal;
use wap_core::{QueryType, SearchFiles, Workspace};

use crate::fixture::{call, engine};
use crate::table::Table;
use crate::tree::{COMMON, RARE, Tree};
use crate::turns::turns;

pub(crate) fn measure(tree: &Tree, table: &mut Table) {
    let state = tree.path().with_extension("state");
    let journal = Journal::in_memory().expect("there is memory");
    let workspace = engine(tree.path(), &state, journal);
    let cases = [
        ("search, rare text", RARE, QueryType::Literal),
        ("search, common word", COMMON, QueryType::Literal),
        ("search, missing text", "not anywhere in here", QueryType::Literal),
        ("search, expression", r"fn \w+_\d+\(", QueryType::Regex),
        ("search, expression without literals", r"\b[a-z]{6} [a-z]{6} [a-z]{6}\b", QueryType::Regex),
    ];
    let program = Command::new("rg").arg("--version").output();
    match &program {
        Ok(output) => {
            println!("{}", String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default())
        }
        Err(_) => table.missing("search beside rg", "there is no rg: run `cargo xtask setup`"),
    }
    for (what, query, query_type) in cases {
        let request = SearchFiles {
            paths: vec![".".into()],
            query: query.into(),
            query_type,
            recursive: None,
            exclude_patterns: None,
            context_lines: None,
            respect_gitignore: None,
            withheld: None,
        };
        let ours = || call(|call| workspace.search_files(call, &request)).expect("the search works");
        let response = ours();
        assert!(response.warnings.is_empty(), "{:?}", response.warnings);
        if program.is_err() {
            let taken = crate::turns::median_of(10, || drop(ours()));
            table.time(what, taken, None);
            continue;
        }
        let theirs = || rg(tree, query, query_type);
        table.check(what, response.total_matches, theirs());
        table.compared(what, "rg", &turns(|| drop(ours()), || _ = theirs()), 1.0);
    }
}

/// Counts matching lines with the program, without any exclusions.
pub(crate) fn rg(tree: &Tree, query: &str, query_type: QueryType) -> u64 {
    let mut command = Command::new("rg");
    command.args(["--no-config", "--no-ignore", "--hidden", "--no-messages", "--count", "--no-filename"]);
    if query_type == QueryType::Literal {
        command.arg("--fixed-strings");
    }
    let output = command
        .args(["--regexp", query, "."])
        .current_dir(tree.path())
        .stdin(Stdio::null())
        .output()
        .expect("rg runs");
    String::from_utf8_lossy(&output.stdout).lines().filter_map(|line| line.parse::<u64>().ok()).sum()
}
