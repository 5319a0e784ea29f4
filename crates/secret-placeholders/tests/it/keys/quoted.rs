//! Private keys with other text in their lines: numbered, quoted, printed by a log, in groups, in short lines.

use std::sync::Arc;

use secret_placeholders::{KeyTracker, StreamMask};

use super::in_each_way;
use crate::masking::secrets;
use crate::over_workspace::{over, read};

pub(super) fn boundary(word: &str) -> String {
    format!("-----{word} {}{}-----", "RSA PRIVATE ", "KEY")
}

/// Characters as random as those of a key, the same each time, after the usual beginning of such a key.
pub(super) fn body(length: usize) -> String {
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut state = 88_172_645_463_325_252_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(letters[(state >> 33) as usize % letters.len()])
    };
    let random: String = std::iter::repeat_with(&mut next).take(length).collect();
    format!("MIIEowIBAAKCAQEA{random}xQ==")
}

pub(super) fn key(width: usize) -> Vec<String> {
    let body = body(1_580);
    let lines = body.as_bytes().chunks(width).map(|line| String::from_utf8(line.to_vec()).unwrap());
    [boundary("BEGIN")].into_iter().chain(lines).chain([boundary("END")]).collect()
}

/// Returns how many of the parts of a key, of 8 characters each, a text shows.
pub(super) fn parts_in(text: &str) -> usize {
    let of_key = |character: &char| character.is_ascii_alphanumeric() || matches!(character, '+' | '/' | '=');
    let text: String = text.chars().filter(of_key).collect();
    let body = body(1_580);
    (0..body.len() - 8).step_by(4).filter(|at| text.contains(&body[*at..*at + 8])).count()
}

pub(super) fn in_form(lines: &[String], form: &str) -> String {
    let number = |index: usize| (index + 1).to_string();
    let lines = lines.iter().enumerate();
    lines.map(|(index, line)| form.replace('#', &number(index)).replace("{}", line) + "\n").collect()
}

/// The lines as in command output, source code and logs.
pub(super) const FORMS: [&str; 20] = [
    "     #\t{}",
    "#:{}",
    "dir/f.txt:#:{}",
    "#: {}",
    "{},{}",
    "^05d0a6e (A Name 2026-01-01 00:00:00 +0000 #) {}",
    "0123456789abcdef0123456789abcdef01234567 (A Name 2026-01-01 #) {}",
    "    b\"{}\\n\"",
    "  u8\"{}\\n\"",
    "key += '{}\\n'",
    "k = k & \"{}\" & vbLf",
    "echo '{}' >> k.pem",
    "REM {}",
    "{}<br>",
    "2026-01-01T00:00:00Z INFO {}",
    "  . \"{}\\n\";",
    "{}  // line #",
    "| # | {} |",
    "- {} (#)",
    "<line number=\"#\">{}</line>",
];

#[test]
fn a_key_with_other_text_in_its_lines_is_hidden() {
    let key = key(64);
    for form in FORMS {
        let text = in_form(&key, form);
        // The control.
        assert!(parts_in(&text) > 300, "{form}");
        for (first, last) in [(0, key.len()), (0, key.len() - 1), (1, key.len())] {
            let text = in_form(&key[first..last], form);
            let masker = secrets();
            let masked = masker.mask(&text).into_owned();
            assert_eq!(parts_in(&masked), 0, "{form}: {masked}");
            assert_eq!(masker.restore(&masked).unwrap(), text, "{form}");
            assert_eq!(masker.mask_rest(&masked), masked, "{form}");
            assert_eq!(masked.lines().count(), last - first);
        }
        // Some lines from the middle of a file.
        let workspace = over([("f.txt", text.clone())]);
        assert_eq!(parts_in(&read(&workspace, "f.txt", Some((7, 9)))), 0, "{form}");
        let mut stream = StreamMask::new(&Arc::new(secrets()));
        let mut visible: String =
            text.split_inclusive('\n').map(|line| stream.push(line.as_bytes())).collect();
        visible.push_str(&stream.finish());
        assert_eq!(parts_in(&visible), 0, "{form}: {visible}");
    }
}

#[test]
fn text_next_to_the_lines_of_a_key_is_shown() {
    let masker = secrets();
    let text = in_form(&key(64)[..3], "dir/f.txt:#: {} // of the key");
    let body = masker.mask(&text).into_owned();
    let lines: Vec<&str> = body.lines().collect();
    assert_eq!(lines[1], "dir/f.txt:2: ⟦secret:private-key:1⟧ // of the key");
    assert_eq!(lines[2], "dir/f.txt:3: ⟦secret:private-key:2⟧ // of the key");
}

