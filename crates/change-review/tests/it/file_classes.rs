//! The classes of files: tests, lock files, generated files.

use change_review::FileClass;

fn class(path: &str) -> FileClass {
    FileClass::of(path, "fn main() {}\n")
}

#[test]
fn lock_files_and_generated_files_are_known_by_name_or_mark() {
    for path in ["Cargo.lock", "a/yarn.lock", "web/go.sum", "a/uv.lock", "bun.lockb"] {
        assert_eq!(class(path), FileClass::LockFile, "{path}");
    }
    for path in ["x.min.js", "X.MIN.CSS", "api.pb.go", "vendor/a.c", "x_pb2.py", "snapshots/a.snap"] {
        assert_eq!(class(path), FileClass::Generated, "{path}");
    }
    for text in
        ["# @generated\n", "\n\n<!-- Automatically generated -->", "// Code generated. DO NOT EDIT.\n"]
    {
        assert_eq!(FileClass::of("file", text), FileClass::Generated, "{text}");
    }
}

#[test]
fn files_of_people_are_code() {
    let sixth = "\n\n\n\n\n// DO NOT EDIT\n";
    let texts = ["", "let text = \"do not edit\";\n", "do not edit this by hand", sixth];
    let paths = [
        "src/lock.rs",
        "cargo.lock.md",
        "vendors.txt",
        "minjs",
        "package.json",
        "map.ts",
        "Cargo.lock/mod.rs",
        "src/contest.rs",
        "latest.py",
        "src/testing_ground.rs",
        "attest/a.rs",
    ];
    for path in paths {
        for text in texts {
            assert_eq!(FileClass::of(path, text), FileClass::Code, "{path} {text}");
        }
    }
}

#[test]
fn tests_are_known_by_their_paths() {
    let paths = [
        "tests/it/a.rs",
        "a/test_b.py",
        "x.test.ts",
        "x.spec.js",
        "pkg/a_test.go",
        "test.sh",
        "__tests__/a.js",
        "src/FileTest.java",
        "testdata/one.json",
        "conftest.py",
    ];
    for path in paths {
        assert_eq!(class(path), FileClass::Test, "{path}");
    }
}
