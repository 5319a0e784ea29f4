//! Files with a key in them whose encoding in Base64 is wrapped.

use std::ops::Range;

use super::encoded::{base64, wrapped};
use super::in_each_way;
use super::quoted::{in_form, key};
use crate::masking::secrets;

/// The bytes of a line that belong to a key and show more than its beginning.
const LEAST_VISIBLE_BYTES: usize = 24;

/// The first line of a key.
const FIRST_LINE_BYTES: usize = 40;

/// A key of a few lines, and a certificate like it.
fn pem() -> (String, String) {
    let mut lines = key(64);
    lines.drain(9..lines.len() - 2);
    let pem = lines.join("\n") + "\n";
    let certificate =
        pem.replace("RSA PRIVATE KEY", "CERTIFICATE").replace("MIIEowIBAAKCAQEA", "MIIDzTCCArWgAwIBAg");
    (pem, certificate)
}

/// Files in which a key is not the first thing, or not as a file has it: the text, and where the body of the key is in it.
fn files() -> Vec<(String, Range<usize>)> {
    let (pem, certificate) = pem();
    let parameters =
        ["-----BEGIN EC PARAMETERS-----\nBgUrgQQACg==\n-----", "END EC PARAMETERS-----"].concat();
    let json = format!(
        "{{\n  \"type\": \"service_account\",\n  \"project_id\": \"abc\",\n  \"private_key\": \"{}\",\n  \"client_id\": \"1\"\n}}\n",
        pem.replace('\n', "\\n")
    );
    let indented = pem.lines().map(|line| format!("      {line}\n")).collect::<String>();
    let texts = [
        json,
        format!("{certificate}{pem}{certificate}"),
        format!("# a comment\n{pem}"),
        format!("Bag Attributes\n    localKeyID: 01 02\nKey Attributes: <No Attributes>\n{pem}"),
        format!("users:\n- name: me\n  user:\n    key: |\n{indented}    token: x\n"),
        format!("{parameters}\n{pem}"),
        pem.clone(),
    ];
    let with_body = |text: String| {
        let first = "MIIEowIBAAKCAQEA";
        let (start, end) = (text.find(first).unwrap(), text.rfind("xQ==").unwrap());
        // The certificate after the key ends like it.
        let end = text[start..].find("-----END RSA").map_or(end, |behind| start + behind);
        (text, start..end)
    };
    texts.into_iter().map(with_body).collect()
}

/// Returns the lines of an encoding that show a part of the body, and the lines before it that show nothing.
fn secret_lines(encoded: &str, width: usize, body: &Range<usize>) -> (Vec<String>, Vec<String>) {
    let lines = encoded.as_bytes().chunks(width).map(|line| str::from_utf8(line).unwrap().to_owned());
    let (mut secret, mut harmless) = (Vec::new(), Vec::new());
    for (index, line) in lines.enumerate() {
        let (start, end) = (index * width * 3 / 4, (index + 1) * width * 3 / 4);
        let of_body = end.min(body.end).saturating_sub(start.max(body.start));
        if of_body >= LEAST_VISIBLE_BYTES.min(line.len() / 2) {
            secret.push(line);
        } else if end + FIRST_LINE_BYTES < body.start {
            harmless.push(line);
        }
    }
    (secret, harmless)
}

/// The lines as in files and in command output.
const FORMS: [&str; 10] = [
    "{}",
    "  {}",
    "+{}",
    "//{}",
    "     #\t{}",
    "dir/f.txt:#:{}",
    "src/a/long/path/of/folders/without/any/sign/file.txt:{}",
    "    \"{}\\n\" +",
    "^05d0a6e (A Name 2026-01-01 00:00:00 +0000 #) {}",
    "\u{1b}[35mf.txt\u{1b}[m\u{1b}[36m:\u{1b}[m{}",
];

#[test]
fn the_lines_of_a_wrapped_encoding_that_are_of_a_key_are_hidden() {
    for (text, body) in files() {
        let encoded = base64(&text);
        for (width, form) in [64, 76].into_iter().flat_map(|width| FORMS.map(|form| (width, form))) {
            let lines: Vec<String> = wrapped(&encoded, width, "").lines().map(str::to_owned).collect();
            let (secret, harmless) = secret_lines(&encoded, width, &body);
            assert!(secret.len() > 7, "the control");
            let text = in_form(&lines, form);
            for (way, visible) in in_each_way(&text) {
                for line in &secret {
                    assert!(!visible.contains(&**line), "{way}, {width}, {form}: {line} in {visible}");
                }
                // The text before the key is shown, including the prefixes of its lines.
                let is_visible = way == "match" || harmless.iter().all(|line| visible.contains(&**line));
                assert!(is_visible, "{way}, {width}, {form}: {visible}");
            }
            let masker = secrets();
            let masked = masker.mask(&text).into_owned();
            assert_eq!(masker.restore(&masked).unwrap(), text);
        }
    }
}

