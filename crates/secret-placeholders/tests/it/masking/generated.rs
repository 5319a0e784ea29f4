//! Generated passwords in each form that files have, and ordinary lines next to them.

use secret_placeholders::Detector;
use serde::Deserialize;

use crate::corpus::read;
use crate::masking::secrets;

/// The values of a generator in a form.
const VALUES: usize = 60;

/// The maximum share of letters-only values that may be shown, in percent.
const MOST_SHOWN_PERCENT: usize = 2;

/// The part of a value that must not be shown.
const PART_BYTES: usize = 7;

const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS: &str = "0123456789";

/// The punctuation of Terraform's `random_password`.
const PUNCTUATION: &str = "!@#$%&*()-_=+[]{}<>:?";

/// All that can be printed, as `get-random-password` of AWS uses it.
const ALL_PUNCTUATION: &str = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

const WORDS: [&str; 24] = [
    "correct", "horse", "battery", "staple", "river", "candle", "orange", "window", "silent", "garden",
    "purple", "rocket", "marble", "pepper", "walnut", "anchor", "velvet", "thunder", "cactus", "hammer",
    "dragon", "planet", "copper", "lantern",
];

/// A form in which a file has a password.
#[derive(Deserialize)]
struct Form {
    /// The line, with `{}` for the value.
    form: String,
    #[serde(default)]
    escape: Escape,
    /// The characters that a value cannot have in this form.
    #[serde(default)]
    without: String,
    /// A value that reads like the name of a variable is one there.
    #[serde(default)]
    names: bool,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Escape {
    #[default]
    None,
    Json,
    JsonInJson,
    Backslash,
    Yaml,
}

impl Escape {
    fn apply(self, value: &str) -> String {
        let json = |value: &str| value.replace('\\', "\\\\").replace('"', "\\\"");
        match self {
            Escape::None => value.to_owned(),
            Escape::Json => json(value),
            Escape::JsonInJson => json(&json(value)),
            Escape::Backslash => value.replace('\\', "\\\\").replace('\'', "\\'"),
            Escape::Yaml => value.replace('\'', "''"),
        }
    }
}

/// Numbers that are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    fn of(&mut self, signs: &str, count: usize) -> String {
        (0..count).map(|_| char::from(signs.as_bytes()[self.below(signs.len())])).collect()
    }

    fn word(&mut self) -> &'static str {
        WORDS[self.below(WORDS.len())]
    }

    /// Words with a number: after the last word, or after any.
    fn words(&mut self, between: &str, is_capital: bool) -> String {
        let numbered = self.below(5);
        let mut parts: Vec<String> = (0..4).map(|_| self.word().to_owned()).collect();
        if is_capital {
            parts.iter_mut().for_each(|part| part[..1].make_ascii_uppercase());
        }
        match parts.get_mut(numbered).filter(|_| !between.is_empty()) {
            Some(part) => *part += &self.of(DIGITS, 1),
            None => parts.push(self.of(DIGITS, 2)),
        }
        parts.join(between)
    }
}

