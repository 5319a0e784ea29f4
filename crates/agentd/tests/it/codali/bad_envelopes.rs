//! Requests, files and state folders that are broken or mean harm.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::fixture::daemon::{Daemon, eventually};
use crate::fixture::project::{Project, Ran};

/// Longer than anything here takes, far shorter than what has no bound.
const GUARD: Duration = Duration::from_secs(60);

const SEARCH: &str = "AGENT_REQUEST v1\nrequest_id: s\nneeds:\n  - {type: docdex.search, query: apricot}\n";

fn project() -> Project {
    let project = Project::new();
    project.write("src/fruit.py", "def apricot():\n    pass\n");
    project
}

/// Runs with bytes as its standard input, to its end.
fn run_with_bytes(project: &Project, arguments: &[&str], input: &[u8]) -> Ran {
    let mut child = project.command(arguments).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // A program that has read enough goes away.
        scope.spawn(move || drop(stdin.write_all(input)));
        Ran::of(child.wait_with_output().unwrap())
    })
}

#[test]
fn texts_of_any_size_and_shape_are_refused_in_time() {
    let project = project();
    let head = "AGENT_REQUEST v1\nrequest_id: r\n";
    let need = "  - {type: file.read, path: a}\n";
    let anchors: String = (1..40)
        .map(|level| format!("a{level}: &a{level} [{0}, {0}, {0}]\n", format!("*a{}", level - 1)))
        .collect();
    // Requests that are refused as a whole, with the code; the others are answered need by need.
    let texts: Vec<(&str, String, Option<&str>)> = vec![
        (
            "10 MB of needs",
            format!("{head}needs:\n{}", need.repeat(10_000_000 / need.len())),
            Some("too_large"),
        ),
        ("10 MB in one line", format!("{head}needs: {}", "x".repeat(10_000_000)), Some("too_large")),
        ("too many needs", format!("{head}needs:\n{}", need.repeat(1_000)), Some("too_large")),
        ("brackets", format!("{head}needs: {}\n", "[".repeat(100_000)), Some("too_large")),
        ("braces", format!("{head}needs: {}\n", "{a: ".repeat(100_000)), Some("too_large")),
        (
            "steps",
            format!(
                "{head}needs:\n{}",
                (0..5_000).map(|depth| format!("{}- a:\n", " ".repeat(depth % 900))).collect::<String>()
            ),
            Some("too_large"),
        ),
        ("a bomb of aliases", format!("{head}a0: &a0 [x]\n{anchors}needs:\n{need}context: *a39\n"), None),
        ("JSON", format!("{{\"request_id\": \"r\", \"needs\": {}", "[".repeat(100_000)), None),
        ("no request", "AGENT_REQUEST is what you write.\n".repeat(1_000), None),
        ("headers", "AGENT_REQUEST v1\n".repeat(50_000), None),
        ("nul", format!("{head}needs:\n{need}\u{0}\u{0}"), None),
    ];
    for (what, text, code) in texts {
        for arguments in
            [["codali", "--json"].as_slice(), &["parse", "codali"], &["parse", "codali", "--strict"]]
        {
            let began = Instant::now();
            let ran = run_with_bytes(&project, arguments, text.as_bytes());
            assert!(began.elapsed() < GUARD, "{what}: {:?}", began.elapsed());
            assert!(
                [0, 2].contains(&ran.code) && !ran.stderr.contains("panicked"),
                "{what}, {arguments:?}: {ran}"
            );
            assert!(ran.stdout.len() < 200_000 && ran.stderr.len() < 10_000, "{what}, {arguments:?}");
            if let (Some(code), "codali") = (code, arguments[0]) {
                assert_eq!(ran.code, 2, "{what}: {ran}");
                assert!(ran.stdout.contains(code), "{what}: {ran}");
            }
        }
    }
    let ran = run_with_bytes(&project, &["codali"], &vec![b'x'; 17 << 20]).exits(2);
    assert!(ran.stderr.contains("a reply has at most"), "{ran}");
    run_with_bytes(&project, &["codali"], b"AGENT_REQUEST v1\nrequest_id: \xff\xfe\n")
        .exits(2)
        .says("not text");
    // Control: a request of ordinary size is answered.
    let ran = run_with_bytes(
        &project,
        &["codali", "--json"],
        format!("{head}needs:\n{}", need.repeat(200)).as_bytes(),
    )
    .ok();
    assert_eq!(ran.json()["results"].as_array().unwrap().len(), 200);
}

