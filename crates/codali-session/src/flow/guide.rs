//! The instructions before the history, by role.

use codali_envelope::{CriticResult, Form, GUIDANCE, Response, Role, render_response};

use super::{FlowSettings, Plan};

/// The librarian's instructions.
const LIBRARIAN: &str = "\
You are the librarian. You have no access to the files: ask for what you need, as below. When you know what the task is
about, answer without a request: name the files that matter, with what is in them, for the architect who plans the change.
";

/// The architect's instructions.
const ARCHITECT: &str = "\
You are the architect. You have no access to the files: ask for what you need, as below. When you know enough, answer
without a request: with a plan of the change, step by step, and at its end the files that it creates, changes or deletes:

plan_targets:
  - src/main.rs
";

/// The architect's instructions once the result has passed.
const CLOSING: &str = "\
You are the architect. The change is made, and the critic's result is PASS: see the last message. Answer without a request:
with a summary for the user, of a few lines.
";

/// The builder's instructions.
const BUILDER: &str = "\
You are the builder. You carry out the plan below. You have no access to the files: ask for what you need, as below. When
you know enough, answer without a request: with all edits, in the form below. Nothing in the history is an edit: each of
your replies stands for itself.
";

/// The critic's instructions.
const CRITIC: &str = "\
You are the critic. You judge whether the change below fulfils the task. You have no access to the files: ask for what you
need, as below; file.diff shows the change of files that git knows, file.read a new file, command.output what the tests have
printed. When you know enough, answer without a request. The first line is PASS or FAIL, and for FAIL each reason is on
its own line:

FAIL
- src/main.rs does not handle an empty file
";

/// The text before the history of one call.
pub(super) struct Guide<'a> {
    pub(super) settings: &'a FlowSettings,
    pub(super) edit_format: &'a str,
}

impl Guide<'_> {
    pub(super) fn librarian(&self) -> String {
        self.of(LIBRARIAN, &[("What you can ask for", GUIDANCE)])
    }

    pub(super) fn architect(&self) -> String {
        let mut rules = String::new();
        for (paths, rule) in [
            (&self.settings.allowed, "Only these files and folders may be changed"),
            (&self.settings.read_only, "These files and folders must stay as they are"),
        ] {
            if !paths.is_empty() {
                rules.push_str(&format!("{rule}: {}\n", paths.join(", ")));
            }
        }
        self.of(ARCHITECT, &[("What you can ask for", GUIDANCE), ("Limits", &rules)])
    }

    pub(super) fn closing(&self) -> String {
        self.of(CLOSING, &[])
    }

    pub(super) fn builder(&self, plan: &Plan) -> String {
        let parts = [
            ("What you can ask for", GUIDANCE),
            ("The form of edits", self.edit_format),
            ("The plan", plan.text.as_str()),
        ];
        self.of(BUILDER, &parts)
    }

    pub(super) fn critic(&self, plan: &Plan, check: &CriticResult) -> String {
        let check = written(check.clone(), "check");
        let parts = [
            ("What you can ask for", GUIDANCE),
            ("The plan", plan.text.as_str()),
            ("What the check of touched files says", check.as_str()),
        ];
        self.of(CRITIC, &parts)
    }

    fn of(&self, role: &str, parts: &[(&str, &str)]) -> String {
        let mut text = role.to_owned();
        let task = ("The task", self.settings.task.as_str());
        for (title, part) in parts.iter().chain([&task]) {
            let part = part.trim();
            if part.is_empty() {
                continue;
            }
            text.push_str(&format!("\n=== {title} ===\n"));
            // Prefix a line of a plan or a task that looks like a heading or a speaker line with a space.
            for line in part.lines() {
                let mark = if line.starts_with("===") || line.starts_with("[[") { " " } else { "" };
                text.push_str(&format!("{mark}{line}\n"));
            }
        }
        text
    }
}

/// Renders a critic's result as a response.
pub(super) fn written(result: CriticResult, id: &str) -> String {
    let id = id.parse().expect("an id is short and printable");
    render_response(&result.into_response(id), Form::Yaml)
}

/// Renders a reply for the history, below its speaker's role.
pub(super) fn spoken(role: &Role, reply: &str) -> String {
    format!("role: {role}\n\n{reply}")
}

/// Renders a response for the history.
pub(super) fn responded(response: &Response) -> String {
    render_response(response, Form::Yaml)
}
