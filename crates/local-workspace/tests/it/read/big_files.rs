//! Folders and files without a reasonable size.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use local_workspace::LocalWorkspace;
use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use serde_json::{Value, json};
use wap_core::{
    ExploreFiles, ExploreFilesResponse, ReadFile, ReadFileResponse, Reason, SearchFiles, SearchFilesResponse,
    WapError, Workspace,
};

use crate::fixture::workspace::{Caller, Fixture};

/// Nothing here may take anything like this long, whatever else the machine does.
const HANG: Duration = Duration::from_secs(120);

const FOLDER_VARIABLE: &str = "LOCAL_WORKSPACE_BIG_FILES";

fn explore(workspace: &LocalWorkspace, request: Value) -> ExploreFilesResponse {
    let request: ExploreFiles = serde_json::from_value(request).unwrap();
    workspace.explore_files(&Caller::once().call(), &request).unwrap()
}

fn search(workspace: &LocalWorkspace, query: &str) -> SearchFilesResponse {
    let request = json!({"paths": ["."], "query": query, "type": "literal"});
    let request: SearchFiles = serde_json::from_value(request).unwrap();
    workspace.search_files(&Caller::once().call(), &request).unwrap()
}

fn read_lines(
    workspace: &LocalWorkspace,
    path: &str,
    start: i64,
    end: Option<i64>,
) -> Result<ReadFileResponse, WapError> {
    let request =
        ReadFile { path: path.into(), start_line: Some(start), end_line: end, ..ReadFile::default() };
    workspace.read_file(&Caller::once().call(), &request)
}

/// A file that begins with `head` and has holes up to `size_bytes`.
fn sparse(path: &Path, head: &[u8], size_bytes: u64) -> File {
    let mut file = File::create(path).unwrap();
    file.write_all(head).unwrap();
    file.set_len(size_bytes).unwrap();
    file
}

#[test]
fn hundred_thousand_entries_of_one_folder_are_counted_and_searched() {
    let fixture = Fixture::new();
    let folder = fixture.root().join("many");
    fs::create_dir(&folder).unwrap();
    let handle = File::open(&folder).unwrap();
    for number in 0..100_000 {
        let name = format!("f{number:06}");
        let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&handle, &name, flags, Mode::from_raw_mode(0o600)).unwrap();
        if number % 10_000 == 9_999 {
            File::from(file).write_all(b"needle\n").unwrap();
        }
    }
    let workspace = fixture.open();
    // Listings and searches end after ten seconds unless the caller says that it waits longer, and a machine with other work
    // may need longer than that to open a hundred thousand files.
    let patient = Caller { time_left: Some(HANG), ..Caller::once() };
    let request: ExploreFiles = serde_json::from_value(json!({"path": "many"})).unwrap();
    let listed = workspace.explore_files(&patient.call(), &request).unwrap();
    // Nothing but the way to the others.
    assert_eq!(listed.warnings, ["entries are left out: list one of the folders, or give a 'pattern'"]);
    assert_eq!((listed.total_found, listed.files.len(), listed.is_truncated), (100_000, 500, true));
    assert_eq!(listed.files[499].path, "many/f000499");
    let request: SearchFiles =
        serde_json::from_value(json!({"paths": ["."], "query": "needle", "type": "literal"})).unwrap();
    let response = workspace.search_files(&patient.call(), &request).unwrap();
    assert!(response.warnings.is_empty(), "{:?}", response.warnings);
    assert_eq!((response.total_matches, response.is_truncated), (10, false));
    assert_eq!(response.matches[0].path, "many/f009999");
    // With less time than anything takes it says so.
    let hurried = Caller { time_left: Some(Duration::from_millis(1)), ..Caller::once() };
    let hurried = workspace.search_files(&hurried.call(), &request).unwrap();
    assert!(
        hurried.is_truncated && hurried.total_matches < 10 && !hurried.warnings.is_empty(),
        "{hurried:?}"
    );
}

/// Folders within each other, all called `d`. No program that removes folders one within the other could.
struct DeepFolders {
    top: PathBuf,
}

