//! Every rule bites on a tree that breaks it, and on no other.

use xtask::{Crate, CrateList, Tree, check_tree, root};

const README: &str = "| `rel-path` | a path beneath a root |\n| `wap-core` | the tools as types |\n";
const CODEC_LINTS: &str = "std::time::Instant::now std::time::SystemTime::now std::env::var std::env::current_dir std::fs::read std::process::Command allow-unwrap-in-tests";

fn one_crate(name: &str, dependencies: &[&str]) -> Crate {
    Crate {
        name: name.to_owned(),
        folder: format!("crates/{name}"),
        dependencies: dependencies.iter().map(|&dependency| dependency.to_owned()).collect(),
        benches: Vec::new(),
    }
}

fn crates() -> CrateList {
    CrateList {
        crates: vec![one_crate("rel-path", &["thiserror"]), one_crate("wap-core", &["rel-path", "serde"])],
    }
}

fn files() -> Vec<(String, String)> {
    let owned = |path: &str, text: &str| (path.to_owned(), text.to_owned());
    vec![
        owned("README.md", README),
        owned("crates/rel-path/clippy.toml", CODEC_LINTS),
        owned("crates/wap-core/clippy.toml", CODEC_LINTS),
        owned("crates/wap-core/README.md", "# wap-core\n"),
        owned("crates/wap-core/src/lib.rs", GOOD_LIB),
        owned("crates/wap-core/tests/it/schema.rs", "fn snapshot() {}\n"),
        owned(
            "crates/wap-core/tests/it/snapshots/it__schema__a.snap",
            "---\nsource: crates/wap-core/tests/it/schema.rs\n---\n{}\n",
        ),
    ]
}

const GOOD_LIB: &str = "//! Docs with unsafe and todo!() in them.\n#![expect(missing_docs, reason = \"x; y\")]\n\n// A comment.\nmod a;\n#[cfg(feature = \"b\")]\npub mod b;\n\npub use a::{A, B};\n#[cfg(feature = \"b\")]\npub use b::C;\n";

/// What is found when files are added to a tidy tree, or take the place of some.
fn findings(changed: &[(&str, &str)], list: &CrateList) -> Vec<String> {
    let changed = changed.iter().map(|&(path, text)| (path.to_owned(), text.to_owned()));
    let tree = Tree::of(files().into_iter().chain(changed));
    check_tree(&tree, list).findings.iter().map(ToString::to_string).collect()
}

fn finds(changed: &[(&str, &str)], expected: &[&str]) {
    assert_eq!(findings(changed, &crates()), expected, "{changed:?}");
}

#[test]
fn a_tidy_tree_has_no_findings() {
    finds(&[], &[]);
}

#[test]
fn a_folder_with_too_many_sources_is_found() {
    let paths: Vec<String> =
        (0..21).map(|number| format!("crates/wap-core/src/room/file_{number}.rs")).collect();
    let sources: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), "")).collect();
    finds(&sources[..20], &[]);
    finds(
        &sources,
        &["crates/wap-core/src/room: has 21 sources, more than 20: group them in folders (folder size)"],
    );
    let deeper = [&sources[..20], &[("crates/wap-core/src/room/inner/file.rs", "")]].concat();
    finds(&deeper, &[]);
}

#[test]
fn a_library_without_a_readme_is_found() {
    let mut list = crates();
    list.crates.push(one_crate("cocode-runner", &[]));
    let map = format!("{README}| `cocode-runner` | agents in worktrees |\n");
    let with = |more: &[(&str, &str)]| findings(&[&[("README.md", map.as_str())], more].concat(), &list);
    assert_eq!(
        with(&[("crates/cocode-runner/src/lib.rs", GOOD_LIB)]),
        [
            "crates/cocode-runner/README.md: is missing: what the crate owns, an example, what it never does (crate README)"
        ]
    );
    let readme = ("crates/cocode-runner/README.md", "# cocode-runner\n");
    assert_eq!(with(&[("crates/cocode-runner/src/lib.rs", GOOD_LIB), readme]), [""; 0]);
    assert_eq!(with(&[("crates/cocode-runner/src/main.rs", "fn main() {}\n")]), [""; 0]);
    let outer =
        ("crates/cocode-runner/README.md", "# cocode-runner\n[a](src/lib.rs)\n[b](../../README.md)\n");
    assert_eq!(
        with(&[("crates/cocode-runner/src/lib.rs", GOOD_LIB), outer]),
        [
            "crates/cocode-runner/README.md:3: links to README.md, which is not in the package: name it without a link (crate README)"
        ]
    );
}

