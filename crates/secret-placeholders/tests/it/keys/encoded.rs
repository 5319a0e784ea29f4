//! Keys that are recognised without a first line: bare encodings, PEM within Base64, and the forms of other programs.

use super::in_each_way;
use super::quoted::{body, boundary, key, parts_in};
use crate::masking::secrets;

/// Base64 of a text, as `base64 -w0` prints it.
pub(super) fn base64(text: &str) -> String {
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |bytes: &[u8]| -> String {
        let bits = (0..3).fold(0, |bits, at| bits << 8 | u32::from(*bytes.get(at).unwrap_or(&0)));
        let letter = |at: usize| char::from(letters[(bits >> (18 - 6 * at)) as usize & 63]);
        (0..4).map(|at| if at <= bytes.len() { letter(at) } else { '=' }).collect()
    };
    text.as_bytes().chunks(3).map(group).collect()
}

pub(super) fn wrapped(text: &str, width: usize, lead: &str) -> String {
    let lines = text.as_bytes().chunks(width).map(|line| str::from_utf8(line).unwrap());
    lines.map(|line| format!("{lead}{line}\n")).collect()
}

/// Random characters that are not the beginning of a key.
fn random(length: usize) -> String {
    body(length + 40)[30..30 + length].to_owned()
}

/// The first characters of keys: of RSA, elliptic curves, with a password, of OpenSSH.
const BEGINNINGS: [&str; 16] = [
    "MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSk",
    "MIICdQIBADANBgkqhkiG9w0BAQEFAASCAl8wggJb",
    "MIIEpAIBAAKCAQEAzrlsaQvvulpoIMyIdp9XtUaY",
    "MIICXAIBAAKBgQDMyIdp9XtUaYzrlsaQvvulpoIM",
    "MHcCAQEEICY8C8RScZz3k6yO9soXPXDFgAvwwQ9A",
    "MHQCAQEEIJJXkU8tLut7IqPEDwMKM2KvUQsBxs6B",
    "MIGkAgEBBDCbp9FRal6lIAzQOFYbVeTKHxoQX3nd",
    "MIHcAgEBBEIAgwur5rqYWoyPWyn5pMWbURkufBdi",
    "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0w",
    "MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGb",
    "MIHuAgEAMBAGByqGSM49AgEGBSuBBAAjBIHWMIHT",
    "MC4CAQAwBQYDK2VwBCIEICMmuh7QBMBDPBQWAx6M",
    "MIIFLTBXBgkqhkiG9w0BBQ0wSjApBgkqhkiG9w0B",
    "MIIE6jAcBgoqhkiG9w0BDAEDMA4ECDnZ6i1Wzgbc",
    "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9u",
    "MFECAQEwBQYDK2VwBCIEIFY8C8RScZz3k6yO9soX",
];

/// Those of certificates and public keys.
const PUBLIC: [&str; 5] = [
    "MIIC+TCCAeGgAwIBAgIUM+vmh3xLbuaihb5Q9oGV",
    "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKC",
    "MIIBCgKCAQEAzrlsaQvvulpoIMyIdp9XtUaYMIyI",
    "MCowBQYDK2VwAyEA0qX37cl/ADDe3FRrSltagAtd",
    "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAERI20",
];

