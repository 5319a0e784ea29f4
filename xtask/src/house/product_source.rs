//! The text of a source without its inline tests.

/// Returns a source without the modules behind `#[cfg(test)]`.
///
/// It relies on formatted code: the end of such a module is the next line that is a single brace at the same depth.
pub(super) fn product_source(source: &str) -> String {
    let mut kept = String::with_capacity(source.len());
    let mut lines = source.lines().peekable();
    while let Some(line) = lines.next() {
        let is_tests = line.trim() == "#[cfg(test)]"
            && lines.peek().is_some_and(|next| next.trim_start().starts_with("mod ") && next.ends_with('{'));
        if is_tests {
            let depth = line.len() - line.trim_start().len();
            let end = format!("{}}}", &line[..depth]);
            // The last line of the module goes with it.
            let _ = lines.by_ref().find(|line| *line == end);
        } else {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::product_source;

    #[test]
    fn modules_of_tests_are_cut_and_others_stay() {
        let source = "fn a() {}\n\n#[cfg(test)]\nmod tests {\n    fn b() {\n    }\n}\n\nfn c() {}\n";
        assert_eq!(product_source(source), "fn a() {}\n\n\nfn c() {}\n");
        for same in ["#[cfg(test)]\nmod tests;\n", "mod tests {\n}\n", "#[cfg(test)]\nfn a() {}\n"] {
            assert_eq!(product_source(same), same);
        }
    }
}
