//! Reading an architect's plan.

use serde::Serialize;

/// The most files that a plan may name.
const MOST_TARGETS: usize = 500;

/// The key with the files of a plan.
const KEY: &str = "plan_targets";

/// An architect's plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// The whole reply.
    #[serde(rename = "plan")]
    pub text: String,
    /// The files of the plan, each once, in order.
    #[serde(rename = "plan_targets")]
    pub targets: Vec<String>,
}

/// Reads the plan in an architect's reply: its text, and the paths in the list below the last line `plan_targets:`, or after the
/// colon. List markers, bold, back-ticks, quotes and JSON are tolerated around key and paths.
#[must_use]
pub fn read_plan(reply: &str) -> Plan {
    let lines: Vec<&str> = reply.lines().collect();
    let key = lines.iter().enumerate().rev().find_map(|(at, line)| Some((at, after_key(line)?)));
    let mut targets = Vec::new();
    if let Some((at, rest)) = key {
        if rest.is_empty() || rest == "[" {
            let is_blank = |line: &&&str| line.trim().is_empty();
            let items = lines[at + 1..].iter().skip_while(is_blank);
            targets.extend(items.map_while(|line| item(line, rest == "[")).flatten());
        } else {
            targets.extend(rest.trim_matches(['[', ']', '{', '}']).split(',').filter_map(path));
        }
    }
    let mut plan = Plan { text: reply.to_owned(), targets: Vec::new() };
    for target in targets {
        if plan.targets.len() < MOST_TARGETS && !plan.targets.contains(&target) {
            plan.targets.push(target);
        }
    }
    plan
}

/// Returns the text after the key and its colon, if the line begins with the key.
fn after_key(line: &str) -> Option<&str> {
    let line = line.trim_start_matches([' ', '\t', '#', '*', '`', '"', '\'', '{', '-', '>']);
    let (key, rest) = line.split_at_checked(KEY.len())?;
    if !key.eq_ignore_ascii_case(KEY) {
        return None;
    }
    let rest = rest.trim_start_matches(['*', '`', '"', '\'', ' ']).strip_prefix(':')?;
    Some(rest.trim_matches(['*', '`', ' ', '\t', ',']))
}

/// Returns the path in a line of the list; `Some(None)` for a line without a path, and `None` where the list ends.
fn item(line: &str, is_json: bool) -> Option<Option<String>> {
    let line = line.trim();
    if is_json {
        return (!line.starts_with([']', '}'])).then(|| path(line));
    }
    let numbered = line
        .split_once(['.', ')'])
        .filter(|(number, _)| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()));
    let rest = line.strip_prefix(['-', '*', '•']).or(numbered.map(|(_, rest)| rest))?;
    Some(path(rest))
}

fn path(text: &str) -> Option<String> {
    let text = text.trim().trim_end_matches(',');
    // A path in back-ticks or quotes ends with them; a remark may follow.
    for mark in ['`', '"', '\''] {
        if let Some(rest) = text.strip_prefix(mark) {
            let path = rest.split(mark).next().unwrap_or_default().trim();
            return (!path.is_empty()).then(|| path.to_owned());
        }
    }
    let text = text.trim_matches(['*', ' ']);
    // A remark after the path: `src/a.rs (new)`, `src/a.rs: add the test`, `src/a.rs # why`.
    let end = [" (", ": ", " #", " - ", " – ", " — "].iter().filter_map(|mark| text.find(mark)).min();
    let text = text[..end.unwrap_or(text.len())].trim().trim_end_matches(':');
    let text = text.strip_prefix("./").unwrap_or(text);
    (!text.is_empty() && !text.chars().any(char::is_control)).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::read_plan;

    #[test]
    fn targets_are_found_in_every_notation_of_models() {
        for reply in [
            "Plan.\n\nplan_targets:\n  - src/a.rs\n  - b c.txt\n",
            "plan_targets:\n\n- `src/a.rs` (new)\n- \"b c.txt\"\n\nThen test.\n",
            "**plan_targets:**\n* ./src/a.rs: add it\n* b c.txt # why\n* src/a.rs\n",
            "## plan_targets:\n1. src/a.rs\n2. b c.txt\nDone.",
            "plan_targets: [src/a.rs, \"b c.txt\"]",
            "```yaml\nPLAN_TARGETS: src/a.rs, b c.txt\n```",
            "{\n  \"plan\": \"x\",\n  \"plan_targets\": [\"src/a.rs\", \"b c.txt\"]\n}",
            "{\n  \"plan_targets\": [\n    \"src/a.rs\",\n    \"b c.txt\"\n  ]\n}",
            "plan_targets:\n- old.rs\n\nOn second thought:\nplan_targets:\n- src/a.rs\n- b c.txt",
        ] {
            assert_eq!(read_plan(reply).targets, ["src/a.rs", "b c.txt"], "{reply}");
        }
    }

    #[test]
    fn a_text_without_a_list_has_no_targets() {
        for reply in [
            "",
            "I would name plan_targets: but where?",
            "plan_targets:",
            "plan_targets: []",
            "plan_targets:\nnone\n",
        ] {
            assert_eq!(read_plan(reply).targets, [""; 0], "{reply}");
        }
    }

    #[test]
    fn the_number_of_targets_is_bounded() {
        let reply = (0..10_000).map(|number| format!("- f{number}\n")).collect::<String>();
        assert_eq!(read_plan(&format!("plan_targets:\n{reply}")).targets.len(), super::MOST_TARGETS);
    }
}