#[test]
fn files_that_are_no_ordinary_texts_are_named_and_not_shown() {
    let project = project();
    let at = |name: &str| project.workspace().join(name);
    fs::write(at("binary.rs"), b"fn apricot() {}\n\0\0\x01").unwrap();
    File::create(at("huge.rs")).unwrap().set_len(3 << 30).unwrap();
    assert!(Command::new("mkfifo").arg(at("pipe.rs")).status().unwrap().success());
    symlink("/etc/hostname", at("link.rs")).unwrap();
    symlink("/dev/zero", at("zero.rs")).unwrap();
    let mut request = "AGENT_REQUEST v1\nrequest_id: f\nneeds:\n".to_owned();
    let files = [
        "binary.rs",
        "huge.rs",
        "pipe.rs",
        "link.rs",
        "zero.rs",
        "src",
        "../outside.rs",
        "/etc/hostname",
        "missing.rs",
    ];
    for file in files {
        for (need, field) in [
            ("file.read", "path"),
            ("docdex.open", "path"),
            ("docdex.symbols", "file"),
            ("docdex.ast", "file"),
            ("docdex.impact", "file"),
        ] {
            request.push_str(&format!("  - {{type: {need}, {field}: {file}}}\n"));
        }
    }
    let began = Instant::now();
    let answered = project.run_with_input(&["codali", "--json"], &request).ok().json();
    assert!(began.elapsed() < GUARD, "{:?}", began.elapsed());
    for (number, result) in answered["results"].as_array().unwrap().iter().enumerate() {
        let (file, need) = (files[number / 5], number % 5);
        // What is known of a file that is not read is that it depends on nothing.
        let is_empty = need == 4
            && result["inbound"] == Value::Array(vec![])
            && result["outbound"] == Value::Array(vec![]);
        let is_cut = result["truncated"] == true
            && result["content"].as_str().is_some_and(|content| content.is_empty());
        assert!(result["status"] == "error" || is_empty || is_cut, "{file}: {result}");
    }
    let error = |index: usize| answered["results"][index]["error"].as_str().unwrap_or_default().to_owned();
    assert_eq!(
        (error(0), error(10), error(15), error(30)),
        (
            "binary_file".into(),
            "not_a_file".into(),
            "path_outside_workspace".into(),
            "path_outside_workspace".into()
        ),
        "{answered}"
    );
    assert_eq!(error(40), "file_not_found");
}

#[test]
fn a_damaged_index_is_built_anew_and_that_is_said() {
    type Damage = fn(&mut File);
    let damages: [Damage; 3] = [
        |file| {
            file.set_len(0).unwrap();
            file.write_all(b"no database").unwrap();
        },
        |file| {
            let length = file.metadata().unwrap().len();
            file.seek(SeekFrom::Start(4_096)).unwrap();
            file.write_all(&vec![0x5a; usize::try_from(length - 4_096).unwrap()]).unwrap();
        },
        |file| {
            // The number of the version.
            file.seek(SeekFrom::Start(60)).unwrap();
            file.write_all(&[0, 0, 0, 99]).unwrap();
        },
    ];
    for damage in damages {
        let project = project();
        project.run(&["index", "build"]).ok();
        damage(&mut File::options().write(true).open(project.base().join("index/index.db")).unwrap());
        let ran = project.run_with_input(&["codali", "--json"], SEARCH).ok().says("it is built anew");
        assert_eq!(ran.json()["results"][0]["hits"][0]["path"], "src/fruit.py", "{ran}");
        let again = project.run_with_input(&["codali", "--json"], SEARCH).ok();
        assert!(!again.stderr.contains("anew"), "{again}");
    }
}