impl DeepFolders {
    fn make(top: PathBuf, depth: usize) -> DeepFolders {
        fs::create_dir(&top).unwrap();
        let mut folder = open_folder(CWD, &top);
        for _ in 0..depth {
            rustix::fs::mkdirat(&folder, "d", Mode::from_raw_mode(0o700)).unwrap();
            folder = open_folder(&folder, "d");
        }
        fs::write(top.join("d/file"), "needle\n").unwrap();
        DeepFolders { top }
    }
}

fn open_folder(at: impl std::os::fd::AsFd, path: impl rustix::path::Arg) -> std::os::fd::OwnedFd {
    rustix::fs::openat(at, path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).unwrap()
}

impl Drop for DeepFolders {
    fn drop(&mut self) {
        let top = open_folder(CWD, &self.top);
        let _ = rustix::fs::unlinkat(&top, "d/file", AtFlags::empty());
        // The next one comes up to the top, so that the one around it is empty.
        while rustix::fs::renameat(&top, "d/d", &top, "next").is_ok() {
            rustix::fs::unlinkat(&top, "d", AtFlags::REMOVEDIR).unwrap();
            rustix::fs::renameat(&top, "next", &top, "d").unwrap();
        }
        fs::remove_dir_all(&self.top).unwrap();
    }
}

#[test]
fn nesting_deeper_than_paths_go_ends_and_is_reported() {
    let fixture = Fixture::new();
    let _deep = DeepFolders::make(fixture.root().join("deep"), 10_000);
    let workspace = fixture.open();
    let start = Instant::now();
    let listed = explore(&workspace, json!({"path": ".", "recursive": true, "maxDepth": 1_000_000}));
    // `deep`, the `d` within each other up to 64 components, and the file.
    assert_eq!(listed.total_found, 1 + 63 + 1);
    assert_eq!(listed.warnings.len(), 1, "{:?}", listed.warnings);
    assert!(listed.warnings[0].contains("deeper"), "{:?}", listed.warnings);
    let response = search(&workspace, "needle");
    assert_eq!((response.total_matches, response.warnings), (1, listed.warnings));
    let shallow = explore(&workspace, json!({"path": ".", "recursive": true}));
    assert_eq!((shallow.total_found, shallow.warnings), (4, Vec::<String>::new()));
    assert!(start.elapsed() < HANG);
}

#[test]
fn names_that_are_no_text_are_listed_and_read_by_what_was_listed() {
    let fixture = Fixture::new();
    for (name, text) in
        [(&b"caf\xe9"[..], "latin"), (b"a\xff\xfeb", "bytes"), ("\u{202e}x".as_bytes(), "turned")]
    {
        fs::write(fixture.root().join(OsStr::from_bytes(name)), text).unwrap();
    }
    let workspace = fixture.open();
    let listed = explore(&workspace, json!({"path": ".", "returnMetadata": true}));
    let paths: Vec<_> = listed.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["a\\xff\\xfeb", "caf\\xe9", "\\xe2\\x80\\xaex"]);
    for (file, text) in listed.files.iter().zip(["bytes", "latin", "turned"]) {
        assert_eq!(file.metadata.as_ref().unwrap().size, text.len() as u64);
        assert_eq!(read_lines(&workspace, &file.path, 1, None).unwrap().content, text);
    }
}

#[test]
fn sparse_file_of_a_tebibyte_is_left_at_once() {
    let fixture = Fixture::new();
    sparse(&fixture.root().join("holes"), b"", 1 << 40);
    let workspace = fixture.open();
    let start = Instant::now();
    let error = read_lines(&workspace, "holes", 1, Some(10)).unwrap_err();
    assert_eq!(error.reason(), Reason::BinaryFile);
    let whole = ReadFile { path: "holes".into(), ..ReadFile::default() };
    let error = workspace.read_file(&Caller::once().call(), &whole).unwrap_err();
    assert_eq!(error.reason(), Reason::FileTooLarge);
    let response = search(&workspace, "x");
    assert_eq!((response.skipped.binary, response.is_truncated), (1, false));
    assert!(start.elapsed() < HANG);
}