#[test]
fn a_key_in_short_lines_is_hidden_without_its_last_line_and_in_a_stream() {
    for width in [8, 10, 12, 15] {
        let key = key(width);
        for count in [2, 3, 4, 9, key.len() - 1, key.len()] {
            for form in ["{}", "    {}", "# {}", "\"{}\\n\" +"] {
                let form = form.replace('#', "//");
                let text = in_form(&key[..count], &form);
                let masked = secrets().mask(&text).into_owned();
                assert_eq!(parts_in(&masked), 0, "{width}, {count}: {masked}");
                let mut stream = StreamMask::new(&Arc::new(secrets()));
                let mut visible: String =
                    text.split_inclusive('\n').map(|line| stream.push(line.as_bytes())).collect();
                // Before the end of the output, too.
                assert_eq!(parts_in(&visible), 0, "{width}, {count}: {visible}");
                visible.push_str(&stream.finish());
                assert_eq!(parts_in(&visible), 0, "{width}, {count}: {visible}");
            }
        }
        if width < 10 {
            // Such a part of a numbered line may be a word.
            continue;
        }
        let numbered = in_form(&key, "  #\t{}");
        let masked = secrets().mask(&numbered).into_owned();
        assert_eq!(parts_in(&masked), 0, "{width}: {masked}");
    }
}

#[test]
fn a_key_on_one_line_is_hidden_in_each_notation() {
    let lines = key(64);
    let joined = |between: &str| lines.join(between);
    let escaped = joined("%0A").replace('+', "%2B").replace('/', "%2F").replace('=', "%3D");
    let texts = [
        format!("{{\"key\": \"{}\"}}\n", joined("\\n")),
        format!("key={} next\n", joined(" ")),
        format!("k=\"{}\";\n", joined("\\n\" + \"")),
        format!("$k = '{}';\n", joined("' . \"\\n\" . '")),
        format!("[\"{}\"]\n", joined("\", \"")),
        format!("<pre>{}</pre>\n", joined("<br>")),
        format!("<k>{}</k>\n", joined("&#xA;")),
        format!("key={escaped}&next=1\n"),
        format!("\"{}\"\n", joined("\\n").replace('/', "\\/")),
        format!("key: {}\n", joined("|")),
        format!("key: {}\n", joined("(LF)")),
    ];
    for text in texts {
        for (way, visible) in in_each_way(&text) {
            assert_eq!(parts_in(&visible), 0, "{way}: {visible}");
        }
        let masker = secrets();
        assert_eq!(masker.restore(&masker.mask(&text)).unwrap(), text);
    }
    // An escape before the value does not belong to it, and a header stays.
    let masked = secrets().mask(&format!("\"{}\\n\"\n", joined("\\n"))).into_owned();
    assert_eq!(
        masked,
        format!("\"{}\\n⟦secret:private-key:1⟧\\n{}\\n\"\n", lines[0], lines[lines.len() - 1])
    );
    let headed = joined("%0A").replacen(
        "%0A",
        "%0AProc-Type: 4,ENCRYPTED%0ADEK-Info: AES-128-CBC,0123456789ABCDEF%0A%0A",
        1,
    );
    let masked = secrets().mask(&headed).into_owned();
    assert!(parts_in(&masked) == 0 && masked.contains("DEK-Info"), "{masked}");
}

