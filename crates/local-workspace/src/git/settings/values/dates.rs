//! Date formats and ages of objects in settings.

/// The date formats, each also with `-local` appended.
const DATE_FORMATS: [&str; 12] = [
    "relative",
    "iso8601-strict",
    "iso-strict",
    "iso8601",
    "iso",
    "rfc2822",
    "rfc",
    "short",
    "default",
    "human",
    "raw",
    "unix",
];

/// The longest format of a date, in bytes.
const FORMAT_BYTES: usize = 200;

/// The maximum number of digits in the width of one part of a date.
const WIDTH_DIGITS: usize = 2;

/// Units of time for an age of at least two weeks, each with its minimum and maximum count. Git reads an age beyond its
/// calendar as none.
const AGES: [(&str, u32, u32); 4] = [("day", 14, 3650), ("week", 2, 520), ("month", 1, 120), ("year", 1, 10)];

pub(super) fn is_date_format(value: &str) -> bool {
    let value = value.strip_prefix("auto:").unwrap_or(value);
    let own = ["format:", "format-local:"].iter().find_map(|start| value.strip_prefix(start));
    match own {
        Some(own) => is_narrow(own),
        None => value == "local" || DATE_FORMATS.contains(&value.strip_suffix("-local").unwrap_or(value)),
    }
}

/// Returns whether all parts of a format have a small width.
fn is_narrow(format: &str) -> bool {
    let is_narrow = |part: &str| {
        let part = part.trim_start_matches(['_', '-', '+', '^', '#', '0']);
        part.bytes().take_while(u8::is_ascii_digit).count() <= WIDTH_DIGITS
    };
    format.len() <= FORMAT_BYTES && format.split('%').skip(1).all(is_narrow)
}

/// Returns whether unreachable objects are kept for at least two weeks, as by default: they are the user's last way to
/// recover lost commits.
pub(super) fn is_age_of_two_weeks(value: &str) -> bool {
    let words: Vec<&str> = value.split(['.', ' ']).collect();
    let is_age = |number: &str, unit: &str| {
        let unit = unit.strip_suffix('s').unwrap_or(unit);
        let number = number.parse::<u32>().ok().filter(|_| number.bytes().all(|byte| byte.is_ascii_digit()));
        let mut ages = AGES.into_iter().filter(|(name, ..)| *name == unit);
        ages.any(|(_, least, most)| number.is_some_and(|number| (least..=most).contains(&number)))
    };
    match words[..] {
        ["never"] => true,
        [number, unit, "ago"] | [number, unit] => is_age(number, unit),
        _ => false,
    }
}
