//! Paths on paper: whether one is another or beneath it.

/// Returns a path without `.`, doubled slashes and a slash at its end, and with `..` carried out as far as it goes.
pub(crate) fn tidied(path: &str) -> String {
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

/// Tells whether a path is one of some files and folders, or beneath one of them.
pub(crate) fn is_beneath_any(path: &str, rules: &[String]) -> bool {
    let path = tidied(path);
    let climbs = path == ".." || path.starts_with("../");
    rules.iter().any(|rule| {
        let rule = tidied(rule);
        let rest = path.strip_prefix(&rule);
        // The workspace itself holds everything that does not climb out of it.
        (rule.is_empty() && !climbs && !path.starts_with('/'))
            || (!rule.is_empty() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
    })
}