#[test]
fn the_bare_encoding_of_a_key_is_hidden_and_that_of_a_certificate_is_not() {
    let forms: [&dyn Fn(&str) -> String; 7] = [
        &|value| format!("rsa.private-key={value}\nnext=1\n"),
        &|value| format!("  key: {value}\n  next: 1\n"),
        &|value| format!("{{\"key\": \"{value}\", \"next\": 1}}\n"),
        &|value| format!("{value}\nnext\n"),
        &|value| format!("key: |\n{}next: 1\n", wrapped(value, 64, "  ")),
        &|value| format!("{}# next\n", wrapped(value, 64, "// ")),
        &|value| {
            format!(
                "\"{}\" // next\n",
                value
                    .as_bytes()
                    .chunks(64)
                    .map(|part| str::from_utf8(part).unwrap())
                    .collect::<Vec<_>>()
                    .join("\\n")
            )
        },
    ];
    // The length of a short one says that it is whole.
    let rest = |beginning: &str| random(if beginning.starts_with("MC4") { 20 } else { 220 }) + "xQ==";
    for form in forms {
        for beginning in BEGINNINGS {
            let rest = rest(beginning);
            let text = form(&format!("{beginning}{rest}"));
            let parts = (0..rest.len() - 7).step_by(4).map(|at| &rest[at..at + 8]);
            for (way, visible) in in_each_way(&text) {
                assert_eq!(
                    parts.clone().filter(|part| visible.contains(part)).count(),
                    0,
                    "{way}: {visible}"
                );
                assert!(visible.contains("next"), "{way}: {visible}");
            }
            let masker = secrets();
            assert_eq!(masker.restore(&masker.mask(&text)).unwrap(), text);
        }
        for beginning in PUBLIC {
            let text = form(&format!("{beginning}{}", rest(beginning)));
            for (way, visible) in in_each_way(&text) {
                assert_eq!(visible, text, "{way}");
            }
        }
    }
    // A mention of the first characters is not a key.
    let mention = "A key begins with MIIEpAIBAAKCAQEA or MHcCAQEEI.\n";
    assert_eq!(secrets().mask(mention), mention);
}

#[test]
fn a_key_in_pem_form_within_base64_is_hidden_and_a_certificate_is_not() {
    let pem = key(64).join("\n") + "\n";
    let certificate = |lines: &str| {
        lines.replace("RSA PRIVATE KEY", "CERTIFICATE").replace("MIIEowIBAAKCAQEA", "MIIDzTCCArWgAwIBAg")
    };
    for lead in ["", " ", "é"] {
        for form in ["tls.key: {}\n", "    client-key-data: {}\n", "KEY={}\n", "{\"data\": \"{}\"}\n"] {
            let encoded = base64(&format!("{lead}{pem}"));
            let text = form.replace("{}", &encoded);
            for (way, visible) in in_each_way(&text) {
                assert!(!visible.contains(&encoded[200..240]), "{way}: {visible}");
                // A match is cut within the key.
                assert!(visible.contains('⟦') || way == "match", "{way}: {visible}");
                assert!(visible.starts_with(form.split("{}").next().unwrap()), "{way}: {visible}");
            }
            let text = form.replace("{}", &base64(&format!("{lead}{}", certificate(&pem))));
            for (way, visible) in in_each_way(&text) {
                let is_same =
                    if way == "match" { text.starts_with(visible.trim_end()) } else { visible == text };
                assert!(is_same, "{way}: {visible}");
            }
        }
    }
    // After a certificate, and in lines.
    let both = base64(&format!("{}{pem}", certificate(&pem)));
    assert!(!secrets().mask(&both).contains(&both[both.len() - 400..both.len() - 360]));
    let lines = wrapped(&base64(&pem), 76, "  ");
    for (way, visible) in in_each_way(&format!("data:\n{lines}next\n")) {
        let visible_lines = lines.lines().filter(|line| visible.contains(line.trim())).count();
        assert_eq!(visible_lines, 0, "{way}: {visible}");
        assert!(visible.contains("next"));
    }
}

#[test]
fn the_last_line_of_a_bare_key_is_hidden_whatever_its_length() {
    for width in [64, 70, 76] {
        for length in 300..312 {
            let value = format!("{}{}", BEGINNINGS[14], random(length));
            let value = &value[..value.len() / 4 * 4];
            for lead in ["", "  ", "+", "f.txt:12:", "     3\t"] {
                let text = format!("{}{lead}next\n", wrapped(value, width, lead));
                for (way, visible) in in_each_way(&text) {
                    let visible_lines = value.as_bytes().chunks(width).filter(|line| {
                        // Shorter text may be a word.
                        line.len() >= 8 && visible.contains(str::from_utf8(line).unwrap())
                    });
                    assert_eq!(visible_lines.count(), 0, "{way}, {width}, {length}, {lead:?}: {visible}");
                    assert!(visible.contains("next"), "{way}: {visible}");
                }
            }
        }
    }
}

