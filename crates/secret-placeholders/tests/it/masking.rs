//! The texts that are replaced, and the form of a placeholder.

mod below;
mod coloured;
mod forms;
mod generated;
mod nearby_names;
mod spellings;

use std::sync::Arc;

use secret_placeholders::{Marker, MemoryStore, PlaceholderStore, Secrets, StreamMask};

pub(crate) fn secrets() -> Secrets {
    Secrets::open(MemoryStore::default()).unwrap()
}

pub(crate) fn token() -> String {
    ["npm", "_", &"a1B2c3D4e5F6".repeat(3)].concat()
}

#[test]
fn the_same_value_has_the_same_placeholder_everywhere() {
    let secrets = secrets();
    let password = ["hunter", "2hunter", "2"].concat();
    let assigned = format!("password = \"{password}\"\n");
    assert_eq!(secrets.mask(&assigned), "password = \"⟦secret:password-assignment:1⟧\"\n");
    let elsewhere = format!("login with {password} or {}", token());
    assert_eq!(secrets.mask(&elsewhere), "login with ⟦secret:password-assignment:1⟧ or ⟦secret:npm-token:1⟧");
}

#[test]
fn words_and_paths_are_replaced_only_where_they_are_a_password() {
    for value in ["correct-horse-battery-7", "packages/core1/src", "Winter-Garden-2024"] {
        let secrets = secrets();
        let masked = secrets.mask(&format!("DB_PASSWORD={value}\n")).into_owned();
        let is_path = value.contains('/');
        assert_eq!(masked.contains(value), is_path, "{masked}");
        let elsewhere = format!("ls {value} ;");
        assert_eq!(secrets.mask(&elsewhere), elsewhere);
    }
    // What an earlier version has kept.
    let path = "/home/me/project1";
    let store = MemoryStore::default();
    let entry = |value: &str| {
        format!(
            r#"{{"version":1,"secrets":[{{"kind":"password-assignment","number":1,"value":"{value}"}}]}}"#
        )
    };
    store.update(&mut |_| Some(entry(path).into_bytes())).unwrap();
    let secrets = Secrets::open(store).unwrap();
    assert_eq!(secrets.mask(path), path);
    assert_eq!(secrets.restore("⟦secret:password-assignment:1⟧").unwrap(), path);
    // The control: a unique value.
    let store = MemoryStore::default();
    store.update(&mut |_| Some(entry("k7QzWm2Rt9x").into_bytes())).unwrap();
    let secrets = Secrets::open(store).unwrap();
    assert_eq!(secrets.mask("ls k7QzWm2Rt9x"), "ls ⟦secret:password-assignment:1⟧");
}

#[test]
fn a_secret_of_a_test_that_is_an_alphabet_hides_no_code() {
    for value in ["0123456789abcdef", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", "utf8mb4_bin", "x86_64-linux-gnu"] {
        let secrets = secrets();
        let field = format!("DB_PASSWORD={value}\nsecret = \"{value}{value}\"\n");
        let masked = secrets.mask(&field).into_owned();
        assert!(masked.starts_with("DB_PASSWORD=⟦secret:password-assignment:1⟧\n"), "{masked}");
        assert_eq!(secrets.restore(&masked).unwrap(), field);
        let code = format!("const DIGITS: &[u8] = b\"{value}\";\n");
        assert_eq!(secrets.mask(&code), code);
    }
    // The control: a value of a generator.
    let secrets = secrets();
    let value = ["kX7qzWm2", "Rt9xB"].concat();
    let _ = secrets.mask(&format!("DB_PASSWORD={value}\n"));
    assert_eq!(secrets.mask(&format!("b\"{value}\"")), "b\"⟦secret:password-assignment:1⟧\"");
}

