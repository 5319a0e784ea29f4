//! `agentd codali --watch`: requests that are put into a folder.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::fixture::daemon::{Daemon, eventually};
use crate::fixture::project::{Project, Ran};

/// A project, and a folder next to it for requests.
struct Fixture {
    project: Project,
    requests: PathBuf,
}

fn fixture() -> Fixture {
    let project = Project::new();
    project.write("notes.md", "one\ntwo\n").write("src/cart.py", "class Cart:\n    pass\n");
    let requests = project.folder().join("requests");
    fs::create_dir(&requests).unwrap();
    Fixture { project, requests }
}

fn request(id: &str) -> String {
    format!(
        "AGENT_REQUEST v1\nrequest_id: {id}\nneeds:\n  - {{type: file.read, path: notes.md}}\n  - {{type: file.list, pattern: \"**/*.py\"}}\n"
    )
}

impl Fixture {
    fn watch(&self, options: &[&str]) -> Daemon {
        let mut arguments = vec!["codali", "--watch", self.requests.to_str().unwrap()];
        arguments.extend(options);
        let mut daemon = Daemon::start(self.project.command(&arguments));
        daemon.wait_for("are answered");
        daemon
    }

    /// Puts a file in place as a whole.
    fn put(&self, name: &str, text: impl AsRef<[u8]>) {
        let staged = self.project.folder().join("staged");
        fs::write(&staged, text).unwrap();
        fs::rename(staged, self.requests.join(name)).unwrap();
    }

