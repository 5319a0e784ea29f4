//! Renders matches of a search as text for a model, with the calls that continue it.

use std::fmt::Write as _;

use serde_json::json;
use wap_core::{SearchFiles, SearchFilesResponse, SearchMatch};

use crate::page::PageLimit;

/// The most paths in a call that continues a search.
const MOST_PATHS: usize = 20;

/// Renders matches, grouped by file: `12: ` precedes a match, `11- ` a line around it.
pub(crate) fn search_files(
    request: &SearchFiles,
    response: &SearchFilesResponse,
    limit: PageLimit,
) -> String {
    let mut body = String::new();
    let mut characters = 0;
    let mut count = 0;
    for group in response.matches.chunk_by(|one, next| one.path == next.path) {
        let before = (body.len(), count);
        body.push_str(&group[0].path);
        body.push('\n');
        for (index, hit) in group.iter().enumerate() {
            let previous = index.checked_sub(1).map(|index| &group[index]);
            let piece = match_lines(hit, previous, group.get(index + 1));
            characters += piece.chars().count();
            // Always include the first match, or the model could never get past a long one.
            if characters > limit.characters() && count > 0 {
                break;
            }
            body.push_str(&piece);
            count += 1;
        }
        // Without a match that fits, remove the name of the file again.
        if count == before.1 {
            body.truncate(before.0);
        }
        if characters > limit.characters() && count > 0 {
            break;
        }
    }
    let total = response.total_matches;
    let mut text = match total {
        0 => "no matches".to_owned(),
        1 => "1 match".to_owned(),
        _ if (count as u64) < total => format!("the first {count} of {total} matches"),
        _ => format!("{total} matches"),
    };
    let skipped = response.skipped;
    for (files, one, several) in [
        (skipped.binary, "binary file was", "binary files were"),
        (skipped.unreadable, "unreadable file was", "unreadable files were"),
        (skipped.undecodable, "file that is not UTF-8 was", "files that are not UTF-8 were"),
    ] {
        if files > 0 {
            let what = if files == 1 { one } else { several };
            let _ = write!(text, ", {files} {what} skipped");
        }
    }
    for warning in &response.warnings {
        let _ = write!(text, "; {warning}");
    }
    text.push('\n');
    text.push_str(&body);
    if let Some(next) = response.matches.get(count) {
        write_left_out(&mut text, request, response, count, next);
    }
    text
}

/// Writes a match between the previous and the next one in its file. Lines that two of them share are written once.
fn match_lines(hit: &SearchMatch, previous: Option<&SearchMatch>, next: Option<&SearchMatch>) -> String {
    let mut text = String::new();
    let shown_to = previous.map_or(0, |previous| previous.line + previous.context_after.len() as u64);
    let first = hit.line.saturating_sub(hit.context_before.len() as u64);
    if previous.is_some() && first > shown_to + 1 {
        text.push_str("--\n");
    }
    for (number, line) in (first..).zip(&hit.context_before) {
        if number > shown_to {
            let _ = writeln!(text, "{number}- {line}");
        }
    }
    let _ = writeln!(text, "{}: {}", hit.line, hit.match_text);
    let end = next.map_or(u64::MAX, |next| next.line);
    for (number, line) in (hit.line + 1..end).zip(&hit.context_after) {
        let _ = writeln!(text, "{number}- {line}");
    }
    text
}

