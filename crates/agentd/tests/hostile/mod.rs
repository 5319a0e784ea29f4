//! Requests of hostile sizes and shapes, made from `fixtures/hostile/wap.json`.
//!
//! The file says how a value is made, because most are too large to stand there: an object with one of these keys is a recipe.
//!
//! - `$repeat`, `times`: a text so many times over,
//! - `$list`, `times`: a list of the same value, so many times,
//! - `$numbered`, `times`: a list of texts, each with its number in the place of `#`,
//! - `$nested`, `times`: a value in so many lists,
//! - `$lines`, `times`: one text, of lines with their number in the place of `#`.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// A file that has to be there.
pub(crate) struct HostileFile {
    /// Its path.
    pub(crate) path: String,
    /// What is in it.
    pub(crate) content: String,
}

/// One message.
pub(crate) struct HostileCase {
    /// What is hostile about it.
    pub(crate) name: String,
    /// The line to send, without its end; the request has the id 1 if it has one.
    pub(crate) line: String,
    /// Whether it takes so long that an ordinary test run leaves it out.
    pub(crate) is_long: bool,
    /// The reason with which it has to be refused, `ok` if it has to be answered; anything is right if it is `None`.
    pub(crate) expected: Option<String>,
}

/// Reads the table: the files that have to be there, and the cases in their order.
pub(crate) fn hostile_cases(repository: &Path) -> (Vec<HostileFile>, Vec<HostileCase>) {
    let path: PathBuf = repository.join("fixtures/hostile/wap.json");
    let text = std::fs::read_to_string(path).expect("the table is there");
    let table: Value = serde_json::from_str(&text).expect("the table is JSON");
    let list = |name: &str| table[name].as_array().expect("the table has this list").clone();
    let text = |value: &Value| made(value).as_str().expect("the recipe makes a text").to_owned();
    let files = list("files");
    let files =
        files.iter().map(|file| HostileFile { path: text(&file["path"]), content: text(&file["content"]) });
    let cases = list("cases");
    let cases = cases.iter().map(|case| HostileCase {
        name: text(&case["name"]),
        line: match case.get("line") {
            Some(line) => text(line),
            None => {
                let params = made(&case["params"]);
                format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":{},\"params\":{params}}}", case["tool"])
            }
        },
        is_long: case.get("long").is_some_and(|long| long == true),
        expected: case.get("expected").map(text),
    });
    (files.collect(), cases.collect())
}

/// Makes a value by its recipe, and whatever recipes are in it.
fn made(value: &Value) -> Value {
    let Value::Object(fields) = value else {
        return match value {
            Value::Array(values) => values.iter().map(made).collect(),
            other => other.clone(),
        };
    };
    let times =
        || usize::try_from(fields["times"].as_u64().expect("a recipe says how often")).expect("it fits");
    let text = |name: &str| fields[name].as_str().expect("the recipe is about a text");
    let numbered = |name: &str| {
        let pattern = text(name).to_owned();
        (1..=times()).map(move |number| pattern.replace('#', &number.to_string()))
    };
    match fields.keys().find(|key| key.starts_with('$')).map(String::as_str) {
        Some("$repeat") => text("$repeat").repeat(times()).into(),
        Some("$list") => vec![made(&fields["$list"]); times()].into(),
        Some("$numbered") => numbered("$numbered").collect::<Vec<_>>().into(),
        Some("$lines") => numbered("$lines").map(|line| line + "\n").collect::<String>().into(),
        Some("$nested") => (0..times()).fold(made(&fields["$nested"]), |value, _| Value::Array(vec![value])),
        Some(other) => panic!("there is no recipe `{other}`"),
        None => fields
            .iter()
            .map(|(name, value)| (name.clone(), made(value)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
    }
}
