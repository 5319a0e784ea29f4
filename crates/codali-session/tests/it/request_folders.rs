//! A folder of requests: each complete file is answered once, and nothing outside the folder is read.

use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use codali_envelope::{AnswerOptions, Form};
use codali_session::{AnsweredFile, FolderError, RequestFolder, Responder, WatchEvents, watch};
use memory_workspace::{MemoryIndex, MemoryWorkspace};
use secret_placeholders::Withheld;
use wap_core::CancelFlag;

const REQUEST: &str = "AGENT_REQUEST v1\nrequest_id: r-1\nneeds:\n  - type: file.read\n    path: a.txt\n";

/// The lines of a watch, which is cancelled after a number of responses.
struct Lines<'a> {
    lines: RefCell<Vec<String>>,
    responses_left: RefCell<usize>,
    cancel: &'a CancelFlag,
}

impl WatchEvents for Lines<'_> {
    fn answered(&self, file: &AnsweredFile<'_>) {
        self.lines.borrow_mut().push(format!("{} -> {}", file.request, file.response));
        *self.responses_left.borrow_mut() -= 1;
        if *self.responses_left.borrow() == 0 {
            self.cancel.cancel();
        }
    }

    fn notice(&self, line: &str) {
        self.lines.borrow_mut().push(line.to_owned());
    }
}

/// Watches a folder until a number of responses were written, and returns the sorted lines.
fn watch_until(folder: &Path, responses: usize) -> Vec<String> {
    let workspace = MemoryWorkspace::with_files([("a.txt", "one\n")]);
    let index = MemoryIndex::default();
    let cancel = CancelFlag::new();
    let responder = Responder {
        workspace: &workspace,
        index: &index,
        daemon: None,
        web: false,
        secrets: None,
        withheld: &Withheld::default(),
        options: AnswerOptions { deterministic: true, ..AnswerOptions::default() },
        impact_as_paths: false,
        command: None,
        cancel: &cancel,
    };
    let events =
        Lines { lines: RefCell::default(), responses_left: RefCell::new(responses), cancel: &cancel };
    watch(RequestFolder::open(folder).unwrap(), &responder, Form::Yaml, &events).unwrap();
    let mut lines = events.lines.into_inner();
    lines.sort();
    lines
}

#[test]
fn the_responses_to_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret.request.yaml");
    fs::write(&secret, REQUEST.replace("r-1", "a-secret")).unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("good.request.yaml"), REQUEST).unwrap();
    fs::write(path("chat.txt"), format!("I ask:\n\n{REQUEST}")).unwrap();
    fs::write(path("words.request.txt"), "nothing to ask").unwrap();
    fs::write(path("bytes.request.yaml"), [0xff, 0xfe, 0xff]).unwrap();
    fs::write(path("unfinished.request.yaml.part"), REQUEST).unwrap();
    symlink(&secret, path("link.request.yaml")).unwrap();

    let lines = watch_until(folder.path(), 4);
    let mut text = lines.join("\n");
    let mut names: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|one| one.unwrap().file_name()).collect();
    names.sort();
    for name in names.iter().map(|name| name.to_str().unwrap()).filter(|name| name.contains("response")) {
        text.push_str(&format!("\n\n== {name}\n{}", fs::read_to_string(path(name)).unwrap()));
    }
    assert!(!text.contains("a-secret"), "{text}");
    insta::assert_snapshot!(text);

    // Another process recognises the answered requests, and answers only the new one.
    fs::write(path("later.request.yaml"), REQUEST).unwrap();
    let lines = watch_until(folder.path(), 1);
    assert_eq!(lines.last().map(String::as_str), Some("link.request.yaml is a link, which is not read"));
    assert!(lines.contains(&"later.request.yaml -> later.response.yaml".to_owned()), "{lines:?}");
    assert_eq!(lines.iter().filter(|line| line.contains("->")).count(), 1, "{lines:?}");
}

#[test]
fn one_process_answers_the_requests_of_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let first = RequestFolder::open(folder.path()).unwrap();
    assert!(matches!(RequestFolder::open(folder.path()), Err(FolderError::Held { .. })));
    drop(first);
    RequestFolder::open(folder.path()).unwrap();
}
