//! The figures count what they say, and leave out what is no part of the program.

use xtask::{HouseFigures, Tree};

const SOURCE: &str = "//! What this owns.\n\n/// Returns a place.\n/// Whether is not its first word.\nstruct TestGround;\n\n// Somebody reads this.\nfn told() {\n    let why = \"nobody\";\n}\n\n#[cfg(test)]\nmod tests {\n    fn place() {}\n}\n";

#[test]
fn a_source_is_counted_without_its_tests() {
    let tree = Tree::of([
        ("crates/agentd/src/main.rs", SOURCE),
        ("crates/agentd/tests/it/main.rs", "/// What a test is.\nfn place() {}\n"),
        ("docs/page.md", "Whoever reads, nobody writes.\n"),
        ("fixtures/page.md", "nobody\n"),
    ]);
    let expected = HouseFigures {
        fullest_folder: ("crates/agentd/tests/it".to_owned(), 1),
        doc_comments: 2,
        doc_questions: 1,
        unnamed_in_sources: 2,
        unnamed_in_pages: 2,
        lines: 8,
        doc_lines: 3,
        comment_lines: 1,
        vague_names: 2,
        program_lines: 8,
    };
    assert_eq!(HouseFigures::of(&tree), expected);
}

#[test]
fn the_fullest_folder_counts_what_lies_directly_in_it() {
    let tree =
        Tree::of([("crates/a/src/lib.rs", ""), ("crates/a/src/b.rs", ""), ("crates/a/src/c/d.rs", "")]);
    assert_eq!(HouseFigures::of(&tree).fullest_folder, ("crates/a/src".to_owned(), 2));
    assert!(HouseFigures::of(&Tree::default()).table().contains("| 0 () | ≤ 20 |"));
}
