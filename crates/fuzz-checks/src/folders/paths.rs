//! The rules for paths, compared with a plain walk over the components.

use rel_path::{
    MAX_COMPONENT_BYTES, MAX_COMPONENTS, MAX_PATH_BYTES, ProtectedNames, RelPath, check_new_name,
};

/// Checks that a path is accepted exactly if a walk over its components stays in the root and within the limits, that it parses
/// back to itself, and that a protected name protects the path and everything below it, in any letter case.
///
/// The bytes up to the first line ending are the path, and the rest is joined to it.
pub fn path_rules(data: &[u8]) {
    let end = data.iter().position(|byte| *byte == b'\n').unwrap_or(data.len());
    let (first, second) = (&data[..end], data.get(end + 1..).unwrap_or_default());
    let (first, second) = (check_path(first), check_path(second));
    if let (Some(first), Some(second)) = (&first, &second)
        && let Ok(joined) = first.join(second)
    {
        assert!(is_inside(joined.as_bytes()), "{joined} leaves the root");
        assert!(first.is_root() || joined.starts_with(first));
    }
    if let Some(path) = &first {
        check_protection(path);
    }
}

fn check_path(bytes: &[u8]) -> Option<RelPath> {
    let path = RelPath::from_bytes(bytes);
    let components: Vec<&[u8]> = components(bytes).collect();
    let total = components.iter().map(|part| part.len() + 1).sum::<usize>().saturating_sub(1);
    let is_allowed = !bytes.is_empty()
        && bytes[0] != b'/'
        && !bytes.contains(&0)
        && is_inside(bytes)
        && components.len() <= MAX_COMPONENTS
        && components.iter().all(|part| part.len() <= MAX_COMPONENT_BYTES)
        && total <= MAX_PATH_BYTES;
    assert_eq!(path.is_ok(), is_allowed, "{path:?} for {:?}", String::from_utf8_lossy(bytes));
    let path = path.ok()?;
    let kept: Vec<&[u8]> = path.components().collect();
    assert_eq!(kept, components, "no component but `.` and empty ones is dropped");
    if !path.is_root() {
        let again = RelPath::parse(&path.to_string()).expect("a displayed path can be parsed");
        assert_eq!(again.as_bytes(), path.as_bytes(), "{path}");
    }
    for part in components {
        let _ = check_new_name(part);
    }
    Some(path)
}

fn components(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == b'/').filter(|part| !matches!(*part, b"" | b"."))
}

/// Walks over the components and checks that none climbs above the start.
fn is_inside(bytes: &[u8]) -> bool {
    let mut depth = 0_usize;
    for part in components(bytes) {
        if part != b".." {
            depth += 1;
        } else if depth == 0 {
            return false;
        } else {
            depth -= 1;
        }
    }
    true
}

fn check_protection(path: &RelPath) {
    let names = ProtectedNames::new([".git", "secret/keys"]);
    let folded: Vec<Vec<u8>> = path.components().map(<[u8]>::to_ascii_lowercase).collect();
    if folded.iter().any(|part| part == b"..") || !folded.iter().all(|part| part.is_ascii()) {
        return;
    }
    let is = |wanted: &[&[u8]]| {
        folded.len() >= wanted.len() && folded.iter().zip(wanted).all(|(part, want)| part == want)
    };
    if is(&[b".git"]) || is(&[b"secret", b"keys"]) {
        assert!(names.protects(path), "{path} is protected");
    }
}
