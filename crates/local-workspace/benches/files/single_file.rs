//! Reading, opening and editing one file.

use std::fs;
use std::path::Path;
use std::time::Duration;

use change_journal::{Journal, JournalLimits};
use rel_path::RelPath;
use sandbox_fs::{Expected, FileMode};
use text_edit::{EditLimits, Lines, Numbering, Operation, Source};
use wap_core::{ModifyFile, ModifyOperation, ReadFile, Workspace, WorkspaceExt};

use crate::fixture::{call, engine, root};
use crate::table::Table;
use crate::turns::median_of;

/// A path as deep as they are in projects.
const DEEP: &str = "one/two/three/four/file.rs";

pub(crate) fn measure(parent: &Path, table: &mut Table) {
    let folder = parent.join("single");
    let write = |name: &str, content: &[u8]| {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("folders can be made");
        fs::write(path, content).expect("a file can be written");
    };
    let line = "    let value = reader.next(&mut buffer)?; // what comes then\n";
    let megabyte = line.repeat(1_048_576 / line.len() + 1);
    write("read.rs", &megabyte.as_bytes()[..1_048_576]);
    write("edit.rs", &megabyte.as_bytes()[..1_000_000]);
    write(DEEP, b"fn main() {}\n");

    let state = parent.join("single-state");
    let workspace = engine(&folder, &state, Journal::in_memory().expect("there is memory"));
    let request = ReadFile { path: "read.rs".into(), ..ReadFile::default() };
    let taken = median_of(200, || {
        let read = call(|call| workspace.read_file(call, &request)).expect("the file can be read");
        assert_eq!(read.content.len(), 1_048_576);
    });
    table.time("read 1 MiB", taken, Some(Duration::from_millis(2)));

    let held = root(&folder);
    let path = RelPath::parse(DEEP).expect("the path is valid");
    let taken = median_of(20_000, || drop(held.open_file(&path).expect("the file is there")));
    table.time("open and check a path", taken, Some(Duration::from_micros(10)));

    let path = RelPath::parse("edit.rs").expect("the path is valid");
    let mut number = 0;
    let taken = median_of(200, || {
        number += 1;
        edit_one_line(&held, &path, number);
    });
    table.time("edit one line of 1 MB, no journal, no sync", taken, Some(Duration::from_millis(2)));

    let taken = median_of(50, || {
        number += 1;
        modify_one_line(&workspace, number);
    });
    table.time("  the whole call, journal in memory", taken, None);
    workspace.checkpoint();
    drop(workspace);
    let _ = fs::remove_dir_all(state.join("journal"));
    let journal = Journal::open(&state.join("journal"), JournalLimits::default()).expect("a journal opens").0;
    let workspace = engine(&folder, &state, journal);
    let taken = median_of(20, || {
        number += 1;
        modify_one_line(&workspace, number);
    });
    table.time("  the whole call, journal on disk and synced", taken, None);
    workspace.checkpoint();
}

/// Does the work of an edit to a file: read, examine, change a line, write a new file next to it, exchange if it
/// is still the same.
fn edit_one_line(root: &sandbox_fs::FileRoot, path: &RelPath, number: usize) {
    let before = root.open_file(path).and_then(|file| file.read_to_end(64 << 20)).expect("it can be read");
    let expected = Expected::Content(sandbox_fs::ContentHash::of(&before));
    let lines = Source::parse(&before).expect("it is text").total_lines();
    let line = (1 + number * 7_919 % lines) as i64;
    let content = Lines::from_content(&format!("    // edit {number}"));
    let operation = Operation::Replace { start_line: line, end_line: line, content };
    let edited = text_edit::apply(&before, &[operation], Numbering::Original, &EditLimits::default())
        .expect("the line is there");
    root.stage(path, &edited.bytes, FileMode::Keep)
        .and_then(|staged| staged.publish(expected))
        .expect("no other program writes it");
}

fn modify_one_line(workspace: &impl Workspace, number: usize) {
    let line = (1 + number * 7_919 % 10_000) as i64;
    let new_content = format!("    // edit {number}");
    let operation = ModifyOperation::Replace { start_line: line, end_line: line, new_content, was: None };
    let request = ModifyFile { path: "edit.rs".into(), operations: vec![operation], ..ModifyFile::default() };
    call(|call| workspace.modify_file(call, &request)).expect("the line is there");
}
