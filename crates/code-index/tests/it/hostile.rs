//! Hostile sources.

use std::time::{Duration, Instant};

use code_index::IndexLimits;
use wap_core::{CodeIndex, DiagnoseImpact, ReadAst, ReadImpact};

use crate::fixture::{Fixture, call, paths, refresh, symbols};

/// A hang guard: far longer than any of these tests takes.
const GUARD: Duration = Duration::from_secs(60);

#[test]
fn deep_nesting_and_broken_sources_terminate() {
    let depth = 100_000;
    let brackets = "(".repeat(depth);
    let sources = [
        ("deep.rs", format!("fn f() {{ {brackets} }}\n")),
        ("deep.py", format!("x = {}\n", "[".repeat(depth))),
        ("deep.js", format!("var x = {}1{};\n", "[".repeat(depth), "]".repeat(depth))),
        ("deep.ts", "class A {".repeat(20_000)),
        ("deep.go", format!("package a\nfunc f() {}\n", "{".repeat(depth))),
        ("deep.java", "class A {".repeat(20_000)),
        ("deep.c", format!("int x = {brackets};\n")),
        ("deep.cpp", "namespace a {".repeat(20_000)),
        ("deep.cs", "namespace A {".repeat(20_000)),
        ("uses.rs", format!("use {}a{};\n", "a::{".repeat(20_000), "}".repeat(20_000))),
        ("declarator.c", format!("int {}x;\n", "*".repeat(depth))),
        ("templates.cpp", format!("{}int{} x;\n", "a<".repeat(20_000), ">".repeat(20_000))),
        ("namespaces.cs", format!("{}{}", "namespace a{".repeat(20_000), "}".repeat(20_000))),
        ("namespaces.ts", format!("{}{}", "namespace a{".repeat(20_000), "}".repeat(20_000))),
        ("names.go", format!("package p\nvar {}a = 1\n", "a, ".repeat(100_000))),
        ("fields.java", format!("class A {{ int {}a; }}\n", "a, ".repeat(100_000))),
        ("constants.js", format!("const {}a = 1;\n", "a = () => 1, ".repeat(20_000))),
        ("fine.rs", "fn fine() {}\n".to_owned()),
    ];
    let fixture = Fixture::new(sources.clone());
    let (index, _) = fixture.open();
    let began = Instant::now();
    refresh(&index);
    for (path, _) in &sources {
        let _ = symbols(&index, path);
        let _ = call(|call| index.ast(call, &ReadAst { file: (*path).into(), max_nodes: 100_000 }));
        call(|call| index.impact(call, &ReadImpact { file: (*path).into(), max_depth: 100 })).unwrap();
    }
    assert!(began.elapsed() < GUARD, "{:?}", began.elapsed());
    assert_eq!(paths(&index, "fine")[0], "fine.rs");
}

#[cfg(feature = "more-languages")]
#[test]
fn more_languages_come_to_an_end() {
    let many = 20_000;
    let sources = [
        ("classes.rb", "class A\n".repeat(many)),
        ("constants.rb", format!("{}A = 1\n", "A, ".repeat(50_000))),
        ("attributes.rb", format!("class A\nattr_reader {}:a\nend\n", ":a, ".repeat(50_000))),
        ("created.rb", format!("{}1{}\n", "A = (A.new ".repeat(many), ")".repeat(many))),
        ("nested.php", format!("<?php {}", "class A { function f() { return new class { ".repeat(many / 4))),
        ("constants.php", format!("<?php const {}A = 1;\n", "A = 1, ".repeat(50_000))),
        ("uses.php", format!("<?php use A\\{{{}B}};\n", "B, ".repeat(50_000))),
        ("required.php", format!("<?php {}'a'{};\n", "require (".repeat(many), " . 'b') . 'c'".repeat(many))),
        ("names.lua", format!("local {}a = 1\n", "a, ".repeat(50_000))),
        ("comments.lua", format!("a, {}{}b = 1\nc = 1\n", "--\n".repeat(50_000), "b, ".repeat(50_000))),
        ("functions.lua", "function f() ".repeat(many)),
        ("tables.lua", format!("a = {}", "{ a = ".repeat(many))),
        ("functions.sh", "f() {\n".repeat(many)),
        ("declared.sh", format!("declare {}\n", "a=1 ".repeat(50_000))),
        ("aliases.sh", format!("alias {}\n", "a=b ".repeat(50_000))),
        ("sourced.sh", format!("{}a{}\n", "source \"$(".repeat(many), ")\"".repeat(many))),
        ("modules.ex", "defmodule A do\n".repeat(many)),
        ("guards.ex", format!("def f(a) {}, do: 1\n", "when a ".repeat(many))),
        ("aliases.ex", format!("alias A.{{{}B}}\n", "B, ".repeat(50_000))),
        ("nested.erl", format!("f() -> {}", "(".repeat(50_000))),
        ("fields.erl", format!("-record(a, {{{}a}}).\n", "a, ".repeat(50_000))),
        ("structs.zig", "const A = struct { ".repeat(many)),
        ("closed.zig", format!("{}{}", "const A = struct { ".repeat(many), "};".repeat(many))),
        ("closed.ex", format!("{}{}", "defmodule A do\n".repeat(many), "end\n".repeat(many))),
        ("closed.rb", format!("{}{}", "class A\n".repeat(many), "end\n".repeat(many))),
        ("closed.lua", format!("{}{}", "function f() ".repeat(many), "end ".repeat(many))),
        ("path.zig", format!("const a = {}a;\n", "a.".repeat(50_000))),
        ("functions.R", "f <- function() {\n".repeat(many)),
        ("assigned.R", format!("{}1\n", "a <- ".repeat(50_000))),
        ("lists.R", format!("R6Class(\"A\", {}", "public = list(a = ".repeat(many))),
        ("classes.dart", "class A { void f() { ".repeat(many / 2)),
        ("names.dart", format!("int {}a;\n", "a, ".repeat(50_000))),
        ("functions.ps1", "function A {\n".repeat(many)),
        ("commands.ps1", "a { ".repeat(many)),
        ("left.ps1", format!("{}$a{}\n", "$(".repeat(many), " = 1) = 1".repeat(many))),
        ("assigned.ps1", format!("{}1\n", "$a = ".repeat(many))),
        ("fine.lua", "function fine() end\n".to_owned()),
    ];
    let mut fixture = Fixture::new(sources.clone());
    // Long enough that parsed trees are also read.
    fixture.limits.parse_time = GUARD / 4;
    let (index, _) = fixture.open();
    let began = Instant::now();
    refresh(&index);
    for (path, _) in &sources {
        let _ = symbols(&index, path);
        call(|call| index.impact(call, &ReadImpact { file: (*path).into(), max_depth: 100 })).unwrap();
    }
    assert!(began.elapsed() < GUARD, "{:?}", began.elapsed());
    assert_eq!(paths(&index, "fine")[0], "fine.lua");
    // The guard is only useful if these were parsed completely.
    for path in ["constants.rb", "names.lua", "comments.lua", "declared.sh", "names.dart", "assigned.ps1"] {
        assert!(!symbols(&index, path).unwrap().symbols.is_empty(), "{path}");
    }
}