#[test]
fn a_value_is_replaced_everywhere_in_the_text_in_which_it_is_found() {
    let password = ["hunter", "2hunter", "2"].concat();
    let text = format!("login with {password}\npassword = \"{password}\"\nor {password}\n");
    let secrets = secrets();
    let masked = secrets.mask(&text);
    assert!(!masked.contains(&password), "{masked}");
    assert_eq!(masked.matches("⟦secret:password-assignment:1⟧").count(), 3);
    assert_eq!(secrets.restore(&masked).unwrap(), text);
}

#[test]
fn a_value_after_one_that_does_not_count_is_found() {
    let password = ["aO00", "qfhjnNaw#ow"].concat();
    let secrets = secrets();
    let text = format!("password: 'db_password: '{password}',\n");
    assert_eq!(secrets.mask(&text), "password: 'db_password: '⟦secret:password-assignment:1⟧',\n");
}

#[test]
fn a_text_like_a_placeholder_is_data_and_comes_back() {
    let secrets = secrets();
    let text = format!("⟦secret:npm-token:1⟧ ⟦secret:npm-token:0⟧ {}", token());
    let masked = secrets.mask(&text).into_owned();
    assert_eq!(masked, "⟦secret:literal:1⟧ ⟦secret:literal:2⟧ ⟦secret:npm-token:1⟧");
    assert_eq!(secrets.restore(&masked).unwrap(), text);
    assert_eq!(secrets.mask_rest(&masked), masked);
}

#[test]
fn an_unknown_placeholder_is_left_and_one_without_a_value_is_refused() {
    let secrets = secrets();
    assert_eq!(secrets.restore("a ⟦secret:npm-token:7⟧").unwrap(), "a ⟦secret:npm-token:7⟧");
    let refused = secrets.restore("a ⟦secret:npm-token:0⟧").unwrap_err();
    insta::assert_snapshot!(refused, @"the value of ⟦secret:npm-token:0⟧ was not kept, so it cannot be restored; leave its line as it is");
}

#[test]
fn only_one_text_means_a_placeholder() {
    for text in ["⟦secret:a-1:12⟧", "⟦secret:a:0⟧"] {
        assert_eq!(Marker::parse(text).unwrap().to_string(), text);
    }
    for text in [
        "⟦secret:a:01⟧",
        "⟦secret:A:1⟧",
        "⟦secret::1⟧",
        "⟦secret:a:⟧",
        "⟦secret:a:1",
        "⟦secret:a:1234567890⟧",
        " ⟦secret:a:1⟧",
    ] {
        assert_eq!(Marker::parse(text), None, "{text}");
    }
}

#[test]
fn a_secret_in_two_pieces_of_a_stream_is_found() {
    let (secrets, token) = (Arc::new(secrets()), token());
    let text = format!("begin\nkey {token} end\nlast {token}");
    for cut in 0..=text.len() {
        let mut stream = StreamMask::new(&secrets);
        let mut visible = stream.push(&text.as_bytes()[..cut]);
        visible.push_str(&stream.push(&text.as_bytes()[cut..]));
        visible.push_str(&stream.finish());
        assert_eq!(visible, "begin\nkey ⟦secret:npm-token:1⟧ end\nlast ⟦secret:npm-token:1⟧");
    }
}

#[test]
fn a_folder_full_of_secrets_leaves_none_out() {
    let secrets = secrets();
    let all: String = (0..11_000).map(|number| format!("npm_{number:036}\n")).collect();
    let masked = secrets.mask(&all).into_owned();
    assert!(!masked.contains("npm_"));
    assert!(masked.contains("⟦secret:npm-token:5000⟧") && masked.contains("⟦secret:npm-token:0⟧"));
    assert!(secrets.restore(&masked).is_err(), "a value that is lost must not be overwritten");
}

#[test]
fn nothing_prints_the_values() {
    let secrets = secrets();
    let token = token();
    let _ = secrets.mask(&token);
    assert_eq!(format!("{secrets:?}"), "Secrets { .. }");
    let stream = StreamMask::new(&Arc::new(secrets));
    assert!(!format!("{stream:?}").contains(&token));
}