    #[track_caller]
    fn wait_for(&self, name: &str) -> String {
        let path = self.requests.join(name);
        eventually(&format!("{name} is there"), || path.is_file());
        fs::read_to_string(path).unwrap()
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.requests).unwrap().map(Result::unwrap);
        let mut names: Vec<_> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

/// Asks it to stop and waits until it has.
#[track_caller]
fn stop(daemon: Daemon) -> Ran {
    daemon.signal("TERM");
    daemon.wait()
}

#[test]
fn every_request_has_a_response_beside_it() {
    let fixture = fixture();
    // One is there before.
    fixture.put("early.request.yaml", request("early"));
    let daemon = fixture.watch(&["--json", "--deterministic"]);
    let response = fixture.wait_for("early.response.yaml");
    let expected = "CODALI_RESPONSE v1\nrequest_id: early\nresults:\n  - type: file.read\n    path: notes.md\n    content: |\n      one\n      two\n  - type: file.list\n    root: '.'\n    pattern: '**/*.py'\n    files:\n      - src/cart.py\nmeta:\n  repo_root: code\n";
    assert_eq!(response.replace("\"**/*.py\"", "'**/*.py'"), expected);
    fixture.put("reply.md", format!("Let me see:\n\n```\n{}```\n", request("in prose")));
    assert!(fixture.wait_for("reply.md.response").contains("request_id: in prose\n"));
    // Written in place, as a shell does.
    fs::write(fixture.requests.join("request.txt"), request("in place")).unwrap();
    assert!(fixture.wait_for("response.txt").contains("request_id: in place\n"));
    // Errors are answered if the name says that an agent waits.
    fixture.put("words.request.txt", "There is nothing to ask.\n");
    assert!(fixture.wait_for("words.response.txt").contains("- no_request\n"));
    fixture.put("two.request.txt", format!("{}\n{}", request("a"), request("b")));
    assert!(fixture.wait_for("two.response.txt").contains("multiple_envelopes: line"));
    fixture.put("words.txt", "There is nothing to ask.\n");
    fixture.put("last.txt", request("last"));
    fixture.wait_for("last.txt.response");
    assert!(!fixture.names().contains(&"words.txt.response".to_owned()));
    let ran = stop(daemon);
    assert_eq!(ran.code, 130, "{ran}");
    let reports: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(reports.len(), 6, "{ran}");
    let path = |name: &str| Value::from(fixture.requests.join(name).to_str().unwrap());
    assert_eq!(
        (&reports[0]["request"], &reports[0]["response"]),
        (&path("early.request.yaml"), &path("early.response.yaml"))
    );
    assert_eq!((&reports[0]["results"], &reports[0]["warnings"]), (&Value::from(2), &Value::from(0)));
    assert!(!fixture.project.base().exists(), "answering makes no state folder");
}

#[test]
fn many_files_at_once_are_each_answered_once() {
    let fixture = fixture();
    let daemon = fixture.watch(&[]);
    for number in 0..150 {
        fixture.put(&format!("{number}.request.yaml"), request(&format!("r{number}")));
    }
    let is_response = |name: &String| name.ends_with(".response.yaml");
    eventually("all are answered", || fixture.names().iter().filter(|name| is_response(name)).count() == 150);
    for number in 0..150 {
        let response = fs::read_to_string(fixture.requests.join(format!("{number}.response.yaml"))).unwrap();
        assert!(response.contains(&format!("request_id: r{number}\n")), "{response}");
    }
    let ran = stop(daemon);
    assert_eq!(ran.stdout.lines().count(), 150, "{ran}");
}

#[test]
fn a_request_is_answered_again_when_it_changes_and_not_before() {
    let fixture = fixture();
    let daemon = fixture.watch(&[]);
    fixture.put("a.request.yaml", request("first"));
    fixture.wait_for("a.response.yaml");
    fixture.put("a.request.yaml", request("second"));
    let response = fixture.requests.join("a.response.yaml");
    eventually("it is answered again", || fs::read_to_string(&response).unwrap().contains("second"));
    // A response that is taken away is not made again: its request was answered.
    fs::remove_file(&response).unwrap();
    fixture.put("b.request.yaml", request("other"));
    fixture.wait_for("b.response.yaml");
    assert!(!response.exists());
    let ran = stop(daemon);
    assert_eq!(ran.stdout.lines().count(), 3, "{ran}");
}

#[test]
fn a_response_that_cannot_be_written_is_written_later() {
    let fixture = fixture();
    fs::create_dir(fixture.requests.join("a.response.yaml")).unwrap();
    let mut daemon = fixture.watch(&["--json"]);
    fixture.put("a.request.yaml", request("a"));
    daemon.wait_for("will be tried again");
    fixture.put("b.request.yaml", request("b"));
    fixture.wait_for("b.response.yaml");
    // It is tried a second time at least, and not reported again.
    std::thread::sleep(Duration::from_millis(1_500));
    fs::remove_dir(fixture.requests.join("a.response.yaml")).unwrap();
    assert!(fixture.wait_for("a.response.yaml").contains("src/cart.py"));
    let ran = stop(daemon);
    assert_eq!(ran.stdout.lines().count(), 2, "{ran}");
    assert_eq!(ran.stderr.matches("will be tried again").count(), 1, "{ran}");
}

#[test]
fn a_request_that_takes_the_place_of_another_is_answered_whatever_its_time() {
    let fixture = fixture();
    let daemon = fixture.watch(&[]);
    let put = |id: &str| {
        let staged = fixture.project.folder().join("staged");
        fs::write(&staged, request(id)).unwrap();
        let time = std::time::UNIX_EPOCH + Duration::from_secs(1_600_000_000);
        File::options().write(true).open(&staged).unwrap().set_modified(time).unwrap();
        fs::rename(staged, fixture.requests.join("a.request.yaml")).unwrap();
    };
    put("early");
    assert!(fixture.wait_for("a.response.yaml").contains("early"));
    put("later");
    let response = fixture.requests.join("a.response.yaml");
    eventually("the second one is answered", || fs::read_to_string(&response).unwrap().contains("later"));
    let ran = stop(daemon);
    assert_eq!(ran.stdout.lines().count(), 2, "{ran}");
}

#[test]
fn a_name_that_leaves_none_for_a_response_is_reported() {
    let fixture = fixture();
    let mut daemon = fixture.watch(&[]);
    fixture.put(&"n".repeat(250), request("a"));
    daemon.wait_for("has a name so long");
    fixture.put("b.request.yaml", request("b"));
    fixture.wait_for("b.response.yaml");
    let ran = stop(daemon);
    assert_eq!(ran.stdout.lines().count(), 1, "{ran}");
}

#[test]
fn a_file_that_is_being_written_is_waited_for() {
    let fixture = fixture();
    let daemon = fixture.watch(&[]);
    let mut file = File::create(fixture.requests.join("slow.request.yaml")).unwrap();
    let text = request("slow");
    let (head, tail) = text.split_at(text.rfind("  - {type: file.list").unwrap());
    // The first half is a request by itself.
    file.write_all(head.as_bytes()).unwrap();
    fixture.put("other.request.yaml", request("other"));
    fixture.wait_for("other.response.yaml");
    std::thread::sleep(Duration::from_millis(1_500));
    assert!(!fixture.requests.join("slow.response.yaml").exists());
    file.write_all(tail.as_bytes()).unwrap();
    drop(file);
    assert!(fixture.wait_for("slow.response.yaml").contains("src/cart.py"));
    let ran = stop(daemon);
    assert_eq!(ran.stdout.lines().count(), 2, "{ran}");
}

#[test]
fn after_a_restart_what_was_answered_is_left_alone_and_the_rest_is_answered() {
    let fixture = fixture();
    let daemon = fixture.watch(&[]);
    fixture.put("a.request.yaml", request("a"));
    fixture.wait_for("a.response.yaml");
    fixture.put("b.request.yaml", request("b"));
    fixture.wait_for("b.response.yaml");
    stop(daemon);
    let before = fs::metadata(fixture.requests.join("a.response.yaml")).unwrap();
    fixture.put("b.request.yaml", request("changed"));
    fixture.put("c.request.yaml", request("c"));
    // What a killed process would have left.
    fs::write(fixture.requests.join(".agentd-response.tmp"), "half").unwrap();
    let daemon = fixture.watch(&[]);
    fixture.wait_for("c.response.yaml");
    assert!(fs::read_to_string(fixture.requests.join("b.response.yaml")).unwrap().contains("changed"));
    let after = fs::metadata(fixture.requests.join("a.response.yaml")).unwrap();
    assert_eq!((after.ino(), after.ctime_nsec()), (before.ino(), before.ctime_nsec()));
    let ran = stop(daemon);
    assert_eq!(ran.stdout.lines().count(), 2, "{ran}");
    assert!(!fixture.names().contains(&".agentd-response.tmp".to_owned()));
}

#[test]
fn names_and_files_that_mean_harm_do_none() {
    let fixture = fixture();
    let outside = fixture.project.folder().join("outside");
    fs::create_dir(&outside).unwrap();
    let victim = outside.join("victim.txt");
    fs::write(&victim, "precious\n").unwrap();
    fs::write(outside.join("request.yaml"), request("linked")).unwrap();
    let at = |name: &str| fixture.requests.join(name);
    // Requests that are none.
    symlink(outside.join("request.yaml"), at("link.request.yaml")).unwrap();
    symlink("nowhere", at("dangling.request.yaml")).unwrap();
    assert!(Command::new("mkfifo").arg(at("pipe.request.yaml")).status().unwrap().success());
    fs::create_dir(at("folder.request.yaml")).unwrap();
    File::create(at("huge.request.yaml")).unwrap().set_len(17 << 20).unwrap();
    fixture.put("binary.request.yaml", [0x80, 0xff, 0xfe, 0]);
    fixture.put(".hidden.request.yaml", request("hidden"));
    fixture.put("unfinished.request.yaml.part", request("part"));
    // Responses whose places are taken.
    symlink(&victim, at("a.response.yaml")).unwrap();
    fixture.put("a.request.yaml", request("a"));
    fs::create_dir(at("b.response.yaml")).unwrap();
    fs::write(at("b.response.yaml").join("kept"), "kept").unwrap();
    fixture.put("b.request.yaml", request("b"));
    symlink(&victim, at(".agentd-response.tmp")).unwrap();
    // Names that are hard to write.
    fixture.put("new\nline.request.yaml", request("newline"));
    let raw = std::ffi::OsStr::from_bytes(b"raw\xff.request.yaml");
    fs::write(fixture.requests.join(raw), request("raw")).unwrap();
    let long = format!("{}.request.y", "n".repeat(245));
    fixture.put(&long, request("long"));
    let daemon = fixture.watch(&[]);
    fixture.put("z.request.yaml", request("good"));

    assert!(fixture.wait_for("z.response.yaml").contains("request_id: good"));
    eventually("a is answered", || at("a.response.yaml").symlink_metadata().unwrap().is_file());
    assert!(fixture.wait_for("new\nline.response.yaml").contains("request_id: newline"));
    let raw = fixture.requests.join(std::ffi::OsStr::from_bytes(b"raw\xff.response.yaml"));
    eventually("the name that is not text is answered", || raw.is_file());
    assert!(fixture.wait_for("huge.response.yaml").contains("too_large: "));
    assert!(fixture.wait_for("binary.response.yaml").contains("binary_file: "));
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious\n");
    assert_eq!(fs::read_to_string(at("b.response.yaml").join("kept")).unwrap(), "kept");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 2);
    let names = fixture.names();
    for name in ["link", "dangling", "pipe", "folder", ".hidden", "unfinished"] {
        assert!(!names.contains(&format!("{name}.response.yaml")), "{name}: {names:?}");
    }
    let ran = stop(daemon);
    assert_eq!(ran.code, 130, "{ran}");
    for said in [
        "link.request.yaml is a",
        "pipe.request.yaml is a",
        "huge.request.yaml has more than",
        "b.response.yaml cannot be written",
    ] {
        assert_eq!(ran.stderr.matches(said).count(), 1, "{said}: {ran}");
    }
    assert!(!ran.stderr.contains("new\nline"), "{ran}");
}

