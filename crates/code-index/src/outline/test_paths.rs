//! Which paths hold tests, examples and measurements.

/// Whether a path looks like that of a test, an example or a benchmark: text that uses what others define.
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