#[test]
fn a_dependency_against_the_layers_is_found() {
    let layers = |name: &str, dependencies: &[&str]| {
        let mut list = crates();
        list.crates.retain(|one| one.name != name);
        list.crates.push(one_crate(name, dependencies));
        list.crates.push(one_crate("sandbox-fs", &["rel-path"]));
        let found = findings(
            &[(
                "README.md",
                &format!("{README}sandbox-fs one two three\ntagproto one two three\nnovel one two three"),
            )],
            &list,
        );
        found.into_iter().filter(|finding| finding.contains("(layering)")).collect::<Vec<_>>()
    };
    assert_eq!(layers("wap-core", &["rel-path", "serde"]), [""; 0]);
    assert_eq!(layers("wap-core", &["sandbox-fs"]), ["wap-core: may not depend on sandbox-fs (layering)"]);
    assert_eq!(layers("rel-path", &["wap-core"]), ["rel-path: may not depend on wap-core (layering)"]);
    assert_eq!(layers("tagproto", &["wap-core", "rel-path"]), [""; 0]);
    assert_eq!(
        layers("tagproto", &["tokio"]),
        ["tagproto: is a codec and may not depend on tokio (layering)"]
    );
    assert_eq!(layers("novel", &[]), ["novel: the crate is not in the layering table (layering)"]);
}

#[test]
fn a_source_that_is_too_long_is_found_and_a_long_one_noted() {
    let path = "crates/wap-core/src/long.rs";
    let lines = |count: usize| "fn f() {}\n".repeat(count);
    finds(&[(path, &lines(800))], &[]);
    finds(&[(path, &lines(801))], &["crates/wap-core/src/long.rs: has 801 lines, more than 800 (file size)"]);
    finds(&[("crates/wap-core/tests/it/long.rs", &lines(801))], &[]);
    let notes = |count| check_tree(&Tree::of([(path, lines(count))]), &CrateList::default()).notes;
    assert_eq!(notes(500), [""; 0]);
    assert_eq!(notes(501), ["crates/wap-core/src/long.rs has 501 lines, more than 500"]);
}

#[test]
fn a_name_that_says_nothing_is_found() {
    let module = |path: &str| format!("{path}: a module is named after what it owns (banned name)");
    for path in ["crates/a/src/utils.rs", "crates/a/src/types/span.rs", "xtask/tests/it/common/mod.rs"] {
        finds(&[(path, "")], &[&module(path)]);
    }
    finds(
        &[("crates/a/src/x.rs", "fn f() {}\n\npub(crate) mod helpers {\n}\n")],
        &[&module("crates/a/src/x.rs:3")],
    );
    finds(&[("crates/a/src/x.rs", "// mod helpers {\nfn types() {}\n"), ("docs/types.md", "")], &[]);

    let mut list = crates();
    list.crates.push(one_crate("wap-utils", &[]));
    let found = findings(&[("README.md", &format!("{README}wap-utils one two three"))], &list);
    assert!(
        found.contains(&"wap-utils: a crate is named after what it owns (banned name)".to_owned()),
        "{found:?}"
    );
}

#[test]
fn a_crate_without_its_line_in_the_readme_is_found() {
    let lacks = "README.md: the crate map lacks rel-path (crate map)";
    finds(&[("README.md", "`wap-core` the tools as types")], &[lacks]);
    finds(&[("README.md", "wap-core the tools as types, with a rel-path")], &[lacks]);
    finds(&[("README.md", "wap-core the tools as types\nmy-rel-path-x is another thing entirely")], &[lacks]);
    let tree = Tree::of(files().into_iter().filter(|(path, _)| path != "README.md"));
    assert_eq!(check_tree(&tree, &crates()).findings[0].to_string(), "README.md: is missing (crate map)");
}

#[test]
fn code_in_a_lib_file_is_found() {
    let at = |line: usize| {
        format!("crates/a/src/lib.rs:{line}: is for documentation, `mod` and `pub use` only (lib.rs)")
    };
    let cases = [
        ("mod a;\npub fn f() {}\n", 2),
        ("mod a;\n\n#[derive(Debug)]\npub struct S;\n", 4),
        ("mod a {\n}\n", 1),
        ("//! Docs.\nconst X: u32 = 1;\n", 2),
        ("use a::B;\nmod a;\n", 1),
        ("mod a;\nmacro_rules! m { () => {} }\n", 2),
    ];
    for (text, line) in cases {
        finds(&[("crates/a/src/lib.rs", text)], &[&at(line)]);
    }
    finds(&[("crates/a/src/lib.rs", GOOD_LIB), ("crates/a/src/a/lib_file.rs", "fn f() {}")], &[]);
}

