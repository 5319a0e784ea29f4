//! Textual comparison of paths.

/// Removes `.`, doubled slashes and a trailing slash from a path, and resolves `..` as far as possible.
pub(crate) fn normalized(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

/// Returns true if a path is one of some files and folders, or below one of them. Rules are typed as a list: whitespace around a
/// rule is ignored, as in `docs, src`, and a blank rule does not count.
pub(crate) fn is_below_any(path: &str, rules: &[String]) -> bool {
    let path = normalized(path);
    let climbs = path == ".." || path.starts_with("../");
    let typed = rules.iter().map(String::as_str).filter(|rule| !rule.trim().is_empty());
    // Try the rule unchanged as well, since the name of a folder may begin with a space.
    typed.flat_map(|rule| [rule, rule.trim()]).any(|rule| {
        let rule = normalized(rule);
        let rest = path.strip_prefix(&rule);
        // `.` is the workspace itself, which contains every path that does not climb out.
        (rule.is_empty() && !climbs && !path.starts_with('/'))
            || (!rule.is_empty() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
    })
}
