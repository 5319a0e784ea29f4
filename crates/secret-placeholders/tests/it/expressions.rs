//! Placeholders in regular expressions.

use wap_core::{ModifyFile, ModifyOperation, QueryType, Reason, WapError, Workspace, WorkspaceExt};

use crate::over_workspace::{Masked, over, read, search, with_call};

/// A value whose kind is a valid range within a class, like that of every placeholder.
const VALUE: &str = "kX7qzW9m2Lr9";

/// A file with the value, and one with a character a line.
fn masked() -> (Masked, String) {
    let characters: String = (33..127_u8).map(|byte| format!("{}\n", char::from(byte))).collect();
    let files = [("a.py", format!("url = \"mongodb://app:{VALUE}@db/x\"\n")), ("b.txt", characters)];
    let masked = over(files);
    let view = read(&masked, "a.py", None);
    let start = view.find('⟦').unwrap();
    let placeholder = view[start..=start + view[start..].find('⟧').unwrap() + 2].to_owned();
    assert!(!view.contains(VALUE), "{view}");
    (masked, placeholder)
}

fn lines(masked: &Masked, query: &str) -> Result<Vec<String>, WapError> {
    let hits = with_call(0, |call| masked.search_files(call, &search(query, QueryType::Regex)))?;
    Ok(hits.matches.into_iter().map(|hit| hit.match_text).collect())
}

#[test]
fn an_expression_does_not_tell_the_characters_of_a_value() {
    let (masked, placeholder) = masked();
    let shapes: [&dyn Fn(&str) -> String; 8] = [
        &|text| format!("^[{text}]$"),
        &|text| format!("^[^{text}]$"),
        &|text| format!("^[!-{text}]$"),
        &|text| format!("^[a[{text}]&&[k]]$"),
        &|text| format!("\\{text}"),
        &|text| format!("a{{{text}}}"),
        &|text| format!("\\p{{{text}}}"),
        &|text| format!("(?x) a # {text}"),
    ];
    for shape in shapes {
        let error = lines(&masked, &shape(&placeholder)).unwrap_err();
        assert_eq!(error.reason(), Reason::InvalidRegex, "{error:?}");
        assert!(!format!("{error:?}").contains(VALUE), "{error:?}");
        let operation = ModifyOperation::RegexReplace {
            pattern: shape(&placeholder),
            replacement: "x".into(),
            flags: Some("gm".into()),
        };
        let request =
            ModifyFile { path: "b.txt".into(), operations: vec![operation], ..ModifyFile::default() };
        let error = with_call(1, |call| masked.modify_file(call, &request)).unwrap_err();
        assert_eq!(error.reason(), Reason::InvalidRegex, "{error:?}");
    }
    // The control: with the value itself, the class reveals its characters.
    assert_eq!(lines(&masked, &format!("^[{VALUE}]$")).unwrap().concat(), "279LWXkmqrz");
}

#[test]
fn text_after_a_placeholder_applies_to_the_whole_value() {
    let (masked, placeholder) = masked();
    let hits = |query: &str| lines(&masked, &query.replace('@', &placeholder)).unwrap().len();
    let wanted = [("@", 1), ("(~|@)+", 2), ("url.*@.*$", 1), ("@{2}", 0), ("^@?k$", 1), ("^@?@?k$", 1)];
    for (query, count) in wanted {
        assert_eq!(hits(query), count, "{query}");
    }
    // A quantifier that applied to the last character would match the value without it.
    let text = format!("{}\n", &VALUE[..VALUE.len() - 1]);
    let masked = over([("a.py", format!("url = \"mongodb://app:{VALUE}@db/x\"\n")), ("b.txt", text.clone())]);
    read(&masked, "a.py", None);
    assert_eq!(lines(&masked, &format!("^{placeholder}?$")).unwrap(), [""; 0]);
    // The control: the value itself in such an expression does.
    assert_eq!(lines(&masked, &format!("^{VALUE}?$")).unwrap(), [text.trim_end()]);
}