#[test]
fn range_of_a_tebibyte_is_read_and_the_total_is_a_lower_bound() {
    let fixture = Fixture::new();
    let lines = "a line of text\n".repeat(1_000);
    sparse(&fixture.root().join("text"), lines.as_bytes(), 1 << 40);
    let workspace = fixture.open();
    let start = Instant::now();
    let read = read_lines(&workspace, "text", 500, Some(501)).unwrap();
    assert_eq!(read.content, "a line of text\na line of text\n");
    assert_eq!((read.returned_lines, read.total_lines, read.is_truncated), (2, 1_001, false));
    assert_eq!((read.version, read.metadata.size), (None, 1 << 40));
    assert!(read.warnings[0].contains("lower bound"), "{:?}", read.warnings);
    // The endless line after it is cut.
    let read = read_lines(&workspace, "text", 1_001, None).unwrap();
    assert_eq!((read.content.len(), read.is_truncated), (1 << 20, true));
    let response = search(&workspace, "line of");
    assert_eq!((response.total_matches, response.matches.len(), response.is_truncated), (1_000, 100, true));
    assert!(response.warnings[0].contains("first of them 'text'"), "{:?}", response.warnings);
    assert!(start.elapsed() < HANG);
}

#[test]
fn line_that_is_never_reached_is_a_timeout_that_says_how_far_it_came() {
    let fixture = Fixture::new();
    sparse(&fixture.root().join("text"), &b"a line of text\n".repeat(1_000), 1 << 40);
    let workspace = fixture.open();
    let caller = Caller { time_left: Some(Duration::from_secs(2)), ..Caller::once() };
    let request =
        ReadFile { path: "text".into(), start_line: Some(5_000), end_line: None, ..ReadFile::default() };
    let error = workspace.read_file(&caller.call(), &request).unwrap_err();
    assert_eq!(error.reason(), Reason::Timeout);
    assert_eq!(error.detail("linesRead").and_then(Value::as_u64), Some(1_001));
}

#[test]
fn endless_line_takes_little_memory() {
    let fixture = Fixture::new();
    // Text as far as the reader looks before deciding, and no line ending in a gibibyte.
    sparse(&fixture.root().join("line"), &[b'x'; 64 << 10], 1 << 30);
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "read::big_files::endless_line_in_a_process_of_its_own",
            "--ignored",
            "--nocapture",
        ])
        .env(FOLDER_VARIABLE, fixture.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let peak = text.lines().find_map(|line| line.split_once("peak in KiB: "));
    let peak: u64 = peak.unwrap_or_else(|| panic!("the child said: {text}")).1.trim().parse().unwrap();
    assert!(peak * 1024 < 64_000_000, "{peak} KiB");
}

#[test]
#[ignore = "runs as the child of another test"]
fn endless_line_in_a_process_of_its_own() {
    let Some(folder) = std::env::var_os(FOLDER_VARIABLE) else { return };
    let fixture = Fixture::at(Path::new(&folder));
    let workspace = fixture.open();
    let read = read_lines(&workspace, "line", 1, Some(1)).unwrap();
    assert_eq!((read.content.len(), read.is_truncated, read.total_lines), (1 << 20, true, 1));
    let response = search(&workspace, "y");
    assert!(response.is_truncated && response.warnings.len() == 1, "{response:?}");
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    println!("peak in KiB: {}", peak.trim().trim_end_matches("kB"));
}

#[test]
fn range_that_crosses_the_size_limit_goes_on_where_it_says() {
    let fixture = Fixture::new();
    let text: String = (1..=500_000).map(|number| format!("line {number}\n")).collect();
    assert!(text.len() > 4 << 20, "it has to be streamed");
    fixture.put("large", &text);
    let workspace = fixture.open();
    let (mut joined, mut next) = (String::new(), 1);
    while next <= 500_000 {
        let read = read_lines(&workspace, "large", next, None).unwrap();
        assert_eq!(read.total_lines, 500_000);
        assert!(read.version.is_some());
        next += i64::try_from(read.returned_lines).unwrap();
        let says =
            read.warnings.iter().any(|warning| warning.ends_with(&format!("continues at line {next}")));
        assert_eq!(read.is_truncated, says, "{:?}", read.warnings);
        joined.push_str(&read.content);
    }
    assert!(joined == text);
}