#[test]
fn unsafe_code_outside_of_its_place_is_found() {
    let code = "// unsafe\nlet text = \"unsafe\";\nunsafe { f() }\n";
    finds(
        &[("crates/a/src/x.rs", code)],
        &["crates/a/src/x.rs:3: belongs into sandbox-exec/src/sys (unsafe code)"],
    );
    finds(&[("crates/sandbox-exec/src/sys/mount.rs", code), ("crates/sandbox-exec/src/sys.rs", code)], &[]);
    finds(
        &[("crates/sandbox-exec/src/system.rs", "unsafe {}")],
        &["crates/sandbox-exec/src/system.rs:1: belongs into sandbox-exec/src/sys (unsafe code)"],
    );
    finds(&[("crates/a/src/x.rs", "#![deny(unsafe_code)]\n")], &[]);
}

#[test]
fn a_snapshot_that_waits_or_lost_its_test_is_found() {
    finds(
        &[("crates/a/tests/it/snapshots/it__x.snap.new", "---\n")],
        &["crates/a/tests/it/snapshots/it__x.snap.new: was neither accepted nor thrown away (snapshot)"],
    );
    for text in ["---\nsource: crates/a/tests/it/gone.rs\n---\n", "no header"] {
        finds(
            &[("crates/a/tests/it/snapshots/it__x.snap", text)],
            &["crates/a/tests/it/snapshots/it__x.snap: its test is gone (snapshot)"],
        );
    }
}

#[test]
fn a_codec_that_does_not_ban_io_is_found() {
    let path = "crates/wap-core/clippy.toml";
    let found = "crates/wap-core/clippy.toml: lacks std::process::Command (codec lints)";
    finds(&[(path, &CODEC_LINTS.replace("std::process::Command", ""))], &[found]);
    let tree = Tree::of(files().into_iter().filter(|(other, _)| other != path));
    let missing = "crates/wap-core/clippy.toml: is missing (codec lints)";
    assert_eq!(check_tree(&tree, &crates()).findings[0].to_string(), missing);
}

#[test]
fn unfinished_code_and_silenced_lints_are_found() {
    let text = "fn f() { todo!() }\n#[allow(dead_code)]\nfn g() { dbg!(1); }\n#![allow(warnings)]\n// todo!()\nfn h() { unimplemented!() }\n";
    finds(
        &[("crates/a/src/x.rs", text)],
        &[
            "crates/a/src/x.rs:1: todo!: is not finished (forbidden code)",
            "crates/a/src/x.rs:2: #[allow(: say #[expect(…, reason = …)] (forbidden code)",
            "crates/a/src/x.rs:3: dbg!: is for debugging (forbidden code)",
            "crates/a/src/x.rs:4: #![allow(: say #![expect(…, reason = …)] (forbidden code)",
            "crates/a/src/x.rs:6: unimplemented!: is not finished (forbidden code)",
        ],
    );
}

#[test]
fn a_link_to_a_page_that_is_not_there_is_found() {
    let page = "# A\n[b](b.md#part), [up](../README.md), [crates](../crates/), [part](#a), [out](https://example.org)\n";
    finds(&[("docs/a.md", page), ("docs/b.md", "## Part\n")], &[]);
    finds(
        &[("docs/a.md", page), ("docs/b.md", "# Other\n```\n# Part\n```\n")],
        &["docs/a.md:2: there is no heading #part in docs/b.md (link)"],
    );
    finds(&[("docs/a.md", page)], &["docs/a.md:2: there is no docs/b.md (link)"]);
    finds(
        &[("crates/a/src/x.rs", "//! Source: ruling 6, docs/a.md.\nconst NAME: &str = \"docs/other.md\";\n")],
        &["crates/a/src/x.rs:1: there is no docs/a.md (link)"],
    );
    finds(&[("fixtures/samples/a.md", "[b](b.md)\n")], &[]);
}

#[test]
fn anchors_are_those_of_headings() {
    let page = "# `agentd new [TASK]…`\n## See [this](b.md), and more\n### Twice\n### Twice\n";
    let links = "[1](b.md#agentd-new-task) [2](b.md#see-this-and-more) [3](b.md#twice) [4](b.md#twice-1)\n";
    finds(&[("docs/a.md", links), ("docs/b.md", page)], &[]);
    finds(
        &[("docs/a.md", "[1](b.md#twice-2)\n"), ("docs/b.md", page)],
        &["docs/a.md:1: there is no heading #twice-2 in docs/b.md (link)"],
    );
}

#[test]
fn a_page_that_the_book_lacks_is_found() {
    let contents = ("docs/SUMMARY.md", "- [A](a.md)\n");
    finds(&[contents, ("docs/a.md", "# A\n")], &[]);
    finds(
        &[contents, ("docs/a.md", "# A\n[up](../README.md)\n"), ("docs/deep/b.md", "# B\n")],
        &[
            "docs/a.md:2: links to README.md, which is not in the book: name it without a link (book)",
            "docs/deep/b.md: is not listed in docs/SUMMARY.md (book)",
        ],
    );
}

