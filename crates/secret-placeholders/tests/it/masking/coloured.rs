//! Values with other characters between their own: colours, and the NULs of UTF-16.

use std::sync::Arc;

use secret_placeholders::{RestoreError, Secrets, StreamMask};
use wap_core::{WorkspaceExt, WriteFile, WriteMode};

use super::{secrets, token};
use crate::over_workspace::{over, read, with_call};

/// A part in the colours of a match, as `grep --color=always` prints it.
fn coloured(text: &str) -> String {
    format!("\u{1b}[01;31m\u{1b}[K{text}\u{1b}[m\u{1b}[K")
}

fn streamed(secrets: &Arc<Secrets>, text: &str) -> String {
    let mut stream = StreamMask::new(secrets);
    let visible: String = text.split_inclusive('\n').map(|line| stream.push(line.as_bytes())).collect();
    visible + &stream.finish()
}

fn password() -> String {
    ["k7Qz", "Wm2", "Rt9x"].concat()
}

#[test]
fn a_known_value_is_hidden_with_colours_in_it() {
    let secrets = Arc::new(secrets());
    let _ = secrets.mask(&format!("password = \"{}\"\n", password()));
    let line = format!("Server=x;Word=k7Qz{}Rt9x;y\n", coloured("Wm2"));
    let visible = streamed(&secrets, &line);
    assert_eq!(visible, "Server=x;Word=⟦secret:password-assignment:1⟧;y\n");
    assert!(!secrets.mask(&line).contains("k7Qz"));
    // The control: another value is shown.
    let other = line.replace("k7Qz", "k8Qz");
    assert_eq!(streamed(&secrets, &other), other);
}

#[test]
fn a_printed_value_has_the_placeholder_that_it_has_without_colours() {
    for (value, text) in [(password(), "{\"password\": \"#\"}\n"), (token(), "token #\n")] {
        let secrets = Arc::new(secrets());
        let (start, end) = (&value[..4], &value[7..]);
        let line = text.replace('#', &format!("{start}{}{end}", coloured(&value[4..7])));
        let visible = streamed(&secrets, &line);
        let plain = secrets.mask(&text.replace('#', &value)).into_owned();
        assert_eq!(visible, plain);
        assert!(visible.contains(":1⟧"), "{visible}");
        assert_eq!(secrets.restore(&visible).unwrap(), text.replace('#', &value));
        // In a file, the value without them would be different: it is not restored.
        let masked = secrets.mask(&line).into_owned();
        assert!(masked.contains(":0⟧") && !masked.contains(start), "{masked}");
        assert!(matches!(secrets.restore(&masked), Err(RestoreError::NotKept(_))));
    }
}

#[test]
fn no_placeholder_writes_the_colours_of_a_terminal() {
    let line = format!("{{\"password\": \"k7Qz{}Rt9x\"}}\n", coloured("Wm2"));
    let workspace = over([("log.txt", line.clone())]);
    let visible = read(&workspace, "log.txt", None);
    assert_eq!(visible, "{\"password\": \"⟦secret:password-assignment:0⟧\"}\n");
    let write = |path: &str, content: &str| {
        let request = WriteFile {
            path: path.into(),
            content: content.into(),
            mode: Some(WriteMode::Create),
            ..WriteFile::default()
        };
        with_call(1, |call| workspace.write_file(call, &request)).map(|_| ())
    };
    assert!(write("new.json", &visible).is_err());
    assert_eq!(workspace.inner().text("new.json"), None);
    // The control: that of the value without colours is written.
    write("other.json", "{\"a\": \"⟦secret:password-assignment:1⟧\"}\n").unwrap();
    assert_eq!(workspace.inner().text("other.json").unwrap(), format!("{{\"a\": \"{}\"}}\n", password()));
}

#[test]
fn a_value_that_is_cut_within_colours_shows_no_part() {
    let secrets = Arc::new(secrets());
    let _ = secrets.mask(&format!("password = \"{}\"\n", password()));
    let hunk =
        format!("@@ -1,2 +1,2 @@ {}k7Qz{}", "a ".repeat(40), "\u{1b}[01;31m\u{1b}[KWm2Rt9\u{1b}[m\u{1b}[K\n");
    let visible = streamed(&secrets, &hunk);
    assert!(!visible.contains("Wm2Rt9") && visible.contains("a a"), "{visible}");
}

#[test]
fn values_in_wide_characters_are_hidden() {
    let key = crate::keys::key(4);
    let text = format!("first\npassword = \"{}\"\ntoken {}\n{key}last\n", password(), token());
    let units = |bytes: usize, is_little: bool| -> String {
        let nuls = "\0".repeat(bytes - 1);
        let one = |character: char| match is_little {
            true => format!("{character}{nuls}"),
            false => format!("{nuls}{character}"),
        };
        text.chars().map(one).collect()
    };
    for (bytes, is_little) in [(2, true), (2, false), (4, true), (4, false)] {
        let wide = units(bytes, is_little);
        for lead in ["", "\u{fffd}\u{fffd}"] {
            let text = format!("{lead}{wide}");
            let ways = [
                ("stream", streamed(&Arc::new(secrets()), &text)),
                ("whole", secrets().mask(&text).into_owned()),
            ];
            for (way, visible) in ways {
                let visible = visible.replace('\0', "");
                for part in [&password()[..5], &token()[4..12], "Ab3/"] {
                    assert!(!visible.contains(part), "{way}, {bytes}, {is_little}: {visible}");
                }
                assert!(
                    visible.contains("first\npassword = \"⟦") && visible.ends_with("last\n"),
                    "{way}: {visible}"
                );
            }
        }
    }
}

#[test]
fn nuls_between_words_end_a_value() {
    let text = format!("A=1\0TOKEN={}\0B=2\0PASSWORD=\"{}\"\0C=3\n", token(), password());
    for visible in [streamed(&Arc::new(secrets()), &text), secrets().mask(&text).into_owned()] {
        assert!(!visible.contains(&token()[..12]) && !visible.contains("k7Qz"), "{visible}");
        assert!(visible.contains("⟧\0B=2\0") && visible.contains("\0C=3"), "{visible}");
    }
    // The control: of ordinary lists, nothing is hidden.
    let list = "a.rs\0b\0c\0d\0e\0src/lib.rs\0\n";
    assert_eq!(secrets().mask(list), list);
}