/// Reads `file` while `disturb` is called again and again, until `check` has seen enough.
fn read_while(
    fixture: &Fixture,
    mut disturb: impl FnMut(usize) + Send,
    mut check: impl FnMut(usize, Result<ReadFileResponse, WapError>) -> ControlFlow<()>,
) {
    let workspace = fixture.open();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _ends_in_any_case = Over(&is_over);
        scope.spawn(|| {
            for round in 0.. {
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
                disturb(round);
            }
        });
        let mut round = 1;
        while check(round, read_lines(&workspace, "file", 1, None)).is_continue() {
            round += 1;
        }
    });
}

fn until(is_enough: bool) -> ControlFlow<()> {
    if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// Tells the other thread that it is over, after a failure too.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn file_that_is_replaced_while_it_is_read_is_one_or_the_other() {
    let fixture = Fixture::new();
    let texts = ["a\n".repeat(50_000), "b\n".repeat(70_000)];
    fixture.put("file", &texts[0]);
    let (path, beside) = (fixture.root().join("file"), fixture.outside().join("beside"));
    let disturb = |round: usize| {
        fs::write(&beside, &texts[round % 2]).unwrap();
        fs::rename(&beside, &path).unwrap();
    };
    read_while(&fixture, disturb, |round, read| {
        let read = read.unwrap();
        assert!(texts.contains(&read.content), "a mixture of {} bytes", read.content.len());
        assert_eq!(read.metadata.size, read.content.len() as u64);
        assert_eq!(read.total_lines, read.content.lines().count() as u64);
        until(round == 100)
    });
}

#[test]
fn file_that_grows_and_shrinks_is_read_as_it_was_at_some_time_or_marked() {
    let fixture = Fixture::new();
    fixture.put("file", "a\n");
    let file = OpenOptions::new().write(true).open(fixture.root().join("file")).unwrap();
    let disturb = |round: usize| match round % 3 {
        0 => file.write_all_at(&b"a\n".repeat(60_000), 0).unwrap(),
        1 => file.write_all_at(&b"b\n".repeat(40_000), 120_000).unwrap(),
        _ => file.set_len(7).unwrap(),
    };
    read_while(&fixture, disturb, |round, read| {
        let read = read.unwrap();
        assert_eq!(read.total_lines, read.content.lines().count() as u64);
        // A file without a warning has the size that it is said to have.
        if read.warnings.is_empty() {
            assert_eq!(read.metadata.size, read.content.len() as u64);
        }
        until(round == 100)
    });
}

#[test]
fn file_that_grows_faster_than_it_is_read_ends() {
    let fixture = Fixture::new();
    let file = sparse(&fixture.root().join("file"), &b"a line of text\n".repeat(400_000), 6_000_000);
    let size = std::sync::atomic::AtomicU64::new(6_000_000);
    let disturb = |_| {
        let size = size.fetch_add(1 << 24, Ordering::Relaxed);
        file.set_len((size + (1 << 24)).min(1 << 40)).unwrap();
    };
    let start = Instant::now();
    let mut changed = 0;
    // On a busy machine several reads may end before the other thread has written anything.
    read_while(&fixture, disturb, |round, read| {
        let read = read.unwrap();
        assert!(read.content.starts_with("a line of text\n") && read.is_truncated);
        let says = read.warnings.iter().any(|warning| warning.contains("was writing"));
        assert!(!says || read.version.is_none());
        changed += u32::from(says);
        assert!(start.elapsed() < HANG, "{round} reads, {changed} of them saw a change");
        until(round >= 3 && changed > 0)
    });
}

#[test]
fn a_large_file_of_a_repository_is_refused_with_a_way_out() {
    let fixture = Fixture::new();
    fixture.put(".git/packed-refs", "a line\n".repeat(1_000_000));
    fixture.put("packed-refs", "a line\n".repeat(1_000_000));
    let workspace = fixture.open();
    let read = |path: &str| {
        let request =
            ReadFile { path: path.into(), start_line: Some(1), end_line: Some(2), ..ReadFile::default() };
        workspace.read_file(&Caller::once().call(), &request)
    };
    let error = read(".git/packed-refs").unwrap_err();
    assert_eq!(error.reason(), Reason::FileTooLarge);
    let hint = error.detail("hint").and_then(Value::as_str).unwrap();
    assert!(hint.contains("use a command of git"), "{hint}");
    assert!(read("packed-refs").is_ok(), "elsewhere lines of it are read");
}
