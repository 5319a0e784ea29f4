//! Scripts without an extension.

use code_index::Language;

use crate::fixture::{Fixture, symbols};

#[test]
fn a_script_without_an_extension_is_in_the_language_of_its_interpreter() {
    let cases = [
        ("#!/usr/bin/python3\n", Some(Language::Python)),
        ("#!/usr/bin/env python3.12\n", Some(Language::Python)),
        ("#! /usr/bin/env -S A=b node --experimental\n", Some(Language::JavaScript)),
        ("#!/opt/homebrew/bin/pypy3\r\n", Some(Language::Python)),
        ("#!/usr/bin/env\n", None),
        ("#!\n", None),
        ("#!/usr/bin/perl\n", None),
        ("#/usr/bin/python3\n", None),
        ("\n#!/usr/bin/python3\n", None),
        ("#!\u{fe}python\n", None),
        ("", None),
    ];
    for (text, expected) in cases {
        assert_eq!(Language::of_text("bin/tool", text.as_bytes()), expected, "{text:?}");
        // The controls: an extension decides alone, and hidden files stay hidden.
        assert_eq!(Language::of_text("bin/tool.txt", text.as_bytes()), None, "{text:?}");
        assert_eq!(Language::of_text("bin/.tool", text.as_bytes()), None, "{text:?}");
        assert_eq!(Language::of_text("bin/tool.go", text.as_bytes()), Some(Language::Go), "{text:?}");
    }
    assert_eq!(Language::of_text("bin/tool", b"#!python\xff\n"), None);
}

#[cfg(feature = "more-languages")]
#[test]
fn interpreters_of_more_languages_are_known() {
    let cases = [
        ("/bin/sh -e", Language::Bash),
        ("/usr/bin/env bash", Language::Bash),
        ("/usr/bin/env ruby2.7", Language::Ruby),
        ("/usr/bin/php", Language::Php),
        ("/usr/bin/lua5.4", Language::Lua),
        ("/usr/bin/env elixir", Language::Elixir),
        ("/usr/bin/env escript", Language::Erlang),
        ("/usr/bin/Rscript --vanilla", Language::R),
        ("/usr/bin/env pwsh", Language::PowerShell),
    ];
    for (interpreter, expected) in cases {
        let text = format!("#!{interpreter}\n");
        assert_eq!(Language::of_text("tool", text.as_bytes()), Some(expected), "{interpreter}");
    }
}

#[test]
fn the_definitions_of_such_a_script_are_listed() {
    let script = "#!/usr/bin/env python3\ndef run():\n    pass\n";
    let fixture = Fixture::new([("tool", script), ("notes", "def run():\n    pass\n")]);
    let index = fixture.index();
    let listed = symbols(&index, "tool").unwrap().symbols;
    assert_eq!(listed.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["run"]);
    assert!(symbols(&index, "notes").is_err());
}
