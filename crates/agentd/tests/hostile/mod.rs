//! Requests and texts of hostile sizes and shapes, made from `fixtures/hostile`.
//!
//! The file says how a value is made, because most are too large to be written out: an object with one of these keys is a recipe.
//!
//! - `$repeat`, `times`: a text, repeated this many times,
//! - `$list`, `times`: a list of the same value, this many times,
//! - `$numbered`, `times`: a list of texts, each with its number instead of `#`,
//! - `$nested`, `times`: a value nested in this many lists,
//! - `$lines`, `times`: one text, of lines with their number instead of `#`,
//! - `$joined`: one text, of several.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// A file that has to be there.
pub(crate) struct HostileFile {
    /// Its path.
    pub(crate) path: String,
    /// The content.
    pub(crate) content: String,
}

/// One message.
pub(crate) struct HostileCase {
    /// The hostile property.
    pub(crate) name: String,
    /// The line to send, without its end; the request has the id 1 if it has one.
    pub(crate) line: String,
    /// The tool and its arguments; `None` where the line itself is what is hostile.
    pub(crate) call: Option<(String, Value)>,
    /// True if it takes so long that an ordinary test run leaves it out.
    pub(crate) is_long: bool,
    /// True if the tool takes so long that an ordinary test run sends it over one transport alone.
    pub(crate) is_slow: bool,
    /// The reason with which it has to be refused, `ok` if it has to be answered; anything is right if it is `None`.
    pub(crate) expected: Option<String>,
}

/// Reads the table: the files that have to be there, and the cases in their order.
pub(crate) fn hostile_cases(repository: &Path) -> (Vec<HostileFile>, Vec<HostileCase>) {
    let table = table(repository, "wap.json");
    let list = |name: &str| table[name].as_array().expect("the table has this list").clone();
    let files = list("files");
    let files =
        files.iter().map(|file| HostileFile { path: text(&file["path"]), content: text(&file["content"]) });
    let cases = list("cases");
    let cases = cases.iter().map(|case| {
        let call = case.get("tool").map(|tool| (text(tool), made(&case["params"], 1)));
        let line = || match &call {
            None => text(&case["line"]),
            Some((tool, params)) => {
                format!(
                    "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":{},\"params\":{params}}}",
                    Value::from(&**tool)
                )
            }
        };
        HostileCase {
            name: text(&case["name"]),
            line: line(),
            call,
            is_long: is_marked(case, "long"),
            is_slow: is_marked(case, "slow"),
            expected: case.get("expected").map(text),
        }
    });
    (files.collect(), cases.collect())
}

/// A text for programs that read one.
pub(crate) struct HostileText {
    /// The hostile property.
    pub(crate) name: String,
    /// The text.
    pub(crate) text: String,
}

/// Reads the texts for programs that read one, with recipes that repeat only a `part`-th as often.
pub(crate) fn hostile_texts(repository: &Path, part: usize) -> Vec<HostileText> {
    let table = table(repository, "texts.json");
    let cases = table["cases"].as_array().expect("the table has cases");
    let made = cases
        .iter()
        .map(|case| HostileText { name: text(&case["name"]), text: text_of(&case["text"], part) });
    made.collect()
}

fn is_marked(case: &Value, mark: &str) -> bool {
    case.get(mark).is_some_and(|value| value == true)
}

fn table(repository: &Path, name: &str) -> Value {
    let path: PathBuf = repository.join("fixtures/hostile").join(name);
    let text = std::fs::read_to_string(path).expect("the table is there");
    serde_json::from_str(&text).expect("the table is JSON")
}

fn text(value: &Value) -> String {
    text_of(value, 1)
}

fn text_of(value: &Value, part: usize) -> String {
    made(value, part).as_str().expect("the recipe makes a text").to_owned()
}

/// Makes a value by its recipe, and whatever recipes are in it, each repeated a `part`-th as often.
fn made(value: &Value, part: usize) -> Value {
    let Value::Object(fields) = value else {
        return match value {
            Value::Array(values) => values.iter().map(|value| made(value, part)).collect(),
            other => other.clone(),
        };
    };
    let times = || {
        let times = fields["times"].as_u64().expect("a recipe says how often");
        usize::try_from(times).expect("it fits") / part
    };
    let pattern = |name: &str| fields[name].as_str().expect("the recipe is about a text");
    let numbered = |name: &str| {
        let pattern = pattern(name).to_owned();
        (1..=times()).map(move |number| pattern.replace('#', &number.to_string()))
    };
    match fields.keys().find(|key| key.starts_with('$')).map(String::as_str) {
        Some("$repeat") => pattern("$repeat").repeat(times()).into(),
        Some("$list") => vec![made(&fields["$list"], part); times()].into(),
        Some("$numbered") => numbered("$numbered").collect::<Vec<_>>().into(),
        Some("$lines") => numbered("$lines").map(|line| line + "\n").collect::<String>().into(),
        Some("$joined") => {
            let parts = fields["$joined"].as_array().expect("the recipe is about a list");
            parts.iter().map(|value| text_of(value, part)).collect::<String>().into()
        }
        Some("$nested") => {
            (0..times()).fold(made(&fields["$nested"], part), |value, _| Value::Array(vec![value]))
        }
        Some(other) => panic!("there is no recipe `{other}`"),
        None => fields
            .iter()
            .map(|(name, value)| (name.clone(), made(value, part)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
    }
}
