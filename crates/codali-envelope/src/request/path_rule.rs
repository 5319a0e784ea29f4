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

/// Returns true if a path is one of some files and folders, or beneath one of them. Rules are typed as a list: blanks around one do
/// not count, as in `docs, src`, and one of nothing else is none.
pub(crate) fn is_beneath_any(path: &str, rules: &[String]) -> bool {
    let path = normalized(path);
    let climbs = path == ".." || path.starts_with("../");
    let typed = rules.iter().map(String::as_str).filter(|rule| !rule.trim().is_empty());
    // Also as it is written, since the name of a folder may begin with a blank.
    typed.flat_map(|rule| [rule, rule.trim()]).any(|rule| {
        let rule = normalized(rule);
        let rest = path.strip_prefix(&rule);
        // `.` is the workspace itself, which contains every path that does not climb out.
        (rule.is_empty() && !climbs && !path.starts_with('/'))
            || (!rule.is_empty() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
    })
}
