//! The adapter over a workspace in memory.

use std::sync::Arc;

use memory_workspace::MemoryWorkspace;
use proptest::prelude::*;
use secret_placeholders::{PlaceholderWorkspace, Secrets, Withheld};
use wap_core::{
    Call, CancelFlag, CommandObserver, ConversationId, ExecuteCommand, ExecuteCommandResponse, ExploreFiles,
    ModifyFile, ModifyOperation, Origin, OutputStream, QueryType, ReadFile, Reason, Retention, RunKey,
    SearchFiles, Unobserved, WapError, Workspace, WorkspaceExt, WriteFile, WriteMode,
};

use crate::corpus::recipes;
use crate::masking::{secrets, token};

pub(crate) type Masked = PlaceholderWorkspace<MemoryWorkspace>;

pub(crate) fn over(files: impl IntoIterator<Item = (&'static str, String)>) -> Masked {
    over_with(Arc::new(secrets()), files)
}

fn over_with(secrets: Arc<Secrets>, files: impl IntoIterator<Item = (&'static str, String)>) -> Masked {
    PlaceholderWorkspace::new(MemoryWorkspace::with_files(files), Some(secrets), Withheld::default())
}

pub(crate) fn with_call<T>(step: u32, act: impl FnOnce(&Call<'_>) -> T) -> T {
    let origin = Origin {
        conversation: ConversationId("test".into()),
        run: RunKey::unnumbered("1"),
        step,
        retention: Retention::Process,
    };
    act(&Call { origin: &origin, cancel: &CancelFlag::new(), time_left: None })
}

pub(crate) fn read(masked: &Masked, path: &str, lines: Option<(i64, i64)>) -> String {
    let request = ReadFile {
        path: path.into(),
        start_line: lines.map(|lines| lines.0),
        end_line: lines.map(|lines| lines.1),
        line_numbers: None,
    };
    with_call(0, |call| masked.read_file(call, &request)).unwrap().content
}

fn key() -> String {
    let body: String = (0..40).map(|line| format!("{line:02}{}\n", "Ab3/".repeat(15))).collect();
    let boundary = |word| format!("-----{word} {}{}-----", "PRIVATE ", "KEY");
    format!("{}\n{body}Zz9=\n{}\n", boundary("BEGIN"), boundary("END"))
}

#[test]
fn a_file_is_read_masked_edited_by_its_masked_text_and_has_its_real_version() {
    let masked = over([("a.js", format!("one\nconst k = \"{}\";\n", token()))]);
    assert_eq!(read(&masked, "a.js", None), "one\nconst k = \"⟦secret:npm-token:1⟧\";\n");
    let version = |workspace: &dyn Workspace| {
        let request = ReadFile { path: "a.js".into(), ..ReadFile::default() };
        with_call(0, |call| workspace.read_file(call, &request)).unwrap().version
    };
    assert_eq!(version(&masked), version(masked.inner()));
    let request = ModifyFile {
        path: "a.js".into(),
        operations: vec![ModifyOperation::ReplaceText {
            old_text: "const k = \"⟦secret:npm-token:1⟧\";".into(),
            new_text: "const key = \"⟦secret:npm-token:1⟧\";".into(),
            expected_matches: None,
            whole_lines: None,
        }],
        ..ModifyFile::default()
    };
    let answer = with_call(1, |call| masked.modify_file(call, &request)).unwrap();
    assert_eq!(masked.inner().text("a.js").unwrap(), format!("one\nconst key = \"{}\";\n", token()));
    assert!(!format!("{answer:?}").contains(&token()));
    assert!(format!("{answer:?}").contains("⟦secret:npm-token:1⟧"));
}

#[test]
fn a_regular_expression_takes_the_value_literally() {
    let password = ["a+b$1", "(c)[d]"].concat();
    let masked = over([("a.js", format!("password = \"{password}\"\n"))]);
    let placeholder = read(&masked, "a.js", None).split('"').nth(1).unwrap().to_owned();
    let request = ModifyFile {
        path: "a.js".into(),
        operations: vec![ModifyOperation::RegexReplace {
            pattern: format!("\"({placeholder})\""),
            replacement: format!("f('{placeholder}')"),
            flags: None,
        }],
        ..ModifyFile::default()
    };
    with_call(1, |call| masked.modify_file(call, &request)).unwrap();
    assert_eq!(masked.inner().text("a.js").unwrap(), format!("password = f('{password}')\n"));
}

#[test]
fn no_line_of_a_key_is_shown_by_a_window_or_by_a_search() {
    let text = format!("head\n{}tail\n", key());
    let lines = i64::try_from(text.lines().count()).unwrap();
    for first in 1..=lines {
        for last in [first, (first + 1).min(lines), lines] {
            let visible = read(&over([("a.txt", text.clone())]), "a.txt", Some((first, last)));
            assert!(!visible.contains("Ab3/") && !visible.contains("Zz9"), "{first}-{last}: {visible}");
        }
    }
    let masked = over([("a.txt", text)]);
    for query in ["Ab3", "^20", "tail", "BEGIN|END"] {
        let request = search(query, QueryType::Regex);
        let hits = with_call(0, |call| masked.search_files(call, &request)).unwrap();
        assert!(!format!("{hits:?}").contains("Ab3/"), "{hits:?}");
    }
}

pub(crate) fn search(query: &str, query_type: QueryType) -> SearchFiles {
    SearchFiles {
        paths: vec![".".into()],
        query: query.into(),
        query_type,
        recursive: Some(true),
        exclude_patterns: None,
        context_lines: None,
        respect_gitignore: None,
        withheld: None,
    }
}

#[test]
fn a_search_does_not_tell_what_a_secret_is() {
    let masked = over([("a.txt", format!("key {}\n", token()))]);
    let matches = |query: &str, kind| {
        let hits = with_call(0, |call| masked.search_files(call, &search(query, kind))).unwrap();
        (hits.matches.len(), hits.total_matches)
    };
    assert_eq!(matches("npm_a1", QueryType::Literal), (0, 0));
    assert_eq!(matches("npm_a.B", QueryType::Regex), (0, 0));
    assert_eq!(matches("key", QueryType::Literal), (1, 1));
    assert_eq!(matches("⟦secret:npm-token:1⟧", QueryType::Literal), (1, 1));
    assert_eq!(matches("key ⟦secret:npm-token:1⟧$", QueryType::Regex), (1, 1));
}

#[test]
fn a_search_does_not_tell_what_a_file_of_credentials_holds() {
    let files = || {
        [
            (".env", "PIN=4711\n".repeat(3)),
            (".netrc", "PIN=4711\n".to_owned()),
            ("a.txt", "plain\n".repeat(120)),
            ("credentials/b.txt", "PIN=\n".to_owned()),
        ]
    };
    let masked = over(files());
    let granted = PlaceholderWorkspace::new(
        MemoryWorkspace::with_files(files()),
        Some(Arc::new(secrets())),
        Withheld::except([".env", ".netrc"]).unwrap(),
    );
    for paths in [&["."][..], &[".env"], &[".env", "a.txt"], &[".", ".netrc"], &["credentials"]] {
        for (guess, other) in [("PIN=4711", "PIN=0815"), ("PIN=4711|plain", "PIN=0815|plain")] {
            let answer = |workspace: &Masked, query: &str| {
                let paths = paths.iter().map(|path| (*path).to_owned()).collect();
                let request = SearchFiles { paths, ..search(query, QueryType::Regex) };
                with_call(0, |call| workspace.search_files(call, &request)).unwrap()
            };
            assert_eq!(answer(&masked, guess), answer(&masked, other), "{paths:?} {guess}");
            // The control: where the user allows it, the answers differ.
            let is_same = answer(&granted, guess) == answer(&granted, other);
            assert_eq!(is_same, paths == ["credentials"], "{paths:?} {guess}");
        }
    }
    // Neither do files that the model has put before it: more matches than answers, in more files than are examined.
    let keys: Vec<String> = (0..80).map(|number| format!("-{number:02}.key")).collect();
    let pems: Vec<String> = (0..80).map(|number| format!("-{number:02}.pem")).collect();
    let guesses = keys
        .iter()
        .chain(&pems)
        .map(|name| (&*Box::leak(name.clone().into_boxed_str()), "PIN=4711\nPIN=0815\n".repeat(60)));
    let crowd =
        || guesses.clone().chain([("server.key", "PIN=4711\n".to_owned()), ("z.txt", "PIN=1\n".to_owned())]);
    let crowded = over(crowd());
    let granted = PlaceholderWorkspace::new(
        MemoryWorkspace::with_files(crowd()),
        Some(Arc::new(secrets())),
        Withheld::except(["server.key"]).unwrap(),
    );
    for exclude_patterns in [None, Some(vec!["x".to_owned(); 1_000]), Some(vec!["x".repeat(4_000); 16])] {
        let answer = |workspace: &Masked, query: &str| {
            let request = SearchFiles {
                exclude_patterns: exclude_patterns.clone(),
                ..search(query, QueryType::Literal)
            };
            let mut hits = with_call(0, |call| workspace.search_files(call, &request)).unwrap();
            hits.matches.clear();
            hits
        };
        assert_eq!(answer(&crowded, "PIN=4711"), answer(&crowded, "PIN=0815"));
        assert_ne!(answer(&granted, "PIN=4711"), answer(&granted, "PIN=0815"));
    }
    // As many exclusions as a search takes leave no room for more.
    let exclude_patterns = Some(vec!["x".to_owned(); 1_000]);
    let full = SearchFiles { exclude_patterns, ..search("PIN=4711|plain", QueryType::Regex) };
    let full = with_call(0, |call| masked.search_files(call, &full)).unwrap();
    assert!(full.matches.iter().all(|hits| hits.path == "a.txt"), "{full:?}");
    // A folder is no file of credentials, whatever its name is; a file that is named is said to be left out.
    let of = |path: &str| SearchFiles { paths: vec![path.into()], ..search("PIN=", QueryType::Literal) };
    let hits = |path| with_call(0, |call| masked.search_files(call, &of(path))).unwrap();
    assert_eq!((hits("credentials").matches.len(), hits("credentials").warnings.len()), (1, 0));
    assert_eq!((hits(".env").matches.len(), hits(".env").total_matches), (0, 0));
    assert!(hits(".env").warnings[0].starts_with("1 file that usually holds credentials is left out"));
}

#[test]
fn a_line_that_is_cut_shows_no_beginning_of_a_secret() {
    for padding in 960..1_001 {
        let masked = over([("a.txt", format!("{} {}\n", "x".repeat(padding), token()))]);
        let hits = with_call(0, |call| masked.search_files(call, &search("xx", QueryType::Literal))).unwrap();
        assert!(!hits.matches[0].match_text.contains("npm_a1B2"), "{padding}");
    }
}

#[test]
fn files_of_credentials_are_left_out_unless_the_user_names_them() {
    let files = || {
        [
            (".env", "X=1\n".to_owned()),
            ("a.txt", "X=1\n".to_owned()),
            ("cert.pem", "X=1\n".to_owned()),
            ("key.pem", key()),
            (".env.example", "X=\n".to_owned()),
        ]
    };
    let masked = over(files());
    let list = |masked: &Masked| {
        let request =
            ExploreFiles { recursive: Some(true), exclude_patterns: Some(vec![]), ..ExploreFiles::default() };
        let listed = with_call(0, |call| masked.explore_files(call, &request)).unwrap();
        (listed.files.iter().map(|file| file.path.clone()).collect::<Vec<_>>().join(" "), listed.warnings)
    };
    let (names, warnings) = list(&masked);
    assert_eq!(names, ".env.example a.txt cert.pem");
    insta::assert_debug_snapshot!(warnings, @r#"
    [
        "2 files that usually hold credentials are left out; the user can grant it with --read-secret NAME or `read-secret` in the configuration file",
    ]
    "#);
    let request = ReadFile { path: ".env".into(), ..ReadFile::default() };
    let error = with_call(0, |call| masked.read_file(call, &request)).unwrap_err();
    assert_eq!(error.reason(), Reason::Protected);
    insta::assert_snapshot!(error.message(), @"'.env' usually holds credentials, so its content is left out; the user can grant it with --read-secret NAME or `read-secret` in the configuration file");
    let hits = with_call(0, |call| masked.search_files(call, &search("X=", QueryType::Literal))).unwrap();
    let paths: Vec<_> = hits.matches.iter().map(|hits| hits.path.as_str()).collect();
    assert_eq!(paths, [".env.example", "a.txt", "cert.pem"]);
    let granted = PlaceholderWorkspace::new(
        MemoryWorkspace::with_files(files()),
        Some(Arc::new(secrets())),
        Withheld::except([".env", "*.pem"]).unwrap(),
    );
    assert_eq!(list(&granted).0, ".env .env.example a.txt cert.pem key.pem");
    assert_eq!(read(&granted, ".env", None), "X=1\n");
}

#[test]
fn a_command_gets_the_value_and_its_output_is_masked() {
    struct Printed(Vec<u8>);
    impl CommandObserver for Printed {
        fn output(&mut self, _: OutputStream, bytes: &[u8]) {
            self.0.extend_from_slice(bytes);
        }
    }
    let masked = over([("a.txt", format!("{}\n", token()))]);
    read(&masked, "a.txt", None);
    let command = format!("echo {}", token());
    let response = ExecuteCommandResponse {
        stdout: format!("{}\n", token()),
        stderr: format!("bad {}", token()),
        exit_code: 0,
        is_output_truncated: false,
        duration_ms: 1,
        signal: None,
        background: None,
        whole_output: None,
        sandbox: String::new(),
        warnings: Vec::new(),
        denied: Vec::new(),
    };
    masked.inner().on_command(&command, Ok(response));
    let request =
        ExecuteCommand { command: "echo ⟦secret:npm-token:1⟧".into(), ..ExecuteCommand::default() };
    let mut contents = Printed(Vec::new());
    let ran = with_call(1, |call| masked.execute_command(call, &request, &mut contents)).unwrap();
    assert_eq!(masked.inner().commands_run(), [command]);
    assert_eq!(
        (ran.stdout.as_str(), ran.stderr.as_str()),
        ("⟦secret:npm-token:1⟧\n", "bad ⟦secret:npm-token:1⟧")
    );
    let unknown =
        ExecuteCommand { command: "echo ⟦secret:npm-token:0⟧".into(), ..ExecuteCommand::default() };
    let refused = with_call(2, |call| masked.execute_command(call, &unknown, &mut Unobserved)).unwrap_err();
    assert_eq!(refused.reason(), Reason::InvalidField);
    assert!(!String::from_utf8_lossy(&contents.0).contains(&token()));
}

#[test]
fn output_that_is_cut_shows_no_part_of_a_secret() {
    let gap = "\n… 5 bytes left out …\n";
    for at in 0..=token().len() {
        let masked = over([]);
        let (head, tail) = (token()[..at].to_owned(), token()[at..].to_owned());
        let details = format!("a {head}{gap}{tail} b");
        masked.inner().on_command("x", Err(WapError::new(Reason::Timeout, "late").with("stdout", details)));
        let request = ExecuteCommand { command: "x".into(), ..ExecuteCommand::default() };
        let error = with_call(1, |call| masked.execute_command(call, &request, &mut Unobserved)).unwrap_err();
        let visible = error.detail("stdout").unwrap().as_str().unwrap();
        assert!(visible.starts_with("a ") && visible.ends_with(" b") && visible.contains(gap), "{visible}");
        assert!(!visible.contains("npm_a1B2") && !visible.contains("c3D4e5F6"), "{visible}");
    }
}

#[test]
fn a_name_of_a_file_may_be_a_secret() {
    let name = Box::leak(format!("a/{}.txt", token()).into_boxed_str());
    let masked = over([(&*name, "text\n".to_owned())]);
    let request = ExploreFiles { recursive: Some(true), ..ExploreFiles::default() };
    let listed = with_call(0, |call| masked.explore_files(call, &request)).unwrap();
    assert!(!format!("{listed:?}").contains(&token()));
    assert_eq!(read(&masked, "a/⟦secret:npm-token:1⟧.txt", None), "text\n");
}

#[test]
fn an_ordinary_word_is_replaced_only_where_it_is_a_password() {
    let masked = over([("a.yml", "pwd: \"postgres\"\nimage: postgres\n".to_owned())]);
    assert_eq!(read(&masked, "a.yml", None), "pwd: \"⟦secret:password-assignment:1⟧\"\nimage: postgres\n");
}

#[test]
fn without_secrets_everything_passes() {
    let masked = PlaceholderWorkspace::new(
        MemoryWorkspace::with_files([("a.txt", token())]),
        None,
        Withheld::default(),
    );
    assert_eq!(read(&masked, "a.txt", None), token());
}

/// Bytes of a file: ordinary ones, secrets, texts like placeholders.
fn any_file() -> impl Strategy<Value = String> {
    let lines: Vec<String> = recipes().iter().map(|recipe| recipe.line()).collect();
    let piece = prop_oneof![
        "[ -~\\n]{0,30}",
        "\\PC{0,10}",
        proptest::sample::select(lines),
        "⟦secret:[a-z-]{1,8}:[0-9]{1,2}⟧",
        Just("\r\n".to_owned()),
    ];
    proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn what_is_viewed_and_written_back_is_the_same_file(content in any_file()) {
        let masked = over([("a.txt", content.clone())]);
        let viewed = read(&masked, "a.txt", None);
        let request = WriteFile { path: "b.txt".into(), content: viewed, mode: Some(WriteMode::Create), ..WriteFile::default() };
        with_call(1, |call| masked.write_file(call, &request)).unwrap();
        prop_assert_eq!(masked.inner().text("b.txt").unwrap(), content);
    }
}
