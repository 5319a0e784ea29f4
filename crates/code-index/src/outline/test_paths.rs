//! Recognizes paths of tests, examples and benchmarks.

/// Returns true if a path looks like a test, an example or a benchmark, which use definitions from other files.
pub(crate) fn uses_others(path: &str) -> bool {
    let mut parts = path.rsplit('/');
    let name = parts.next().unwrap_or_default().to_ascii_lowercase();
    let folders = [
        "test",
        "tests",
        "__tests__",
        "spec",
        "benches",
        "bench",
        "examples",
        "example",
        "fixtures",
        "testdata",
    ];
    let stem = name.split('.').next().unwrap_or_default();
    parts.any(|part| folders.contains(&part.to_ascii_lowercase().as_str()))
        || stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem.ends_with("_tests")
        || stem == "tests"
        || name.contains(".test.")
        || name.contains(".spec.")
}