/// Writes the position of the match after the first `count` ones, and the calls that show the rest.
fn write_left_out(
    text: &mut String,
    request: &SearchFiles,
    response: &SearchFilesResponse,
    count: usize,
    next: &SearchMatch,
) {
    let mut paths: Vec<&str> = response.matches[count..].iter().map(|hit| hit.path.as_str()).collect();
    paths.dedup();
    let _ = write!(text, "[left out from line {} of {} on", next.line, next.path);
    // If the file is the first of this page, the same search would end at the same match forever.
    if response.matches.first().is_some_and(|first| first.path == next.path) {
        let rest = json!({ "path": next.path, "startLine": next.line });
        let _ = write!(text, ", where the same search would end again; read it with readFile {rest}");
        if request.context_lines != Some(0) {
            text.push_str(", or search it with contextLines 0");
        }
        paths.remove(0);
    }
    let more = paths.len().saturating_sub(MOST_PATHS);
    paths.truncate(MOST_PATHS);
    if !paths.is_empty() {
        // The same request on the remaining paths: the model can send it as it is.
        let mut arguments = json!(request);
        arguments["paths"] = json!(paths);
        let _ = write!(text, "; go on with searchFiles {arguments}");
    }
    if more > 0 {
        let _ = write!(text, "; {more} more files after these have matches");
    }
    text.push(']');
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use wap_core::{SearchFiles, SearchFilesResponse};

    use super::search_files;

    fn request() -> SearchFiles {
        serde_json::from_value(json!({ "paths": ["."], "query": "x", "type": "literal" })).unwrap()
    }

    fn response(files: &[(&str, usize)]) -> SearchFilesResponse {
        let hit = |path: &str, line: usize| json!({ "path": path, "line": line, "matchText": "x".repeat(100), "contextBefore": [], "contextAfter": [] });
        let hits = files.iter().flat_map(|(path, count)| (1..=*count).map(move |line| hit(path, line)));
        let matches: Vec<Value> = hits.collect();
        let total = matches.len();
        serde_json::from_value(json!({ "matches": matches, "isTruncated": false, "totalMatches": total }))
            .unwrap()
    }

    fn note(files: &[(&str, usize)]) -> String {
        let text = search_files(&request(), &response(files), "1000".parse().unwrap());
        text.split_once("[left out ").map(|(_, note)| note.to_owned()).unwrap()
    }

    #[test]
    fn files_that_were_skipped_are_counted_by_their_kind() {
        let text = |binary: u64, undecodable: u64| {
            let skipped = json!({ "binary": binary, "unreadable": 0, "undecodable": undecodable });
            let response =
                json!({ "matches": [], "isTruncated": false, "totalMatches": 0, "skipped": skipped });
            search_files(&request(), &serde_json::from_value(response).unwrap(), "1000".parse().unwrap())
        };
        assert_eq!(text(0, 0), "no matches\n");
        assert_eq!(text(0, 1), "no matches, 1 file that is not UTF-8 was skipped\n");
        assert_eq!(
            text(1, 2),
            "no matches, 1 binary file was skipped, 2 files that are not UTF-8 were skipped\n"
        );
    }

    #[test]
    fn lines_that_matches_share_are_written_once() {
        let line = |number: u64| format!("line {number}");
        let hit = |number: u64| {
            json!({
                "path": "a", "line": number, "matchText": line(number),
                "contextBefore": [line(number - 2), line(number - 1)],
                "contextAfter": [line(number + 1), line(number + 2)],
            })
        };
        let hits: Vec<Value> = [3, 5, 6, 12].map(hit).into();
        let response = json!({ "matches": hits, "isTruncated": false, "totalMatches": hits.len() });
        let text =
            search_files(&request(), &serde_json::from_value(response).unwrap(), "1000".parse().unwrap());
        let expected = "4 matches\na\n1- line 1\n2- line 2\n3: line 3\n4- line 4\n5: line 5\n6: line 6\n7- line 7\n\
                        8- line 8\n--\n10- line 10\n11- line 11\n12: line 12\n13- line 13\n14- line 14\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_search_that_is_continued_gets_further() {
        // Nine matches fit.
        let of_one = note(&[("a", 20), ("b", 1)]);
        assert!(
            of_one.starts_with("from line 10 of a on, where the same search would end again;"),
            "{of_one}"
        );
        assert!(
            of_one.contains(r#"readFile {"path":"a","startLine":10}, or search it with contextLines 0"#),
            "{of_one}"
        );
        assert!(of_one.contains(r#""paths":["b"]"#), "{of_one}");
        // The control: on its own page, more of the second file fits.
        let of_two = note(&[("a", 3), ("b", 20)]);
        assert!(of_two.starts_with("from line 7 of b on; go on with searchFiles {"), "{of_two}");
        assert!(of_two.contains(r#""paths":["b"]"#), "{of_two}");
    }

    #[test]
    fn files_beyond_the_named_ones_are_counted() {
        let names: Vec<String> = (10..40).map(|number| number.to_string()).collect();
        let files: Vec<(&str, usize)> = names.iter().map(|name| (name.as_str(), 1)).collect();
        let note = note(&files);
        assert!(note.contains(" more files after these have matches]"), "{note}");
    }
}
