//! Excerpts and matches of files with keys, which show no more of a line than reading the whole file.

use wap_core::{QueryType, Workspace};

use super::quoted::{FORMS, in_form, key, parts_in};
use crate::over_workspace::{over, read, search, with_call};

/// Further lines with other text: prefixes that look like the header of a key.
const PREFIXED: [&str; 5] = ["INFO: {}", "web: {}", "line-#: {}", "Version: {}", "+{}"];

/// A line with its placeholders without their numbers, which depend on the order of the readings.
fn unnumbered(line: &str) -> String {
    let mut parts = line.split('⟦');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (marker, rest) = part.split_once('⟧').unwrap_or((part, ""));
        text.push_str(&format!("⟦{}⟧{rest}", marker.trim_end_matches(|digit: char| digit.is_ascii_digit())));
    }
    text
}

#[test]
fn an_excerpt_and_a_match_hide_what_the_whole_file_hides() {
    for form in FORMS.into_iter().chain(PREFIXED) {
        for width in [8, 12, 15, 16, 64] {
            let lines = key(width);
            let text = in_form(&lines, form);
            let whole = read(&over([("f.txt", text.clone())]), "f.txt", None);
            let whole: Vec<String> = whole.lines().map(unnumbered).collect();
            assert_eq!(whole.len(), lines.len());
            let hidden = whole.iter().filter(|line| line.contains('⟦')).count();
            assert!(2 * hidden > lines.len(), "{form}, {width}: {hidden} of {}", lines.len());
            let count = lines.len() as i64;
            for (first, last) in [(2, 2), (3, 4), (5, 9), (count / 2, count / 2 + 2), (count - 1, count - 1)]
            {
                let (first, last) = (first.min(count), last.min(count));
                let window = read(&over([("f.txt", text.clone())]), "f.txt", Some((first, last)));
                let window: Vec<String> = window.lines().map(unnumbered).collect();
                assert_eq!(
                    window,
                    whole[first as usize - 1..last as usize],
                    "{form}, {width}: {first}-{last}"
                );
            }
            let workspace = over([("f.txt", text)]);
            let hits =
                with_call(0, |call| workspace.search_files(call, &search(".", QueryType::Regex))).unwrap();
            assert!(hits.matches.len() > 3, "{form}, {width}: {}", hits.matches.len());
            for hit in hits.matches {
                assert_eq!(unnumbered(&hit.match_text), whole[hit.line as usize - 1], "{form}, {width}");
            }
        }
    }
}

#[test]
fn a_prefix_that_looks_like_a_header_shows_nothing_of_a_key() {
    for form in PREFIXED {
        for width in [8, 12, 15, 64] {
            let text = in_form(&key(width), form);
            let visible = read(&over([("f.txt", text.clone())]), "f.txt", None);
            // Of an unnumbered line nothing is left; next to a number that differs, single words can be.
            let most = if form.contains('#') { 8 } else { 0 };
            assert!(parts_in(&visible) <= most, "{form}, {width}: {visible}");
            assert!(parts_in(&text) > 30, "the control: {form}");
        }
    }
    // The control: the headers of a key stay, and its lines below them are hidden.
    let mut lines = key(64);
    lines.splice(
        1..1,
        ["Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-128-CBC,0123456789ABCDEF", ""].map(str::to_owned),
    );
    let visible = read(&over([("f.txt", lines.join("\n"))]), "f.txt", None);
    assert!(
        visible.contains("\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123456789ABCDEF\n\n⟦"),
        "{visible}"
    );
    assert_eq!(parts_in(&visible), 0);
}
