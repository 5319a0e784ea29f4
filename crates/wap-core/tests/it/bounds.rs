//! Requests over a limit are refused with the limit, by the workspace in memory as by every engine.

use memory_workspace::MemoryWorkspace;
use wap_core::{
    Call, CancelFlag, ConversationId, Exclusions, ExploreFiles, Limits, ModifyFile, ModifyOperation, Origin,
    QueryType, Reason, Retention, RunKey, SearchFiles, WapError, Workspace, WorkspaceExt, check_json_size,
};

fn with_call<T>(work: impl FnOnce(&MemoryWorkspace, &Call<'_>) -> T) -> T {
    let workspace = MemoryWorkspace::with_files([("a.txt", "one\n")]);
    let origin = Origin {
        conversation: ConversationId("test".into()),
        run: RunKey::unnumbered("1"),
        step: 0,
        retention: Retention::Process,
    };
    work(&workspace, &Call { origin: &origin, cancel: &CancelFlag::new(), time_left: None })
}

fn refused<T: std::fmt::Debug>(outcome: Result<T, WapError>, field: &str, limit: usize) {
    let error = outcome.unwrap_err();
    assert_eq!(error.reason(), Reason::InvalidField, "{error}");
    assert_eq!(error.detail("field").unwrap(), field);
    assert_eq!(error.detail("limit").unwrap(), limit);
    assert!(error.to_string().contains(&limit.to_string()), "{error}");
}

fn search(paths: usize, patterns: usize) -> SearchFiles {
    SearchFiles {
        paths: vec![".".into(); paths],
        query: "one".into(),
        query_type: QueryType::Literal,
        recursive: None,
        exclude_patterns: Some(vec!["x".into(); patterns]),
        context_lines: None,
        respect_gitignore: None,
        withheld: None,
    }
}

fn modify(operations: usize) -> ModifyFile {
    let insert = ModifyOperation::Insert { after_line: 0, new_content: "x".into(), was: None };
    ModifyFile { path: "a.txt".into(), operations: vec![insert; operations], ..ModifyFile::default() }
}

#[test]
fn lists_have_bounds_and_the_longest_are_accepted() {
    with_call(|workspace, call| {
        refused(workspace.search_files(call, &search(1_001, 0)), "paths", 1_000);
        refused(workspace.search_files(call, &search(1, 1_001)), "excludePatterns", 1_000);
        refused(workspace.modify_file(call, &modify(1_001)), "operations", 1_000);
        let explore = |patterns: usize| ExploreFiles {
            path: ".".into(),
            exclude_patterns: Some(vec!["x".into(); patterns]),
            ..ExploreFiles::default()
        };
        refused(workspace.explore_files(call, &explore(1_001)), "excludePatterns", 1_000);
        // The control: a request at the limit is carried out.
        assert_eq!(workspace.search_files(call, &search(1_000, 1_000)).unwrap().total_matches, 1);
        workspace.explore_files(call, &explore(1_000)).unwrap();
        let next = call.origin.at_step(1);
        workspace.modify_file(&Call { origin: &next, ..*call }, &modify(1_000)).unwrap();
    });
}

#[test]
fn patterns_are_bounded_one_by_one_and_together() {
    let long = |bytes: usize| format!("{}*", "a".repeat(bytes - 1));
    Exclusions::new(&[long(Limits::MAX_PATTERN_BYTES)]).unwrap();
    let error = Exclusions::new(&[long(Limits::MAX_PATTERN_BYTES + 1)]).unwrap_err();
    assert_eq!((error.reason(), error.detail("limit").unwrap().as_u64()), (Reason::InvalidGlob, Some(4_096)));
    let error = Exclusions::new(&vec![long(1_000); 66]).unwrap_err();
    assert_eq!(
        (error.reason(), error.detail("limit").unwrap().as_u64()),
        (Reason::InvalidGlob, Some(65_536))
    );
    let regex = |bytes: usize| ModifyOperation::RegexReplace {
        pattern: "a".repeat(bytes),
        replacement: String::new(),
        flags: None,
    };
    let modify = |operations| ModifyFile { path: "a".into(), operations, ..ModifyFile::default() };
    assert!(modify(vec![regex(16_384); 4]).check_bounds().is_ok());
    assert_eq!(modify(vec![regex(16_384); 5]).check_bounds().unwrap_err().reason(), Reason::InvalidRegex);
}

#[test]
fn a_start_is_not_left_out_by_any_number_of_patterns_that_name_it() {
    let mut patterns: Vec<String> = (0..900).map(|number| format!("**/no-{number}/**")).collect();
    patterns.extend(["**/target/**".to_owned(), "target/x/*.o".to_owned()]);
    let for_walk_from = Exclusions::new(&patterns).unwrap().for_walk_from("target/x");
    assert!(!for_walk_from.excludes("target/x", true));
    assert!(!for_walk_from.excludes("target/x/a.c", false));
    assert!(for_walk_from.excludes("target/x/a.o", false));
    assert!(for_walk_from.excludes("target/x/no-7/a.c", false));
    // A start within a start counts as well.
    assert!(!for_walk_from.for_walk_from("target/x/no-7").excludes("target/x/no-7/a.c", false));
}

#[test]
fn json_with_more_values_than_a_request_needs_is_not_read() {
    let list = |count: usize| format!("{{\"a\": [{}0]}}", "0,".repeat(count));
    assert!(check_json_size(list(99_000).as_bytes()).is_ok());
    let error = check_json_size(list(100_001).as_bytes()).unwrap_err();
    assert_eq!(error.reason(), Reason::RequestTooLarge);
    // Separators within a string are not values, with any escapes.
    let text = serde_json::to_string(&format!("{}\\\"", ",:[{\"\\".repeat(100_000))).unwrap();
    assert!(check_json_size(text.as_bytes()).is_ok());
}
