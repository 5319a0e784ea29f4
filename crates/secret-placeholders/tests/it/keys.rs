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
fn any_blank_in_front_of_the_last_line_of_a_key_is_a_blank() {
    let boundary = ["-----END PRIVATE ", "KEY-----"].concat();
    for blank in ["\u{a0}", "\u{2000}", "\u{3000}", " "] {
        let secrets = secrets();
        let text = format!("see{blank}{}{boundary}\n", "Ab3/".repeat(8));
        let masked = secrets.mask(&text).into_owned();
        assert_eq!(masked, format!("see{blank}⟦secret:private-key:1⟧{boundary}\n"));
        assert_eq!(secrets.restore(&masked).unwrap(), text);
    }
}
