//! Files that are folded.

use review_view::is_generated;

#[test]
fn lock_files_and_generated_files_are_known_by_name_or_mark() {
    for path in
        ["Cargo.lock", "a/yarn.lock", "web/go.sum", "x.min.js", "X.MIN.CSS", "api.pb.go", "vendor/a.c"]
    {
        assert!(is_generated(path, ""), "{path}");
    }
    for text in
        ["# @generated\n", "\n\n<!-- Automatically generated -->", "// Code generated. DO NOT EDIT.\n"]
    {
        assert!(is_generated("file", text), "{text}");
    }
}

#[test]
fn files_of_people_are_not_folded() {
    let sixth = "\n\n\n\n\n// DO NOT EDIT\n";
    let texts = ["", "let text = \"do not edit\";\n", "do not edit this by hand", sixth];
    for path in ["src/lock.rs", "cargo.lock.md", "vendors.txt", "minjs"] {
        for text in texts {
            assert!(!is_generated(path, text), "{path} {text}");
        }
    }
}
