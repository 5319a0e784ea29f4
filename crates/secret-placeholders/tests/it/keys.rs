//! Private keys, whole and cut.

mod differences;
mod encoded;
mod jwk;
mod mentions;
mod quoted;
mod windows;
mod wrapped;

use std::sync::Arc;

use memory_workspace::MemoryIndex;
use secret_placeholders::{PlaceholderIndex, StreamMask, Withheld};
use wap_core::{CodeIndex, ModifyFile, ModifyOperation, QueryType, SearchCode, Workspace, WorkspaceExt};

use crate::masking::secrets;
use crate::over_workspace::{over, read, search, with_call};

pub(crate) fn key(lines: usize) -> String {
    let body: String = (0..lines).map(|line| format!("{line:02}{}\n", "Ab3/".repeat(15))).collect();
    let boundary = |word| format!("-----{word} {}{}-----", "RSA PRIVATE ", "KEY");
    format!("{}\n{body}Zz9=\n{}\n", boundary("BEGIN"), boundary("END"))
}

/// Returns what a model sees of a text: masked as a whole, in excerpts of each line, as matches, and as it arrives.
pub(crate) fn in_each_way(text: &str) -> [(&'static str, String); 4] {
    let workspace = || over([("f.txt", text.to_owned())]);
    let lines = i64::try_from(text.lines().count()).unwrap();
    let windows = (1..=lines).map(|line| read(&workspace(), "f.txt", Some((line, line)))).collect();
    let hits = with_call(0, |call| workspace().search_files(call, &search(".", QueryType::Regex))).unwrap();
    let matches = hits.matches.into_iter().map(|hit| hit.match_text + "\n").collect();
    let mut stream = StreamMask::new(&Arc::new(secrets()));
    let streamed: String = text.split_inclusive('\n').map(|line| stream.push(line.as_bytes())).collect();
    let whole = secrets().mask(text).into_owned();
    [("whole", whole), ("excerpt", windows), ("match", matches), ("stream", streamed + &stream.finish())]
}

#[test]
fn each_line_of_a_key_has_its_own_placeholder() {
    let secrets = secrets();
    let text = format!("before\n{}after\n", key(2));
    let masked = secrets.mask(&text).into_owned();
    insta::assert_snapshot!(masked.replace("PRIVATE KEY", "PRIVATE-KEY"), @r"
    before
    -----BEGIN RSA PRIVATE-KEY-----
    ⟦secret:private-key:1⟧
    ⟦secret:private-key:2⟧
    ⟦secret:private-key:3⟧
    -----END RSA PRIVATE-KEY-----
    after
    ");
    assert_eq!(secrets.restore(&masked).unwrap(), text);
}

#[test]
fn a_key_that_is_cut_anywhere_shows_nothing() {
    let text = key(6);
    let lines: Vec<&str> = text.lines().collect();
    for first in 0..lines.len() {
        for last in first..lines.len() {
            let secrets = secrets();
            let has_boundary = first == 0 || last == lines.len() - 1;
            let masked = secrets.mask(&lines[first..=last].join("\n")).into_owned();
            assert!(!has_boundary || !masked.contains("Ab3/"), "{masked}");
        }
    }
}

#[test]
fn a_key_on_one_line_is_found() {
    let secrets = secrets();
    let text = format!("{{\"key\": \"{}\"}}\n", key(3).replace('\n', "\\n"));
    let masked = secrets.mask(&text).into_owned();
    assert!(!masked.contains("Ab3/"), "{masked}");
    assert_eq!(secrets.restore(&masked).unwrap(), text);
    for cut in (0..text.len()).step_by(7) {
        for part in [&text[..cut], &text[cut..]] {
            let masked = secrets.mask(part).into_owned();
            assert_eq!(secrets.restore(&masked).unwrap(), part);
        }
    }
}

#[test]
fn code_that_speaks_of_keys_is_left() {
    let secrets = secrets();
    let boundary = ["-----BEGIN PRIVATE ", "KEY-----"].concat();
    let text = format!("if pem.starts_with(\"{boundary}\") {{\n    parse(pem)\n}}\n");
    assert_eq!(secrets.mask(&text), text);
}

#[test]
fn words_below_a_text_that_mentions_a_key_are_shown_and_edited() {
    let begin = ["-----BEGIN PRIVATE ", "KEY-----"].concat();
    let texts = [
        format!("# Doc\n\nUse `{begin}` as the first line.\n\nword\n\nsomething\n"),
        format!("# Doc\n\nYour key looks like\n\n{begin}\n\nabout\n\nand more text here\n"),
        format!("{begin}\nabout\n{begin}\nsomething"),
    ];
    for text in texts {
        let masked = over([("a.md", text.clone())]);
        assert_eq!(read(&masked, "a.md", None), text);
        // The line is deleted, and what is below it stays as it is.
        let mention = text.lines().position(|line| line.contains(&begin)).unwrap();
        let number = i64::try_from(mention).unwrap() + 1;
        let deletion = ModifyOperation::Delete { start_line: number, end_line: number, was: None };
        let request = ModifyFile { path: "a.md".into(), operations: vec![deletion], ..ModifyFile::default() };
        with_call(1, |call| masked.modify_file(call, &request)).unwrap();
        let left: String = text
            .split_inclusive('\n')
            .enumerate()
            .filter(|(index, _)| *index != mention)
            .map(|(_, line)| line)
            .collect();
        assert_eq!(masked.inner().text("a.md").unwrap(), left);
    }
    // The controls: short lines next to one as long as a line of a key, and before its last line.
    let end = ["-----END PRIVATE ", "KEY-----"].concat();
    let body = "Ab3/".repeat(4);
    for text in [
        format!("`{begin}` as the first line.\n\n{body}\nword\n"),
        format!("{begin}\nword\n{body}\n"),
        format!("{begin}\nword\n{end}\n"),
        format!("key: |\n  {begin}\n  word\n  {end}\n"),
        format!("cat <<EOF\n{begin}\n{body}\nword\nEOF\n"),
        format!("\"{begin}\\n\" +\n\"{body}\\n\" +\n\"word\\n\"\n"),
    ] {
        let masked = secrets().mask(&text).into_owned();
        assert!(!masked.contains("word") && !masked.contains(&body), "{masked}");
    }
}

#[test]
fn the_last_lines_of_a_printed_key_are_hidden_line_by_line() {
    let key = format!("before\n{}", key(6));
    for until in ["", "-----END"] {
        let text = if until.is_empty() { &key[..] } else { &key[..key.find(until).unwrap()] };
        let mut stream = StreamMask::new(&Arc::new(secrets()));
        let mut visible: String =
            text.split_inclusive('\n').map(|line| stream.push(line.as_bytes())).collect();
        visible.push_str(&stream.finish());
        assert!(!visible.contains("Zz9") && !visible.contains("Ab3/"), "{visible}");
        assert!(visible.starts_with("before\n"), "{visible}");
    }
}

#[test]
fn a_key_in_pieces_of_source_code_is_found() {
    let forms: [&dyn Fn(&str) -> String; 7] = [
        &|line| format!("    \"{line}\\n\" +\n"),
        &|line| format!("    + \"{line}\\n\"\n"),
        &|line| format!("'{line}' + \"\\r\\n\" +\n"),
        &|line| format!("\"{line}\\r\\n\"\n"),
        &|line| format!("/// {line}\n"),
        &|line| format!("key += \"{line}\\n\";\n").replace("key ", ""),
        &|line| format!(" * {line}\n"),
    ];
    let key = key(6);
    for form in forms {
        let text: String = key.lines().map(form).collect();
        let secrets = secrets();
        let masked = secrets.mask(&text).into_owned();
        assert!(!masked.contains("Ab3/") && !masked.contains("Zz9"), "{masked}");
        assert_eq!(secrets.restore(&masked).unwrap(), text);
    }
    // On one line, in several literals, without its end.
    let secrets = secrets();
    let lines: Vec<&str> = key.lines().take(4).collect();
    let text = format!("\"{}\\n\"\n", lines.join("\\n\" + \""));
    let masked = secrets.mask(&text).into_owned();
    assert!(!masked.contains("Ab3/"), "{masked}");
    assert_eq!(secrets.restore(&masked).unwrap(), text);
}

#[test]
fn any_blank_before_the_last_line_of_a_key_is_a_blank() {
    let boundary = ["-----END PRIVATE ", "KEY-----"].concat();
    for blank in ["\u{a0}", "\u{2000}", "\u{3000}", " "] {
        let secrets = secrets();
        let text = format!("see{blank}{}{boundary}\n", "Ab3/".repeat(8));
        let masked = secrets.mask(&text).into_owned();
        assert_eq!(masked, format!("see{blank}⟦secret:private-key:1⟧{boundary}\n"));
        assert_eq!(secrets.restore(&masked).unwrap(), text);
    }
}

#[test]
fn the_middle_of_a_long_key_is_hidden_wherever_it_is_shown() {
    let body: String = (0..4_000).map(|line| format!("{line:04}{}\n", "Ab3/".repeat(15))).collect();
    let boundary = |word| format!("-----{word} {}{} BLOCK-----\n", "PGP PRIVATE ", "KEY");
    let text = format!("{}\n{body}{}", boundary("BEGIN"), boundary("END"));
    let masked = || over([("a.asc", text.clone())]);
    assert!(!read(&masked(), "a.asc", Some((1_000, 1_060))).contains("Ab3/"));
    let hits = with_call(0, |call| masked().search_files(call, &search("1000A", QueryType::Literal)));
    assert_eq!(hits.unwrap().matches.len(), 0);
    let index = PlaceholderIndex::new(
        // A hit without a word of the query that is visible is left out, and the path has one.
        Box::new(MemoryIndex::with_files([("ab.asc", text.clone())])),
        Some(Arc::new(secrets())),
        Withheld::default(),
    );
    let request = SearchCode { query: "1000Ab3".into(), limit: 3 };
    let response = with_call(0, |call| index.search(call, &request)).unwrap();
    assert!(response.hits.len() == 1 && !response.hits[0].snippet.contains("Ab3/"), "{response:?}");
    assert_eq!(response.hits[0].snippet.matches("⟦secret:private-key:").count(), 3);
    let mut stream = StreamMask::new(&Arc::new(secrets()));
    let mut visible: String = text.as_bytes().chunks(8_000).map(|bytes| stream.push(bytes)).collect();
    visible.push_str(&stream.finish());
    assert_eq!(visible.matches("⟦secret:private-key:").count(), 4_000);
    assert!(!visible.contains("Ab3/"));
    // The control: lines of the same kind that are no key are shown, in each of them.
    let plain = over([("a.asc", body.clone())]);
    assert!(read(&plain, "a.asc", Some((1_000, 1_060))).contains("Ab3/"));
    let mut stream = StreamMask::new(&Arc::new(secrets()));
    let mut visible: String = body.as_bytes().chunks(8_000).map(|bytes| stream.push(bytes)).collect();
    visible.push_str(&stream.finish());
    assert_eq!(visible, body);
}
