//! The peak of memory on a file of one endless line, in a separate process.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::Command;

use change_journal::Journal;
use wap_core::{QueryType, ReadFile, SearchFiles, Workspace};

use crate::fixture::{call, engine};
use crate::table::Table;

const LINE_BYTES: u64 = 1 << 30;
const MOST_BYTES: u64 = 64_000_000;

pub(crate) fn measure(parent: &Path, table: &mut Table) {
    let folder = parent.join("long-line");
    fs::create_dir_all(&folder).expect("the target folder can be written");
    let path = folder.join("line.txt");
    let mut file = File::create(&path).expect("the target folder can be written");
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..LINE_BYTES >> 20 {
        file.write_all(&piece).expect("there is room for 1 GiB");
    }
    for tool in ["read", "search"] {
        let program = std::env::current_exe().expect("this program has a path");
        let output = Command::new(program)
            .args(["--peak-memory", tool])
            .arg(&folder)
            .output()
            .expect("this program can be started");
        let text = String::from_utf8_lossy(&output.stdout);
        match text.trim().parse() {
            Ok(bytes) => table.memory(&format!("memory, {tool} a line of 1 GiB"), bytes, MOST_BYTES),
            Err(_) => table.missing(&format!("memory, {tool}"), "the peak cannot be found out here"),
        }
    }
    let _ = fs::remove_dir_all(&folder);
}

/// Does it, and prints the peak in bytes.
pub(crate) fn child(tool: &str, folder: &Path) {
    let state = folder.with_extension("state");
    let workspace = engine(folder, &state, Journal::in_memory().expect("there is memory"));
    if tool == "read" {
        let request = ReadFile {
            path: "line.txt".into(),
            start_line: Some(1),
            end_line: Some(1),
            ..ReadFile::default()
        };
        let read = call(|call| workspace.read_file(call, &request)).expect("a range can be read");
        assert!(read.is_truncated && read.content.len() == 1 << 20);
    } else {
        let request = SearchFiles {
            paths: vec!["line.txt".into(), ".".into()],
            query: "y".into(),
            query_type: QueryType::Literal,
            recursive: None,
            exclude_patterns: None,
            context_lines: None,
            respect_gitignore: None,
            withheld: None,
        };
        let response = call(|call| workspace.search_files(call, &request)).expect("the search works");
        assert_eq!(response.warnings.len(), 1, "{:?}", response.warnings);
    }
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = peak.and_then(|peak| peak.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    println!("{}", kib.map_or_else(String::new, |kib| (kib * 1024).to_string()));
}
