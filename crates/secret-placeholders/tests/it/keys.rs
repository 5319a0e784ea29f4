//! Private keys, whole and cut.

use crate::masking::secrets;

fn key(lines: usize) -> String {
    let body: String = (0..lines).map(|line| format!("{line:02}{}\n", "Ab3/".repeat(15))).collect();
    let boundary = |word| format!("-----{word} {}{}-----", "RSA PRIVATE ", "KEY");
    format!("{}\n{body}Zz9=\n{}\n", boundary("BEGIN"), boundary("END"))
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
