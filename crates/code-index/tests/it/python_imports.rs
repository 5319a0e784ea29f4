//! The targets of imports in Python.

use wap_core::{CodeIndex, ReadImpact};

use crate::fixture::{Fixture, call};

/// Returns the files that `importing` imports, in a project of these files.
fn outbound(files: &[(&str, &str)], importing: &str) -> Vec<String> {
    let fixture = Fixture::new(files.iter().copied());
    let index = fixture.index();
    let request = ReadImpact { file: importing.to_owned(), max_depth: 1 };
    let impact = call(|call| index.impact(call, &request)).unwrap();
    assert_eq!(impact.unresolved, 0, "{importing}");
    impact.outbound.into_iter().map(|edge| edge.file).collect()
}

#[test]
fn in_a_package_the_standard_library_comes_before_a_sibling() {
    let files = [
        ("src/flask/__init__.py", ""),
        (
            "src/flask/app.py",
            "import logging\nimport json.decoder\nfrom typing import Any\nfrom .logging import x\n",
        ),
        ("src/flask/globals.py", "import logging\nimport click\nfrom json import loads\n"),
        ("src/flask/logging.py", "import logging\nx = 1\n"),
        ("src/flask/typing.py", ""),
        ("src/flask/click.py", ""),
        ("src/flask/json/__init__.py", "import json\n"),
        ("src/flask/json/tag.py", "import json\nimport tag\n"),
        ("src/flask/json/deep/user.py", "import json\nimport helper\nimport typing\n"),
        ("src/flask/json/deep/helper.py", ""),
        ("src/flask/json/deep/typing.py", ""),
    ];
    assert_eq!(outbound(&files, "src/flask/app.py"), ["src/flask/logging.py"]);
    let nothing: [&str; 0] = [];
    for alone in ["globals.py", "logging.py", "json/__init__.py", "json/tag.py"] {
        assert_eq!(outbound(&files, &format!("src/flask/{alone}")), nothing, "{alone}");
    }
    // A folder without `__init__.py` may hold scripts, but not inside a package, where the standard library comes first.
    assert_eq!(outbound(&files, "src/flask/json/deep/user.py"), ["src/flask/json/deep/helper.py"]);
}

#[test]
fn for_a_script_a_sibling_comes_before_the_standard_library() {
    let files = [
        ("scripts/run.py", "import logging\nimport helper\nimport random\n"),
        ("scripts/logging.py", ""),
        ("scripts/helper.py", ""),
        ("random.py", ""),
    ];
    assert_eq!(outbound(&files, "scripts/run.py"), ["scripts/helper.py", "scripts/logging.py"]);
}

/// A package that provides names in every way; no import means `shop.py`, a module of the same name.
const SHOP: [(&str, &str); 4] = [
    (
        "shop/__init__.py",
        "from .impl import given\nfrom . import part\ndef function(): pass\nplain = 1\ntyped: int = 2\nif plain:\n    guarded = 3\none, two = 1, 2\n",
    ),
    ("shop/impl.py", "given = 1\n"),
    ("shop/part.py", ""),
    ("shop.py", "function = plain = 1\n"),
];

/// Asserts the targets of a name of the package, imported from every folder and in every spelling.
fn from_the_package(name: &str, more: &[(&str, &str)], expected: &[&str]) {
    for (path, from) in
        [("shop/user.py", "."), ("shop/deep/user.py", ".."), ("user.py", "shop"), ("shop/user.py", "shop")]
    {
        let importing = format!("from {from} import {name}\n");
        let mut files = SHOP.to_vec();
        files.extend_from_slice(more);
        files.push((path, &importing));
        assert_eq!(outbound(&files, path), expected, "{path}: {importing}");
    }
}

#[test]
fn a_name_of_the_package_itself_leads_to_its_init() {
    for name in ["function", "plain", "typed", "guarded", "*"] {
        from_the_package(name, &[], &["shop/__init__.py"]);
        let same = format!("shop/{name}.py");
        from_the_package(name, &[(&same, "")], &["shop/__init__.py"]);
    }
    for name in ["given", "one"] {
        from_the_package(name, &[], &["shop/__init__.py"]);
    }
    from_the_package("given", &[("shop/given.py", "")], &["shop/__init__.py", "shop/given.py"]);
    from_the_package("part", &[], &["shop/part.py"]);
}
