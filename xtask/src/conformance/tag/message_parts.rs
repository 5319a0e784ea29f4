//! Cases of messages in parts.

use serde_json::{Value, json};
use tagproto::paste_parts;

use crate::conformance::Outcome;

/// Divides the message of a case, and compares the number of the parts and the first lines of their texts.
pub(crate) fn run(case: &Value) -> Outcome {
    let (Some(text), Some(limit)) = (message(&case["input"]["lines"]), case["input"]["limit"].as_u64())
    else {
        return Outcome::Failed("the case has no lines or no limit".to_owned());
    };
    let parts = paste_parts(&text, usize::try_from(limit).unwrap_or(usize::MAX));
    let Some(texts) = texts(&parts) else {
        return Outcome::Failed("a part has not the lines that say which one it is".to_owned());
    };
    let starts: Vec<_> = texts.iter().map(|text| text.lines().next()).collect();
    Outcome::compare("the number of parts", &case["expect"]["parts"], &json!(parts.len()))
        .and(|| Outcome::compare("the first lines", &case["expect"]["starts"], &json!(starts)))
        .and(|| Outcome::compare("the message that the parts make up", &json!(text), &json!(texts.concat())))
}

/// Returns the text of a message from its lines, each with the number of times that it stands there.
fn message(lines: &Value) -> Option<String> {
    let mut text = String::new();
    for line in lines.as_array()? {
        let times = usize::try_from(line[1].as_u64()?).ok()?;
        text.push_str(&format!("{}\n", line[0].as_str()?).repeat(times));
        if line[2] == "open" {
            text.pop();
        }
    }
    Some(text)
}

/// Returns the texts of parts without the lines around them; a single part is the message itself.
fn texts(parts: &[String]) -> Option<Vec<&str>> {
    if let [part] = parts {
        return Some(vec![part]);
    }
    let count = parts.len();
    let text_of = |(index, part): (usize, &'_ String)| {
        let number = index + 1;
        let which = if number == count { ", which is this one" } else { "" };
        let end = match number == count {
            true => String::new(),
            false => format!("Part {number} of {count} ends here: answer only after the last\n"),
        };
        let head = format!("Part {number} of {count}: answer only after the last{which}\n\n");
        (part.starts_with(&head) && part.ends_with(&end)).then(|| (head.len(), part.len() - end.len()))
    };
    let ranges = parts.iter().enumerate().map(text_of).collect::<Option<Vec<_>>>()?;
    Some(parts.iter().zip(ranges).map(|(part, (from, to))| &part[from..to]).collect())
}
