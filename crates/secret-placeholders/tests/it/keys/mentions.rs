//! Texts that mention keys, which stay unchanged: code, prose, hashes near them.

use memory_workspace::MemoryWorkspace;
use secret_placeholders::{PlaceholderWorkspace, Withheld};
use wap_core::{ModifyFile, ModifyOperation, WorkspaceExt};

use super::in_each_way;
use super::quoted::{boundary, key, parts_in};
use crate::masking::secrets;
use crate::over_workspace::{over, read, with_call};

/// A line of code or prose that mentions `BEGIN` and `END`, in place of these words.
const MENTIONS: [&str; 20] = [
    "if (!pem.startsWith(\"BEGIN\")) throw new TypeError(\"the key is not in PKCS#8 form\");",
    "return \"BEGIN\\n\" + chunk(encodeBase64(exportedKey), 64).join(\"\\n\") + \"\\nEND\";",
    "String body = pem.replace(\"BEGIN\", \"\").replaceAll(System.lineSeparator(), \"\").replace(\"END\", \"\");",
    "\tif strings.Contains(line, \"BEGIN\") { return errors.New(\"a private key is in the repository\") }",
    "        \"BEGIN\" => Ok(SectionKind::PrivateKeyInPkcs8Encoding),",
    "A file begins with `BEGIN` and ends with `END`, and between them is the key in Base64.",
    "| `BEGIN` | PKCS#8, as openssl writes it since version 1.0 | `END` |",
    "key=\"BEGIN\\nXXXX\\nXXXX\\nEND\"",
    "const pem = `BEGIN\\n${arrayBufferToBase64(exportedPrivateKey)}\\nEND`;",
    "pem = \"BEGIN\\n\" + base64.b64encode(privateKeyBytes).decode(\"ascii\") + \"\\nEND\"",
    "grep -rl -- 'BEGIN' . | while read -r file; do echo \"$file holds a PrivateKeyForSigning\"; done",
    "PEM_HEADER, PEM_FOOTER = \"BEGIN\", \"END\"",
    "assert_eq!(lines.first(), Some(&\"BEGIN\"), \"the first line of EncryptedPrivateKeyInfo\");",
    "$key = \"BEGIN\\n\" . wordwrap($rsaPrivateKeyWithoutHeaders, 64, \"\\n\", true) . \"\\nEND\";",
    "/BEGIN[\\s\\S]*?END/g.test(documentContentWithSecrets)",
    "    # BEGIN (see RFC 7468), then the TextualEncodingOfTheStructure",
    "expect(screen.getByPlaceholderText('BEGIN')).toBeInTheDocument(); userEvent.click(getSubmitButton());",
    "<code>BEGIN</code> is the EncapsulationBoundary of RFC 7468 <code>END</code>",
    "private static final String BEGIN_KEY = \"BEGIN\"; private static final String END_KEY = \"END\";",
    "key: \"BEGIN\\n...\\nEND\"",
];

fn written(line: &str) -> String {
    let line = line.replace("END_", "LAST_").replace("BEGIN_", "FIRST_");
    line.replace("BEGIN", &boundary("BEGIN"))
        .replace("END", &boundary("END").replace("END", "E?D"))
        .replace("E?D", "END")
}

#[test]
fn code_and_prose_that_mention_a_key_are_shown_and_edited() {
    for line in MENTIONS {
        let text = format!("# one\n{}\n", written(line));
        for (way, visible) in in_each_way(&text) {
            assert_eq!(visible, text, "{way}");
        }
        let masked = over([("a.txt", text.clone())]);
        let edit = ModifyOperation::ReplaceText {
            old_text: text.lines().nth(1).unwrap().to_owned(),
            new_text: "two".into(),
            expected_matches: None,
            whole_lines: None,
        };
        let request = ModifyFile { path: "a.txt".into(), operations: vec![edit], ..ModifyFile::default() };
        with_call(1, |call| masked.modify_file(call, &request)).unwrap();
        assert_eq!(masked.inner().text("a.txt").unwrap(), "# one\ntwo\n");
    }
    // The control: each of them with a key after the mention.
    let body = key(64)[1..].concat().replace(&boundary("END"), "");
    for line in MENTIONS {
        let text = written(&line.replacen("BEGIN", &format!("BEGIN\\n{body}\\n"), 1));
        for (way, visible) in in_each_way(&format!("# one\n{text}\n")) {
            assert_eq!(parts_in(&visible), 0, "{way}: {visible}");
        }
    }
}