#[test]
fn a_codec_that_other_systems_do_not_build_is_found() {
    let all = "-p rel-path -p wap-core -p wap-edit -p tagproto -p codali-envelope -p cocode-env -p git-index\n\
               -p secret-placeholders -p memory-workspace -p text-edit\n";
    finds(&[(".github/workflows/ci.yml", all)], &[]);
    finds(
        &[(".github/workflows/ci.yml", &all.replace("-p text-edit", "-p text-editor"))],
        &[".github/workflows/ci.yml: does not build text-edit (other systems)"],
    );
}

#[test]
fn a_path_of_a_machine_is_found() {
    for path in [concat!("/wo", "rk/"), concat!("/ro", "ot/")] {
        let text = format!("fine\nsee {path}notes\n");
        finds(&[("docs/a.md", &text)], &[&format!("docs/a.md:2: holds {path} (machine path)")]);
    }
    finds(&[("docs/a.md", "/workspace and /rootless are names like others\n")], &[]);
    let binary = Tree::of(
        files()
            .into_iter()
            .map(|(path, text)| (path, text.into_bytes()))
            .chain([("a.bin".to_owned(), [b"\0".as_slice(), concat!("/wo", "rk/").as_bytes()].concat())]),
    );
    assert_eq!(check_tree(&binary, &crates()).findings, []);
}

#[test]
fn a_word_that_a_plainer_one_replaced_is_found_in_sources() {
    let source = r#"//! Sets files
//! aside.

/// Whether nobody is told.
struct TornPage;

// somebody may say so here: this is no doc comment
fn tell(known: u32, unknown: u32, told_twice: u32) {
    let text = "is no answer, there is no answer, is no longer";
    let unix_place = Place::default();
}
"#;
    finds(
        &[("crates/change-journal/tests/x.rs", source)],
        &[
            "crates/change-journal/tests/x.rs:5: the name `torn`: say partial write (plain words)",
            "crates/change-journal/tests/x.rs:8: the name `tell`: say report, render, notify (plain words)",
            "crates/change-journal/tests/x.rs:8: the name `known`: say state, or the noun itself (plain words)",
            "crates/change-journal/tests/x.rs:8: the name `told`: say report, render, notify (plain words)",
            "crates/change-journal/tests/x.rs:10: the name `place`: say entry, position, scope, location (plain words)",
            "crates/change-journal/tests/x.rs:4: a doc comment opens with `whether`: open with a verb or the noun (plain words)",
            "crates/change-journal/tests/x.rs:4: `nobody`: say name the role (plain words)",
            "crates/change-journal/tests/x.rs:4: `told`: say reported (plain words)",
            "crates/change-journal/tests/x.rs:9: `is no`: say is not (plain words)",
            "crates/change-journal/tests/: the exception for `found` is not needed any more (plain words)",
        ],
    );
    // The control: a crate that is not on the list yet may say all of it.
    finds(&[("fixtures/x.rs", source)], &[]);
}

#[test]
fn a_phrase_over_two_lines_is_found_and_an_exception_covers_its_own_word_only() {
    let source = "//! The databases that were set\n//! aside.\nmod found;\nmod place;\n";
    finds(
        &[("crates/change-journal/tests/x.rs", source)],
        &[
            "crates/change-journal/tests/x.rs:4: the name `place`: say entry, position, scope, location (plain words)",
            "crates/change-journal/tests/x.rs:1: `set aside`: say quarantined (plain words)",
        ],
    );
}

#[test]
fn a_phrase_that_a_plainer_one_replaced_is_found_in_pages() {
    let page = "# A page\n\nThe file is set\naside. Everything\n\n- goes\n- on, is no longer here, has found its place\n";
    finds(&[("docs/page.md", page)], &["docs/page.md:3: `set aside`: say quarantined (plain words)"]);
    finds(
        &[("docs/guide.md", "The file goes\non. Somebody has it.\n")],
        &[
            "docs/guide.md:1: `goes on`: say resumes, continues (plain words)",
            "docs/guide.md:2: `somebody`: say name the role (plain words)",
        ],
    );
    // The control: cases have the words of the documents that they come from.
    finds(&[("fixtures/page.md", page)], &[]);
}

#[test]
fn the_crates_of_this_repository_keep_their_layers() {
    let list = CrateList::read(&root()).unwrap();
    let report = check_tree(&Tree::of([("README.md", "")]), &list);
    let layering: Vec<_> = report.findings.iter().filter(|finding| finding.check == "layering").collect();
    assert_eq!(layering, Vec::<&xtask::Finding>::new());
}