#[test]
fn a_key_is_hidden_in_the_colours_of_a_terminal() {
    let colour = |text: &str| format!("\u{1b}[01;31m\u{1b}[K{text}\u{1b}[m\u{1b}[K");
    let lines = key(64);
    let searched: String = lines
        .iter()
        .enumerate()
        .map(|(index, line)| {
            format!(
                "{}{}{}\n",
                colour(&index.to_string()),
                colour(":"),
                line.replace("PRIVATE", &colour("PRIVATE"))
            )
        })
        .collect();
    let changed: String =
        lines.iter().map(|line| format!("\u{1b}[32m+\u{1b}[m\u{1b}[32m{line}\u{1b}[m\n")).collect();
    for text in [&searched, &changed] {
        let masker = secrets();
        let plain = masker.mask(&lines.join("\n")).into_owned();
        let masked = masker.mask(text).into_owned();
        assert_eq!(parts_in(&masked), 0, "{masked}");
        // With the placeholders that the file has.
        let placeholders = |text: &str| {
            text.split('⟦').skip(1).map(|part| part.split('⟧').next().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(placeholders(&masked), placeholders(&plain));
        assert_eq!(masker.restore(&masked).unwrap(), *text);
        let mut stream = StreamMask::new(&Arc::new(secrets()));
        let visible: String = text.split_inclusive('\n').map(|line| stream.push(line.as_bytes())).collect();
        assert_eq!(parts_in(&(visible + &stream.finish())), 0);
        let mut keys = KeyTracker::default();
        keys.push(&text[..text.len() / 2]);
        assert!(keys.first_line().ends_with("\n"));
    }
    let assigned = format!("{}=\"{}\"\n", colour("password"), ["kX7qz", "Wm2Rt9"].concat());
    assert!(!secrets().mask(&assigned).contains("kX7q"));
}

#[test]
fn the_first_line_of_an_encrypted_key_is_hidden_while_it_is_printed() {
    let mut lines = key(64);
    lines.remove(1);
    lines.splice(
        1..1,
        ["Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-128-CBC,0123456789ABCDEF", ""].map(str::to_owned),
    );
    for form in ["     #\t{}", "f.pem:#:{}", "2026-01-01T00:00:00Z INFO {}"] {
        for count in [5, 6, lines.len()] {
            let text = in_form(&lines[..count], form);
            for (way, visible) in in_each_way(&text) {
                assert_eq!(parts_in(&visible), 0, "{way}: {visible}");
                assert!(visible.contains("DEK-Info: AES-128-CBC"), "{way}: {visible}");
            }
        }
    }
}

#[test]
fn a_key_in_groups_is_hidden() {
    for (group, end) in [(8, 0), (4, 0), (16, 0), (8, 1)] {
        let mut lines = key(64);
        let last = lines.len() - 1;
        for line in &mut lines[1..last] {
            let groups = line.as_bytes().chunks(group).map(|part| String::from_utf8(part.to_vec()).unwrap());
            *line = groups.collect::<Vec<_>>().join(" ");
        }
        let text = lines[..lines.len() - end].join("\n");
        let masker = secrets();
        let masked = masker.mask(&text).into_owned();
        assert_eq!(parts_in(&masked), 0, "{masked}");
        assert_eq!(masker.restore(&masked).unwrap(), text);
    }
}

#[test]
fn code_prose_and_public_keys_below_a_mention_are_shown() {
    let (begin, end) = (boundary("BEGIN"), boundary("END"));
    let certificate = |word: &str| format!("-----{word} CERTIFICATE-----");
    let block = key(64)[2..21].join("\n");
    let code = "    let spec = new PKCS8EncodedKeySpec(decodeBase64Url(encodedPrivateKey));\n    \
        return\n    }\n    else\n    createRsaPrivateKeyFor(getKeyAsPemFromDer, sha256WithRsaEncryption);\n    \
        open(\"/usr/local/share/ca-certificates/OurOrganisation2.crt\") XMLHttpRequestFactory\n";
    let texts = [
        format!("if pem.starts_with(\"{begin}\") {{\n{code}}}\n"),
        format!("const BEGIN = \"{begin}\";\n{code}const END = \"{end}\";\n{code}"),
        format!("let text = \"{begin}\\n\"\n    + encodeToBase64String(privateKeyBytes)\n    + \"{end}\";\n"),
        format!("A key begins with `{begin}`.\n\nThe words below are shown.\n\nword\n"),
        format!(
            "Keep `{begin}`\nsecret. This is public:\n{}\n{block}\n{}\n",
            certificate("BEGIN"),
            certificate("END")
        ),
        format!("Not a `{begin}`:\nssh-rsa AAAAB3{} me@host\n", &block[..60]),
        format!("`{begin}`\n{}password hashes:\n{block}\n", "- some line - of text -\n".repeat(17)),
        format!("see {begin}\ntoday, and\nTypeScript\nas well\n"),
    ];
    for text in texts {
        assert_eq!(secrets().mask(&text), text);
        let mut stream = StreamMask::new(&Arc::new(secrets()));
        let visible: String = text.split_inclusive('\n').map(|line| stream.push(line.as_bytes())).collect();
        assert_eq!(visible + &stream.finish(), text);
    }
}

#[test]
fn a_mention_of_a_first_line_is_over_for_a_tracker_some_lines_later() {
    let mut keys = KeyTracker::default();
    keys.push(&format!("if text == \"{}\" {{\n", boundary("BEGIN")));
    for _ in 0..40 {
        keys.push("    call(one, two);\n");
    }
    assert_eq!(keys.first_line(), "");
    // The control: lines of a key go on for as long as there are any.
    keys.push(&in_form(&key(64)[..2], "#: {}"));
    for line in &key(64)[2..20] {
        keys.push(&format!("9: {line}\n"));
    }
    assert_ne!(keys.first_line(), "");
    // The next line is hidden by itself, though it does not begin like a key, but not after a mention.
    let next = format!("{}9: {}\n", keys.first_line(), key(64)[20]);
    assert_eq!(parts_in(&secrets().mask(&next)), 0, "{next}");
    let mut keys = KeyTracker::default();
    keys.push(&format!("if text == \"{}\" {{\n", boundary("BEGIN")));
    let next = format!("{}id 9: {}\n", keys.first_line(), &key(64)[20][..24]);
    assert_eq!(secrets().mask(&next), next);
}