#[test]
fn a_key_in_an_address_or_a_form_is_hidden() {
    let pem = key(64);
    let headed = || {
        let mut lines = pem.clone();
        lines.splice(
            1..1,
            ["Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-128-CBC,0123456789ABCDEF", ""].map(str::to_owned),
        );
        lines.join("\n")
    };
    let pgp = pem.join("\n").replace("RSA PRIVATE KEY", "PGP PRIVATE KEY BLOCK").replace("MIIEow", "lQOYBF");
    let encrypted = pem.join("\n").replace("RSA PRIVATE", "ENCRYPTED PRIVATE").replace("MIIEow", "MIIFHD");
    let escaped = |text: &str, blank: &str| -> String {
        let one = |character: char| match character {
            ' ' => blank.to_owned(),
            '-' | '_' | '.' => character.to_string(),
            _ if character.is_ascii_alphanumeric() => character.to_string(),
            _ => format!("%{:02X}", u32::from(character)),
        };
        text.chars().map(one).collect()
    };
    for text in [headed(), pgp, encrypted, pem.join("\n"), format!("a b\n{}\n", pem.join("\n"))] {
        for blank in ["%20", "+"] {
            for form in [
                "key={}&next=1\n",
                "GET /import?key={} HTTP/1.1 next\n",
                "+{\"url\": \"https://h/?k={}\"} next\n",
            ] {
                let text = form.replace("{}", &escaped(&text, blank));
                for (way, visible) in in_each_way(&text) {
                    // Only a few letters are left without what is escaped.
                    let plain = visible.replace("%2F", "/").replace("%2B", "+");
                    assert_eq!(parts_in(&plain), 0, "{way}, {form}: {visible}");
                    assert!(visible.contains("next") || way == "match", "{way}, {form}: {visible}");
                }
                let masker = secrets();
                assert_eq!(masker.restore(&masker.mask(&text)).unwrap(), text);
                // The control: a certificate is shown.
                let certificate =
                    text.replace("PRIVATE%20KEY", "CERTIFICATE").replace("PRIVATE+KEY", "CERTIFICATE");
                let certificate = certificate.replace("MII", "MIC").replace("lQO", "mQO");
                assert_eq!(secrets().mask(&certificate), certificate);
            }
        }
    }
    for mention in [
        "https://h/?q=BEGIN%20PRIVATE%20KEY&page=2\n",
        "GET /search?q=-----BEGIN+RSA+PRIVATE+KEY----- HTTP/1.1\n",
    ] {
        assert_eq!(secrets().mask(mention), mention);
    }
}

#[test]
fn the_keys_of_putty_and_of_ssh_are_hidden() {
    let lines = wrapped(&body(600), 64, "");
    let public: String = "AAAA".chars().chain(random(60).chars().rev()).collect();
    let ssh2 = |word: &str| {
        boundary(word)
            .replace("-----", "---- ")
            .replace("RSA ", "SSH2 ENCRYPTED ")
            .replace("KEY---- ", "KEY ----")
    };
    assert_eq!(ssh2("END"), "---- END SSH2 ENCRYPTED PRIVATE KEY ----");
    let texts = [
        format!(
            "PuTTY-User-Key-File-2: ssh-rsa\nEncryption: none\nComment: me\nPublic-Lines: 1\n{public}\nPrivate-Lines: 10\n{lines}\
            Private-MAC: 0123456789abcdef0123456789abcdef01234567\n"
        ),
        format!("{}\nComment: \"rsa-key\"\n{lines}{}\n", ssh2("BEGIN"), ssh2("END")),
    ];
    for text in texts {
        for lead in ["", "> ", "file:12: "] {
            let text: String = text.lines().map(|line| format!("{lead}{line}\n")).collect();
            for (way, visible) in in_each_way(&text) {
                assert_eq!(parts_in(&visible), 0, "{way}: {visible}");
                assert!(visible.contains("Comment: ") && visible.contains("\n"), "{way}: {visible}");
                assert!(!text.contains("Public") || visible.contains(&public), "{way}: {visible}");
            }
        }
        // The control: lines alone are not recognised.
        let alone = &lines[65..];
        assert_eq!(secrets().mask(alone), alone);
    }
}