#[test]
fn an_index_that_cannot_be_opened_is_said_and_done_without() {
    let project = project();
    project.run(&["index", "build"]).ok();
    let sound = project.run(&["index", "status"]).ok();
    assert!(!sound.stderr.contains("temporary"), "{sound}");
    let database = project.base().join("index/index.db");
    fs::remove_file(&database).unwrap();
    fs::create_dir(&database).unwrap();
    for command in ["status", "search"] {
        let words: &[&str] = if command == "search" { &["fruit"] } else { &[] };
        project
            .run(&[&["index", command], words].concat())
            .ok()
            .says("this time the index is built in a temporary folder");
    }
    let ran = project.run_with_input(&["codali", "--json"], SEARCH).ok().says("temporary folder");
    assert_eq!(ran.json()["results"][0]["hits"][0]["path"], "src/fruit.py", "{ran}");
    assert!(!ran.stderr.contains(project.workspace().to_str().unwrap()), "{ran}");
}

#[test]
fn a_folder_that_vanishes_while_it_is_indexed_ends_that() {
    let project = project();
    for number in 0..1_500 {
        project.write(
            &format!("many/{}/f{number}.py", number % 40),
            &format!("def name_{number}():\n    pass\n").repeat(20),
        );
    }
    let away = project.folder().join("away");
    let daemon = Daemon::start(project.command(&["index", "build"]));
    eventually("it has begun", || project.base().join("index/index.db").exists());
    fs::rename(project.workspace(), &away).unwrap();
    let ran = daemon.wait();
    assert!([0, 1].contains(&ran.code) && !ran.stderr.contains("panicked"), "{ran}");
    fs::rename(&away, project.workspace()).unwrap();
    let daemon = Daemon::start(project.command(&["index", "build", "--fresh"]));
    std::thread::sleep(Duration::from_millis(300));
    fs::remove_dir_all(project.workspace().join("many")).unwrap();
    let ran = daemon.wait();
    assert!([0, 1].contains(&ran.code) && !ran.stderr.contains("panicked"), "{ran}");
    // Control: what is there now is what is found.
    let built = project.run(&["index", "build", "--json"]).ok().json();
    assert_eq!((&built["files"], &built["state"]), (&Value::from(1), &Value::from("ready")));
}

#[test]
fn hostile_sources_are_answered_in_part() {
    let project = project();
    let depth = 100_000;
    let sources = [
        ("deep.rs", format!("fn f() {{ {} }}\n", "(".repeat(depth))),
        ("deep.py", format!("x = {}\n", "[".repeat(depth))),
        ("deep.ts", "class A {".repeat(20_000)),
        ("deep.go", format!("package a\nfunc f() {}\n", "{".repeat(depth))),
        ("deep.cpp", "namespace a {".repeat(20_000)),
        ("pointers.c", format!("int {}x;\n", "*".repeat(depth))),
        ("uses.rs", format!("use {}a{};\n", "a::{".repeat(20_000), "}".repeat(20_000))),
        ("Cargo.toml", format!("a = {}", "[".repeat(depth))),
        ("package.json", "[".repeat(depth)),
        ("long.py", format!("# {}\n", "apricots ".repeat(100_000))),
    ];
    let mut request =
        "AGENT_REQUEST v1\nrequest_id: h\nneeds:\n  - {type: docdex.search, query: apricot}\n".to_owned();
    for (path, text) in &sources {
        project.write(path, text);
        for need in ["symbols", "ast", "impact"] {
            request.push_str(&format!("  - {{type: docdex.{need}, file: {path}}}\n"));
        }
    }
    project.run(&["index", "build"]).ok();
    let ran = project.run_with_input(&["codali", "--json"], &request).ok();
    let answered = ran.json();
    let results = answered["results"].as_array().unwrap();
    assert_eq!(results.len(), 1 + 3 * sources.len());
    let search = &results[0];
    let paths: Vec<_> =
        search["hits"].as_array().unwrap().iter().map(|hit| hit["path"].as_str().unwrap()).collect();
    assert!(paths.contains(&"src/fruit.py"), "{paths:?}");
    // A line of nearly a megabyte does not take the room of all others.
    let long = search["hits"].as_array().unwrap().iter().find(|hit| hit["path"] == "long.py").unwrap();
    assert!(long["snippet"].as_str().unwrap().len() < 1_000);
}