#[test]
fn one_process_answers_a_folder_and_it_has_to_be_there() {
    let fixture = fixture();
    let daemon = fixture.watch(&[]);
    let folder = fixture.requests.to_str().unwrap();
    fixture.project.run(&["codali", "--watch", folder]).exits(5).says("another process answers");
    fixture.project.run(&["codali", "--watch", "missing"]).exits(2).says("missing").says("No such file");
    fixture.project.run(&["codali", "--watch", folder, "file.txt"]).exits(2);
    fs::remove_dir_all(&fixture.requests).unwrap();
    daemon.wait().exits(1).says("the folder of requests was removed");
}

#[test]
fn a_response_has_the_permissions_of_its_request() {
    let fixture = fixture();
    let daemon = fixture.watch(&[]);
    for mode in [0o600, 0o644] {
        let name = format!("m{mode:o}.request.yaml");
        let staged = fixture.project.folder().join("staged");
        fs::write(&staged, request("mode")).unwrap();
        fs::set_permissions(&staged, fs::Permissions::from_mode(mode)).unwrap();
        fs::rename(&staged, fixture.requests.join(&name)).unwrap();
        let response = name.replace("request", "response");
        fixture.wait_for(&response);
        assert_eq!(mode_of(&fixture.requests.join(response)), mode);
    }
    stop(daemon);
}

fn mode_of(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

#[test]
fn what_was_saved_before_a_request_is_in_its_response() {
    let fixture = fixture();
    // With an index that is kept, it is kept up from the beginning on.
    fixture.project.run(&["index", "build"]).ok();
    let daemon = fixture.watch(&[]);
    let search = |name: &str, word: &str| {
        let text =
            format!("AGENT_REQUEST v1\nrequest_id: s\nneeds:\n  - {{type: docdex.search, query: {word}}}\n");
        fixture.put(&format!("{name}.request.yaml"), text);
        fixture.wait_for(&format!("{name}.response.yaml"))
    };
    assert!(search("first", "apricot").contains("hits: []"));
    fixture.project.write("src/fruit.py", "def apricot():\n    pass\n");
    let response = search("second", "apricot");
    assert!(response.contains("path: src/fruit.py") && !response.contains("warnings"), "{response}");
    fs::remove_file(fixture.project.workspace().join("src/fruit.py")).unwrap();
    assert!(search("third", "apricot").contains("hits: []"));
    stop(daemon);
}