#[test]
fn a_parse_that_takes_too_long_leaves_the_words() {
    let mut fixture = Fixture::new([("slow.rs", "fn findable() {}\n".repeat(20_000))]);
    fixture.limits.parse_time = Duration::ZERO;
    let index = fixture.index();
    assert_eq!(paths(&index, "findable"), ["slow.rs"]);
}

#[test]
fn an_outline_that_takes_too_long_leaves_the_words() {
    // Each module looks for attributes before it, among all statements of the file.
    let source = |statements| format!("{}{}\n// findable\n", ";".repeat(statements), "mod a;".repeat(4_000));
    let modules = |statements, time| {
        let mut fixture = Fixture::new([("slow.rs", source(statements))]);
        fixture.limits.parse_time = time;
        let index = fixture.index();
        assert_eq!(paths(&index, "findable"), ["slow.rs"]);
        let request = DiagnoseImpact { file: None, limit: 1, offset: 0 };
        call(|call| index.impact_diagnostics(call, &request)).unwrap().total
    };
    assert_eq!(modules(1_000_000, IndexLimits::default().parse_time), 0);
    // The control: with more time and fewer statements all modules are read, up to the limit.
    assert_eq!(modules(10_000, GUARD), 2_000);
}

#[test]
fn large_and_binary_files_are_listed_and_not_read() {
    let mut fixture = Fixture::new([
        ("large.rs", "fn findable() {}\n".repeat(1_000).into_bytes()),
        ("binary.rs", b"fn findable() {}\n\0\0".to_vec()),
        ("utf16.rs", b"\xff\xfef\0n\0".to_vec()),
        ("latin.rs", b"// caf\xe9 findable\nfn findable() {}\n".to_vec()),
    ]);
    fixture.limits.file_bytes = 10_000;
    let index = fixture.index();
    assert_eq!(paths(&index, "findable"), ["latin.rs"]);
    assert_eq!(index.status().unwrap().files, 4);
    assert_eq!(refresh(&index).unchanged, 4);
}

#[test]
fn numbers_are_bounded() {
    let mut fixture = Fixture::new([
        (
            "a.rs",
            (0..500).map(|number| format!("use m{number}::x;\nfn f{number}() {{}}\n")).collect::<String>(),
        ),
        ("b.rs", "fn b() {}\n".to_owned()),
        ("c.rs", "fn c() {}\n".to_owned()),
    ]);
    fixture.limits.symbols = 100;
    fixture.limits.files = 2;
    let index = fixture.index();
    assert_eq!(symbols(&index, "a.rs").unwrap().symbols.len(), 100);
    assert_eq!(index.status().unwrap().files, 2);
}

#[test]
fn hostile_manifests_are_ignored() {
    let fixture = Fixture::new([
        (
            "tsconfig.json",
            "{\"extends\": \"./tsconfig.json\", \"compilerOptions\": {\"paths\": {\"*\": [\"../../*\"]}}}"
                .to_owned(),
        ),
        ("a/package.json", "{\"name\": \"a\", \"main\": \"../b\"}".to_owned()),
        ("b/package.json", "{\"name\": \"b\", \"main\": \"../a\"}".to_owned()),
        ("deep/tsconfig.json", "[".repeat(100_000)),
        ("deep/package.json", "[".repeat(100_000)),
        ("deep/Cargo.toml", format!("a = {}", "[".repeat(100_000))),
        ("go.mod", "module\nreplace (\n".to_owned()),
        (
            "deep/x.ts",
            "import a from 'a'; import b from '../b'; import c from 'c'; import d from '../../../d';\n"
                .to_owned(),
        ),
        ("Cargo.toml", "[package]\nname = \"x\"\n[lib]\npath = \"../../outside.rs\"\n".to_owned()),
        (
            "src/lib.rs",
            "mod lib;\n#[path = \"lib.rs\"] mod again;\n#[path = \"../../x.rs\"] mod out;\n".to_owned(),
        ),
    ]);
    let index = fixture.index();
    let impact =
        call(|call| index.impact(call, &ReadImpact { file: "deep/x.ts".into(), max_depth: 100 })).unwrap();
    assert_eq!(impact.outbound, []);
    call(|call| index.impact(call, &ReadImpact { file: "src/lib.rs".into(), max_depth: 100 })).unwrap();
}
