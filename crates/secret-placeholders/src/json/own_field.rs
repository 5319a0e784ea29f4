//! Fields of answers whose texts the workspace itself generates; they are never masked, whatever values a file has.

/// The fields with a file version.
const VERSIONS: [&str; 4] = ["version", "previousVersion", "currentVersion", "expectedVersion"];

/// The field with a time.
const TIME: &str = "lastModified";

/// The form of a time; a zero stands for any digit.
const TIME_FORM: &[u8] = b"0000-00-00T00:00:00.000Z";

/// The digits of a version.
const VERSION_DIGITS: usize = 64;

/// Checks whether a text is a version or a time from the workspace. The field admits no other text, and the form
/// ensures that no other text passes for one.
pub(crate) fn is_own(field: &str, text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if VERSIONS.contains(&field) {
        return text.len() == VERSION_DIGITS && text.bytes().all(is_digit);
    }
    let fits = |(byte, form): (u8, &u8)| if *form == b'0' { byte.is_ascii_digit() } else { byte == *form };
    field == TIME && text.len() == TIME_FORM.len() && text.bytes().zip(TIME_FORM).all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_and_times_are_own_in_their_fields_alone() {
        let version = "0123456789abcdef".repeat(4);
        let time = "2026-01-31T23:59:59.123Z";
        for (field, text) in VERSIONS.map(|field| (field, version.as_str())).into_iter().chain([(TIME, time)])
        {
            assert!(is_own(field, text), "{field}");
            for other in ["path", "content", "message", "text"] {
                assert!(!is_own(other, text), "{other}");
            }
            let cut = &text[1..];
            for wrong in
                [cut, &format!("{text}0"), &text.to_uppercase().replace('T', "t"), &text.replace('2', "x")]
            {
                assert!(!is_own(field, wrong), "{field}: {wrong}");
            }
        }
    }
}