#[test]
fn a_key_is_recognised_wherever_the_lines_are_divided() {
    let (text, body) = files().swap_remove(2);
    for width in [76, 70, 64, 57] {
        for before in 0..60 {
            let text = format!("{}{text}", "#".repeat(before));
            let encoded = base64(&text);
            let (secret, _) = secret_lines(&encoded, width, &(body.start + before..body.end + before));
            let forms = [wrapped(&encoded, width, ""), wrapped(&encoded, width, "").replace('\n', "\\n")];
            for text in forms {
                let masked = secrets().mask(&text).into_owned();
                let visible: Vec<&String> = secret.iter().filter(|line| masked.contains(&***line)).collect();
                assert!(visible.is_empty() && secret.len() > 7, "{width}, {before}: {visible:?}");
            }
        }
    }
}

#[test]
fn a_wrapped_encoding_on_one_line_hides_a_key_that_is_not_at_its_beginning() {
    for (text, body) in files() {
        let encoded = base64(&text);
        let (secret, harmless) = secret_lines(&encoded, 60, &body);
        for (end, form) in [
            ("\\n", "{\"content\": \"{}\\n\"}\n"),
            ("\\r\\n", "k = '{}'\n"),
            ("%0A", "data={}&x=1\n"),
            ("\\u000a", "\"{}\"\n"),
        ] {
            let text = form.replace("{}", wrapped(&encoded, 60, "").trim_end()).replace('\n', end) + "\n";
            for (way, visible) in in_each_way(&text) {
                let visible_lines: Vec<&String> =
                    secret.iter().filter(|line| visible.contains(&***line)).collect();
                assert!(visible_lines.is_empty(), "{way}, {end}: {visible_lines:?} in {visible}");
            }
            // The control: the text before it is shown if there is no beginning of a key.
            let masked = secrets().mask(&text).into_owned();
            assert!(
                harmless.is_empty() || masked.contains(&harmless[0]) || form.contains('%'),
                "{end}: {masked}"
            );
        }
    }
}

#[test]
fn wrapped_encodings_of_other_files_are_shown() {
    let (_, certificate) = pem();
    let mention = "if !pem.contains(\"BEGIN PRIVATE KEY\") {\n    return Err(Error::Missing);\n}\n".repeat(6);
    let binary: String = (0..1_000_u32).map(|at| char::from((at * at % 127) as u8)).collect();
    for text in [certificate.repeat(2), mention, binary] {
        for width in [57, 76] {
            for form in FORMS {
                let lines: Vec<String> =
                    wrapped(&base64(&text), width, "").lines().map(str::to_owned).collect();
                let text = in_form(&lines, form);
                for (way, visible) in in_each_way(&text) {
                    // There are more matches than an answer has.
                    let is_same =
                        if way == "match" { text.starts_with(visible.trim_end()) } else { visible == text };
                    assert!(is_same, "{way}, {width}, {form}: {visible}");
                }
            }
        }
    }
}

#[test]
fn a_difference_of_a_wrapped_encoding_hides_a_key_in_lines_of_each_sign() {
    let (text, body) = files().swap_remove(1);
    let encoded = base64(&text);
    let (secret, harmless) = secret_lines(&encoded, 76, &body);
    let lines: Vec<String> = wrapped(&encoded, 76, "").lines().map(str::to_owned).collect();
    for signs in [&[' ', '+'][..], &['+'], &['-'], &[' ', '-', '+'], &['+', '+', ' ']] {
        let signed =
            |(index, line): (usize, &String)| format!("{}{line}\n", signs[index * signs.len() / lines.len()]);
        let text: String = lines.iter().enumerate().map(signed).collect();
        for (way, visible) in in_each_way(&format!("@@ -1,9 +1,9 @@\n{text}")) {
            for line in &secret {
                assert!(!visible.contains(&**line), "{way}, {signs:?}: {line} in {visible}");
            }
            assert!(harmless.iter().all(|line| visible.contains(&**line)), "{way}, {signs:?}: {visible}");
        }
    }
}
