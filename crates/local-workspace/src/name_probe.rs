//! A cheap check of a path before a thorough one.

/// Checks whether a path certainly lacks a component that spells `word` in any disguise.
///
/// Disguises that protected names are compared without (case, invisible characters, short forms, streams) leave the
/// letters in place or use bytes that are not printable ASCII, so for all other paths, searching for the letters is
/// enough. `word` is at least one lower-case ASCII letter.
pub(crate) fn surely_lacks(path: &[u8], word: &[u8]) -> bool {
    let is_plain = path.iter().fold(true, |plain, byte| plain & (0x20..0x7f).contains(byte));
    let Some((first, rest)) = word.split_first() else { return false };
    is_plain
        && !memchr::memchr2_iter(*first, first.to_ascii_uppercase(), path).any(|start| {
            let at = start + 1;
            path.get(at..at + rest.len()).is_some_and(|part| part.eq_ignore_ascii_case(rest))
        })
}

#[cfg(test)]
mod tests {
    use rel_path::{ProtectedNames, RelPath};

    use super::*;

    #[test]
    fn whatever_is_protected_is_not_surely_lacking() {
        let disguises = [
            ".agentd",
            "a/.AgentD/b",
            ".agentd.",
            ".agentd ",
            "AGENTD~1",
            "x/agentd~9",
            ".agentd::$DATA",
            "a\\.agentd\\b",
            ".ag\u{200b}entd",
            ".agen\u{200d}td",
            "\u{feff}.agentd",
        ];
        let names = ProtectedNames::new([".agentd"]);
        for text in disguises {
            let path = RelPath::from_bytes(text.as_bytes()).unwrap();
            assert!(names.protects(&path), "{text}");
            assert!(!surely_lacks(path.as_bytes(), b"agentd"), "{text}");
        }
    }

    #[test]
    fn ordinary_paths_surely_lack_it() {
        for path in ["", "src/main.rs", "agent/d", ".agent", "gitt/.gi", "AGENT-D"] {
            assert!(surely_lacks(path.as_bytes(), b"agentd"), "{path}");
        }
        assert!(surely_lacks(b"src/gi.t", b"git"));
        assert!(!surely_lacks(b"src/.GitX", b"git"));
    }
}