/// A generator of passwords.
type Generator = (&'static str, fn(&mut Numbers) -> String);

const GENERATORS: [Generator; 17] = [
    ("terraform", |numbers| numbers.of(&[LOWER, UPPER, DIGITS, PUNCTUATION].concat(), 20)),
    ("aws", |numbers| {
        let all = [LOWER, UPPER, DIGITS, ALL_PUNCTUATION];
        all.map(|signs| numbers.of(signs, 1)).concat() + &numbers.of(&all.concat(), 16)
    }),
    ("base62", |numbers| numbers.of(&[LOWER, UPPER, DIGITS].concat(), 20)),
    ("letters", |numbers| numbers.of(&[LOWER, UPPER].concat(), 20)),
    ("lower", |numbers| numbers.of(LOWER, 16)),
    ("hexadecimal", |numbers| "a0".to_owned() + &numbers.of("0123456789abcdef", 30)),
    ("base64", |numbers| numbers.of(&[LOWER, UPPER, DIGITS, "+/"].concat(), 31) + "7="),
    ("base32", |numbers| "Q7".to_owned() + &numbers.of("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 24)),
    ("uuid", |numbers| [8, 4, 4, 4, 12].map(|count| numbers.of("0123456789abcdef", count)).join("-")),
    ("bcrypt", |numbers| "$2b$12$".to_owned() + &numbers.of(&[LOWER, UPPER, DIGITS, "./"].concat(), 53)),
    ("pronounceable", |numbers| {
        let syllables: Vec<String> =
            (0..4).map(|_| numbers.of("bdfgklmnprst", 1) + &numbers.of("aeiou", 1)).collect();
        syllables.concat() + &numbers.of(DIGITS, 1)
    }),
    ("groups", |numbers| {
        let groups = [5, 6, 6].map(|count| numbers.of(LOWER, count));
        format!("{}{}-{}-{}", groups[0], numbers.of(DIGITS, 1), groups[1], groups[2])
    }),
    ("words-hyphens", |numbers| numbers.words("-", false)),
    ("words-capitals", |numbers| numbers.words("-", true)),
    ("words-blanks", |numbers| numbers.words(" ", false)),
    ("words-dots", |numbers| numbers.words(".", false)),
    ("words-joined", |numbers| numbers.words("", true)),
];

/// Returns the parts of a line that are shown.
fn visible_part(line: &str) -> String {
    let mut visible = String::new();
    let mut end = 0;
    for hit in Detector::usual().find(line) {
        visible.push_str(&line[end..hit.range.start]);
        visible.push('\n');
        end = hit.range.end;
    }
    visible + &line[end..]
}

#[test]
fn generated_passwords_are_hidden_in_each_form() {
    let forms: Vec<Form> = read("password-forms.json");
    let mut numbers = Numbers(1);
    let (mut certain, mut failures, mut of_letters, mut letters_shown) = (0, Vec::new(), 0, Vec::new());
    for form in &forms {
        for (name, generate) in GENERATORS {
            // Spaces end a value there, and the others read like variable names.
            let is_name = ["words-joined", "words-dots", "pronounceable"].contains(&name);
            if form.without.contains(' ') && name == "words-blanks" || form.names && is_name {
                continue;
            }
            for _ in 0..VALUES {
                let value: String = generate(&mut numbers).replace(|sign| form.without.contains(sign), "k");
                let written = form.escape.apply(&value);
                let line = form.form.replace("{}", &written);
                let visible = visible_part(&line);
                let parts =
                    written.as_bytes().windows(PART_BYTES).filter_map(|part| str::from_utf8(part).ok());
                let is_shown = parts.into_iter().any(|part| visible.contains(part));
                if value.bytes().all(|byte| byte.is_ascii_alphabetic()) {
                    of_letters += 1;
                    letters_shown.extend(is_shown.then_some(line));
                } else {
                    certain += 1;
                    failures.extend(is_shown.then(|| format!("{name}: {line}")));
                }
            }
        }
    }
    assert!(certain > 20_000 && of_letters > 2_000, "{certain}, {of_letters}");
    assert!(
        failures.is_empty(),
        "{} of {certain}: {:#?}",
        failures.len(),
        &failures[..failures.len().min(60)]
    );
    let most = of_letters * MOST_SHOWN_PERCENT / 100;
    assert!(letters_shown.len() <= most, "{} of {of_letters}: {letters_shown:#?}", letters_shown.len());
}

/// A line with a value.
#[derive(Deserialize)]
struct Hidden {
    /// The line, with `{}` for the value.
    form: String,
    /// The parts of the value.
    value: Vec<String>,
    kind: String,
}

#[test]
fn a_value_and_nothing_else_is_hidden_in_a_line() {
    let lines: Vec<Hidden> = read("hidden.json");
    assert!(lines.len() > 10, "{}", lines.len());
    let mut failures = Vec::new();
    for Hidden { form, value, kind } in lines {
        let secrets = secrets();
        let line = form.replace("{}", &value.concat());
        let masked = secrets.mask(&line).into_owned();
        if masked != form.replace("{}", &format!("⟦secret:{kind}:1⟧")) {
            failures.push(masked);
        } else if secrets.restore(&masked).as_deref() != Ok(&line) {
            failures.push(line);
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn ordinary_lines_with_names_of_passwords_are_shown() {
    let lines: Vec<String> = read("visible.json");
    let hidden: Vec<String> = lines
        .iter()
        .map(|line| (line, visible_part(line)))
        .filter(|(line, visible)| *line != visible)
        .map(|(line, visible)| format!("{line} -> {}", visible.replace('\n', "⟦⟧")))
        .collect();
    assert!(hidden.is_empty(), "{hidden:#?}");
    assert!(lines.len() > 80, "{}", lines.len());
}