#[test]
fn a_bundle_on_one_line_that_mentions_a_key_is_shown() {
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let code = format!("function e(t){{return n(t,\"{alphabet}\")}}var xQ9zKm2Wp7Rt4LsN=e;");
    let bundle = format!(
        "{}if(t.includes(\"{}\"))throw Error(\"x\");{}\n",
        code.repeat(1_000),
        boundary("BEGIN"),
        code.repeat(1_000)
    );
    assert_eq!(secrets().mask(&bundle), bundle);
}

#[test]
fn what_is_below_a_mention_is_not_hidden_elsewhere() {
    let script = format!("grep -rl -- '{}' . || exit 1\n", boundary("BEGIN"));
    let hash = |at: usize| key(1_600)[1][at..at + 86].to_owned() + "==";
    let lock: String = (0..4)
        .map(|package| {
            format!("      \"integrity\": \"sha512-{}\",\n      \"dev\": true\n", hash(20 + 90 * package))
        })
        .collect();
    let others = [
        lock.clone(),
        format!("256 SHA256:{} me@host (ED25519)\n", &hash(500)[..43]),
        format!("<img src=\"data:image/png;base64,{}\">\n", hash(600)),
        format!("id: {}\n", &hash(700)[..21]),
        format!("see github.com/x/y v1.2.3 h1:{}=\n", &hash(800)[..43]),
    ];
    for other in others {
        let text = format!("{script}{other}");
        for (way, visible) in in_each_way(&text) {
            assert_eq!(visible, text, "{way}");
        }
    }
    // Random text of equal lengths may be a key: it is hidden there, comes back, and is shown elsewhere.
    let ids: String =
        (0..3).map(|number| format!("id {number}: {}\n", &hash(100 * number + 30)[..24])).collect();
    let masked = over([("check.sh", format!("{script}{ids}")), ("ids.txt", ids.clone())]);
    let visible = read(&masked, "check.sh", None);
    assert_eq!(visible.matches("⟦secret:possible-key:").count(), 3, "{visible}");
    assert_eq!(read(&masked, "ids.txt", None), ids);
    let store = std::sync::Arc::new(secrets());
    let masked = PlaceholderWorkspace::new(
        MemoryWorkspace::with_files([("check.sh", format!("{script}{ids}"))]),
        Some(store.clone()),
        Withheld::default(),
    );
    let visible = read(&masked, "check.sh", None);
    assert_eq!(store.restore(&visible).unwrap(), format!("{script}{ids}"));
    // The control: text that is certainly a key is hidden everywhere from then on.
    let line = &key(64)[2];
    let numbered = format!("1: {}\n2: {}\n3: {line}\n", boundary("BEGIN"), key(64)[1]);
    let masked = over([("key.txt", numbered), ("other.txt", format!("- {line}\n"))]);
    read(&masked, "key.txt", None);
    assert_eq!(parts_in(&read(&masked, "other.txt", None)), 0);
}

#[test]
fn a_part_that_turns_out_to_be_of_a_key_is_hidden_elsewhere_as_well() {
    let (first, second) = (key(64)[3].clone(), key(64)[4].clone());
    let possible = format!("0: {}\n1: {first}\n2: {second}\n", boundary("BEGIN"));
    let certain = format!("{possible}3: {}\n", boundary("END"));
    let secrets = secrets();
    let early = secrets.mask(&possible).into_owned();
    assert!(early.contains("⟦secret:possible-key:1⟧"), "{early}");
    assert!(secrets.mask(&format!("- {first}\n")).contains(&first), "the control");
    let late = secrets.mask(&certain).into_owned();
    assert!(late.contains("⟦secret:private-key:1⟧"), "{late}");
    assert_eq!(secrets.mask(&format!("- {first}\n")), "- ⟦secret:private-key:1⟧\n");
    // Both placeholders mean the value.
    assert_eq!(secrets.restore(&early).unwrap(), possible);
    assert_eq!(secrets.restore(&late).unwrap(), certain);
}
