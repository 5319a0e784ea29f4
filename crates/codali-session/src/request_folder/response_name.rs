//! The names of requests and of their responses.

/// The endings of files that a program renames once they are complete.
const UNFINISHED_ENDINGS: [&[u8]; 7] =
    [b"~", b".tmp", b".part", b".partial", b".crdownload", b".swp", b".swx"];

/// Returns the name of the response to a file, and true if the file's name marks it as a request.
///
/// `NAME.request.EXT` is answered by `NAME.response.EXT`, and any other `NAME` by `NAME.response`. `None` for responses,
/// hidden files, and files that are to be renamed when they are complete.
pub(super) fn response_name(name: &[u8]) -> Option<(Vec<u8>, bool)> {
    let is_unfinished = UNFINISHED_ENDINGS.iter().any(|ending| name.ends_with(ending));
    if name.starts_with(b".") || is_unfinished || name.ends_with(b".response") {
        return None;
    }
    // The extension stays last, so that programs open the response like the request.
    if let Some(dot) = name.iter().rposition(|byte| *byte == b'.') {
        let (stem, ending) = name.split_at(dot);
        if stem == b"response" || stem.ends_with(b".response") {
            return None;
        }
        let before = stem.strip_suffix(b"request".as_slice());
        if let Some(before) = before.filter(|before| before.is_empty() || before.ends_with(b".")) {
            return Some(([before, b"response", ending].concat(), true));
        }
    }
    Some(([name, b".response"].concat(), false))
}

#[cfg(test)]
mod tests {
    use super::response_name;

    #[test]
    fn every_name_has_its_own_response_or_none() {
        let answered: [(&str, &str, bool); 7] = [
            ("a.request.yaml", "a.response.yaml", true),
            ("request.txt", "response.txt", true),
            ("a.b.request.md", "a.b.response.md", true),
            ("a.txt", "a.txt.response", false),
            ("a", "a.response", false),
            ("a.request", "a.request.response", false),
            ("arequest.txt", "arequest.txt.response", false),
        ];
        for (name, response, is_named) in answered {
            assert_eq!(response_name(name.as_bytes()), Some((response.into(), is_named)), "{name}");
            assert_eq!(response_name(response.as_bytes()), None, "{response}");
        }
        for name in
            [".request.yaml", "a.request.yaml~", "a.request.yaml.tmp", "response.txt", "a.response", ""]
        {
            assert_eq!(response_name(name.as_bytes()).filter(|_| !name.is_empty()), None, "{name}");
        }
    }
}
