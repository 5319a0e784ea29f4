//! Checks that the guide quotes the source exactly.

const GUIDE: &str = include_str!("../../../../docs/writing-an-adapter.md");
const SOURCES: [&str; 2] = [include_str!("../../src/apply.rs"), include_str!("../../src/parse.rs")];

#[test]
fn every_fragment_of_the_guide_is_copied_from_the_source() {
    let fragments: Vec<&str> =
        GUIDE.split("```rust,ignore\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(fragments.len() >= 7);
    for fragment in fragments {
        assert!(SOURCES.iter().any(|source| source.contains(fragment)), "{fragment}");
    }
}

#[test]
fn the_code_is_as_short_as_the_guide_says() {
    let lib = include_str!("../../src/lib.rs");
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    let code = [lib].iter().chain(&SOURCES).flat_map(|source| source.lines()).filter(is_code).count();
    assert!(code < 220, "{code}");
    assert!(GUIDE.contains(&format!("{code} lines of code")), "{code}");
}
