//! Values as a program prints them that has read them from a file with escapes.

use secret_placeholders::Secrets;

use super::secrets;

/// The line of a file, the value in it, and the value as a program prints it.
const SPELLINGS: [(&str, &str, &str); 11] = [
    ("{\"password\": \"{}\"}", "kX7q\\u0026zWm2Lr9aa", "kX7q&zWm2Lr9aa"),
    ("{\"password\": \"{}\"}", "p\\\"Q9zk!vT4mx", "p\"Q9zk!vT4mx"),
    ("{\"password\": \"{}\"}", "kX7q\\/zWm2Lr9aa", "kX7q/zWm2Lr9aa"),
    ("{\"password\": \"{}\"}", "kX7qzWm2Lr9aa\\n", "kX7qzWm2Lr9aa"),
    ("\"{\\\"password\\\": \\\"{}\\\"}\"", "k7Qz\\\\\\\"Wm2Rt9!x", "k7Qz\"Wm2Rt9!x"),
    ("DATABASE_URL=postgres://u:{}@host/db", "S3cr%40tPa55w0rd", "S3cr@tPa55w0rd"),
    ("{\"url\":\"https://u:{}@host\"}", "kX7q\\u0026z%40Wm2", "kX7q&z@Wm2"),
    ("url=https\\://svc\\:{}@host", "kX7q\\=zWm2", "kX7q=zWm2"),
    ("password: '{}'", "it''s-A-secret99x", "it's-A-secret99x"),
    ("IDENTIFIED BY '{}';", "it''s-A-secret99x", "it's-A-secret99x"),
    ("<password>{}</password>", "kX7q&amp;zWm2Lr9aa", "kX7q&zWm2Lr9aa"),
];

fn view(secrets: &Secrets, text: &str) -> String {
    let view = secrets.mask(text).into_owned();
    assert_eq!(secrets.restore(&view).unwrap(), text, "{view}");
    view
}

#[test]
fn a_value_is_hidden_as_a_program_prints_it_and_each_text_is_restored() {
    for (line, value, plain) in SPELLINGS {
        let file = format!("{}\n", line.replace("{}", value));
        let output = format!("u {plain} host\n");
        let secrets = secrets();
        // The control: before the file is read, the output alone has nothing to recognise.
        assert_eq!(view(&secrets, &output), output);
        let (file_view, output_view) = (view(&secrets, &file), view(&secrets, &output));
        assert!(!file_view.contains(&value[..4]) && file_view.contains(":1⟧"), "{file_view}");
        // Another placeholder: this one stands for other bytes.
        assert!(
            output_view.starts_with("u ⟦secret:") && output_view.ends_with(":2⟧ host\n"),
            "{output_view}"
        );
        // Both in one text, and again.
        assert_eq!(view(&secrets, &format!("{file}{output}")), format!("{file_view}{output_view}"));
        assert_eq!((view(&secrets, &file), view(&secrets, &output)), (file_view, output_view));
    }
}

#[test]
fn a_spelling_that_never_occurs_takes_no_number() {
    let secrets = secrets();
    let first = view(&secrets, "{\"password\": \"kX7q\\u0026zWm2Lr9aa\"}");
    let second = view(&secrets, "{\"password\": \"Rt8w\\u0026zWm2Lr9aa\"}");
    assert_eq!(first.replace(":1⟧", ":2⟧"), second);
}

#[test]
fn an_ordinary_word_that_a_value_may_stand_for_is_shown() {
    let secrets = secrets();
    for (file, output) in [
        ("{\"password\": \"ab\\u0026cd12345\"}\n", "cd12345 and ab\n"),
        ("password = \"C:\\\\Users\\\\backup\\\\archive-1\"\n", "in C:\\Users\\backup\\archive-1\n"),
        ("{\"password\": \"pos\\u0074gres-12\"}\n", "image: postgres\n"),
    ] {
        view(&secrets, file);
        assert_eq!(view(&secrets, output), output);
    }
}
