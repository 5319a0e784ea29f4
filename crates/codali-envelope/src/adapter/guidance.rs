//! The built-in guide to requests, written for agents.

/// The path under which agents expect the guide. It is in a home folder, which is never read: the text below is
/// the answer.
const AGENTS_FILE: &str = "~/.docdex/agents.md";

/// Returns the guide for its own path; `None` for every other path.
pub(super) fn text(path: &str) -> Option<&'static str> {
    (path.trim() == AGENTS_FILE).then_some(GUIDANCE)
}

/// The guide to writing requests, for agents. A request for the file `~/.docdex/agents.md` is answered with it.
pub const GUIDANCE: &str = "\
# What you can ask for

Answer with a request like this one, and nothing after it:

AGENT_REQUEST v1
role: architect
request_id: any-text-of-yours
needs:
  - type: docdex.search
    query: \"words to look for\"
    limit: 8
  - type: file.read
    path: \"src/main.rs\"
context:
  summary: \"Why you need it\"

| type | fields | gives |
| --- | --- | --- |
| docdex.search | query, limit (1 to 100, default 8) | pieces of files, best first, with doc_id |
| docdex.snippet | doc_id, window (10 to 400 lines, default 40) | lines around such a piece |
| docdex.open | path or doc_id; start_line and end_line, or window, or head | lines of a file |
| docdex.symbols | file | what the file defines |
| docdex.ast | file, max_nodes | its syntax tree |
| docdex.impact | file, max_depth | what depends on it, and what it depends on |
| docdex.impact_diagnostics | file, limit, offset | imports that lead nowhere |
| docdex.tree | path, max_depth (default 3), dirs_only, include_hidden | folders and files |
| docdex.web | query, force_web | pages of the web, where that is switched on |
| file.read | path | a whole file |
| file.list | root, pattern | files; * stays within a folder, ** crosses folders |
| file.diff | paths | what has changed and is not staged, as a unified diff; files that are new to git are not in it: read them |
| command.output | | what the tests have printed, where they were run |

Ask for several things at once. Paths are relative to the workspace, lines are counted from 1. A need that fails has a
result with status: error; the warnings of the response say why.
";

#[cfg(test)]
mod tests {
    use super::GUIDANCE;

    #[test]
    fn the_example_in_the_guidance_is_a_request() {
        let reading = crate::extract_request(GUIDANCE, &crate::ReadOptions::default()).unwrap();
        assert_eq!(reading.request.needs.len(), 2);
        assert_eq!(reading.warnings, []);
    }
}