#[test]
fn a_state_folder_that_came_along_leads_nowhere() {
    type Plant = fn(&Project, &PathBuf);
    let plants: [(&str, Plant); 4] = [
        ("the index is a link", |project, outside| {
            fs::create_dir(project.base()).unwrap();
            symlink(outside, project.base().join("index")).unwrap();
        }),
        ("its store is a link", |project, outside| {
            fs::create_dir_all(project.base().join("index")).unwrap();
            symlink(outside.join("victim"), project.base().join("index/index.db")).unwrap();
        }),
        ("its locks lead elsewhere", |project, outside| {
            fs::create_dir_all(project.base().join("index")).unwrap();
            for name in ["lock", "keeper", "index.db-wal", "index.db-shm", "index.db-journal"] {
                symlink(outside.join(name), project.base().join("index").join(name)).unwrap();
            }
        }),
        ("its store is a pipe", |project, _| {
            fs::create_dir_all(project.base().join("index")).unwrap();
            for name in ["index.db", "lock"] {
                let made = Command::new("mkfifo").arg(project.base().join("index").join(name)).status();
                assert!(made.unwrap().success());
            }
        }),
    ];
    for (what, plant) in plants {
        let project = project();
        let outside = project.folder().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("victim"), "precious\n").unwrap();
        plant(&project, &outside);
        // A folder with foreign files is not trusted.
        project.run_with_input(&["codali", "--json"], SEARCH).exits(4).says("was not created here");
        // Nor are its links followed where the user says that it may be believed.
        let answered = project.run_with_input(&["codali", "--json", "--trust-state"], SEARCH).ok().json();
        assert_eq!(answered["results"][0]["hits"][0]["path"], "src/fruit.py", "{what}: {answered}");
        let answer = project.run(&["index", "search", "apricot", "--json"]).ok().json();
        assert_eq!(answer["hits"][0]["path"], "src/fruit.py", "{what}");
        // It says that it cannot, or builds its own store.
        let built = project.run(&["index", "build"]);
        assert!([0, 1].contains(&built.code), "{what}: {built}");
        let names: Vec<_> = fs::read_dir(&outside).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["victim"], "{what}");
        assert_eq!(fs::read_to_string(outside.join("victim")).unwrap(), "precious\n", "{what}");
    }
    // A link in its place is refused by every command, also where the user says that it may be believed.
    let project = project();
    let outside = project.folder().join("outside");
    fs::create_dir(&outside).unwrap();
    symlink(&outside, project.base()).unwrap();
    project.run_with_input(&["codali", "--json", "--trust-state"], SEARCH).exits(1).says("it is a symlink");
    for command in ["search apricot", "build"] {
        let words: Vec<&str> = ["index"].into_iter().chain(command.split(' ')).collect();
        project.run(&words).exits(1).says("it is a symlink");
    }
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    // Control: in a folder that is one, the index is kept.
    let project = self::project();
    project.run(&["index", "build"]).ok();
    assert!(project.base().join("index/index.db").is_file());
}
