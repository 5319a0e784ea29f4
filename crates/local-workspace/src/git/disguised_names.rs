//! Names that some file systems equate with one that git obeys, although git itself spells it differently.
//!
//! If a folder of ext4 or of a share does not distinguish upper and lower case, it may also treat `ſ` as `s` and ignore
//! invisible characters. Names that git obeys are recognised in any case; no program needs the other spellings.

use git_index::is_git_name;
use rel_path::fold_name;

/// Names within a repository's folder that determine how files are judged, in lower case.
const JUDGED: [&str; 41] = [
    "alternates",
    "apply-opt",
    "attributes",
    "auto_merge",
    "bisect_expected_rev",
    "branches",
    "commondir",
    "config",
    "config.worktree",
    "gitdir",
    "gitweb",
    "git-rebase-todo",
    "head",
    "hooks",
    "http-alternates",
    "index",
    "info",
    "lazygit.yml",
    "logs",
    "merge_autostash",
    "merge_rr",
    "modules",
    "multi-pack-index",
    "multi-pack-index.d",
    "notes_merge_partial",
    "notes_merge_ref",
    "objects",
    "opts",
    "pack",
    "rebase-apply",
    "rebase-merge",
    "refs",
    "reftable",
    "remotes",
    "safe",
    "sequencer",
    "strategy",
    "strategy_opts",
    "tables.list",
    "worktrees",
    ".git",
];

/// Returns whether a name is another spelling of a judged name, and differs from it by more than case.
pub(crate) fn is_disguised(name: &[u8]) -> bool {
    // Nearly all names are plain, and need no folding.
    let is_plain = |byte: &u8| (0x21..0x7f).contains(byte) && *byte != b':';
    if name.iter().all(is_plain) && !name.ends_with(b".") {
        return false;
    }
    let folded = fold_name(name);
    let is_judged = JUDGED.contains(&folded.as_str())
        || folded.ends_with("head")
        || folded.starts_with("sharedindex.")
        || folded.ends_with(".midx")
        || is_git_name(folded.as_bytes());
    is_judged && !name.eq_ignore_ascii_case(folded.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn judged_names_are_recognised_in_every_spelling() {
        let others = ["FETCH_HEAD", "sharedindex.0123", "multi-pack-index-0123.midx"];
        for name in JUDGED.into_iter().chain(others) {
            let spellings = [
                name.replace('s', "\u{17f}"),
                name.replace('k', "\u{212a}"),
                name.replace("fi", "\u{fb01}"),
                name.to_uppercase().replace('S', "\u{17f}"),
                format!("{}\u{200b}{}", &name[..1], &name[1..]),
                format!("{}\u{fe0f}{}", &name[..1], &name[1..]),
                format!("{name}\u{ad}"),
                format!("{name}."),
                format!("{name} "),
                format!("{name}::$DATA"),
            ];
            for spelling in spellings.iter().filter(|spelling| !spelling.eq_ignore_ascii_case(name)) {
                assert!(is_disguised(spelling.as_bytes()), "{spelling}");
            }
            assert!(
                !is_disguised(name.as_bytes()) && !is_disguised(name.to_uppercase().as_bytes()),
                "{name}"
            );
        }
    }

    #[test]
    fn ordinary_names_are_disguises_of_nothing() {
        let names = [
            "straße",
            "Größe",
            "sıra",
            "файл",
            "設定",
            "café",
            "cafe\u{301}",
            "refs2",
            "a.",
            "no te",
            "x:y",
            "\u{ff}",
            "❤\u{fe0f}",
            "confıgure",
            "ﬁnal",
        ];
        for name in names {
            assert!(!is_disguised(name.as_bytes()), "{name}");
        }
        assert!(!is_disguised(b"config\xff"));
    }
}
