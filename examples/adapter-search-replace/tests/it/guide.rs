//! Checks that the guide quotes the source exactly.

const GUIDE: &str = include_str!("../../../../docs/writing-an-adapter.md");
const SOURCES: [&str; 2] = [include_str!("../../src/apply.rs"), include_str!("../../src/parse.rs")];

#[test]
fn every_line_that_the_guide_quotes_stands_in_the_source() {
    let quoted = GUIDE.split("```rust,ignore\n").skip(1).filter_map(|rest| rest.split("```").next());
    let lines: Vec<&str> = quoted.flat_map(str::lines).filter(|line| !line.trim().is_empty()).collect();
    assert!(lines.len() > 15);
    for line in lines {
        assert!(SOURCES.iter().any(|source| source.lines().any(|other| other == line)), "{line}");
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
