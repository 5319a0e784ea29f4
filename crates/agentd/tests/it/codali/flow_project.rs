//! A project with a scripted program for all agents of a flow.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::fixture::project::{Project, Ran};

/// A program that answers call N in a role with the file `ROLE-N`, and writes down its calls with their prompts.
pub(crate) struct FlowProject {
    pub(crate) project: Project,
}

pub(crate) const ASKS: &str = "AGENT_REQUEST v1\nrole: architect\nrequest_id: a-1\nneeds:\n  - type: file.read\n    path: greet.txt\n  - type: docdex.search\n    query: hello\n";
pub(crate) const PLAN: &str = "Say it in French.\n\nplan_targets:\n  - greet.txt\n";
pub(crate) const EDIT: &str = "[EDIT_FILE path=\"greet.txt\"]\n<<<<<<< SEARCH\nhello\n=======\nbonjour\n>>>>>>> REPLACE\n[/EDIT_FILE]\n";
pub(crate) const SUMMARY: &str = "The greeting is French now.\n";

/// A flow in which every agent asks once, the first edit is refused, and the first verdict is FAIL.
pub(crate) const LONG: [(&str, &str); 10] = [
    ("architect-1", ASKS),
    ("architect-2", PLAN),
    (
        "builder-1",
        "[EDIT_FILE path=\"greet.txt\"]\n<<<<<<< SEARCH\nhallo\n=======\nbonjour\n>>>>>>> REPLACE\n[/EDIT_FILE]\n",
    ),
    ("builder-2", EDIT),
    (
        "critic-1",
        "AGENT_REQUEST v1\nrequest_id: c-1\nneeds:\n  - type: command.output\n  - type: file.read\n    path: greet.txt\n",
    ),
    ("critic-2", "FAIL\n- the log is missing\n"),
    ("architect-3", "plan_targets: [greet.txt, log.txt]\n"),
    ("builder-3", "[RUN_COMMAND]\necho once >> log.txt\n[/RUN_COMMAND]\n"),
    ("critic-3", "PASS\n"),
    ("architect-4", SUMMARY),
];

impl FlowProject {
    pub(crate) fn new(replies: &[(&str, &str)]) -> FlowProject {
        let flow = FlowProject { project: Project::new() };
        fs::create_dir(flow.agents()).unwrap();
        for (name, reply) in replies {
            fs::write(flow.agents().join(name), reply).unwrap();
        }
        flow.project.write("greet.txt", "hello\n");
        flow
    }

    /// The folder of the agents' replies.
    pub(crate) fn agents(&self) -> PathBuf {
        self.project.folder().join("agents")
    }

    /// The command of the agents. It notes each call after the answer: a call that is killed does not count.
    pub(crate) fn command(&self) -> String {
        format!(
            "cd '{}'; number=$(($(grep -c \"^$CODALI_ROLE \" calls) + 1)); cat > prompt-$CODALI_ROLE-$number; \
             cat $CODALI_ROLE-$number && echo $CODALI_ROLE $number >> calls",
            self.agents().display()
        )
    }

    /// The same for a flow that is killed: a call's number is the number of the role's replies in the prompt, so that a reply that
    /// did not arrive is given again. Each call is noted when it begins, with the variable `RUN`.
    pub(crate) fn steady_command(&self) -> String {
        format!(
            "cd '{}'; cat > prompt-$$; number=$(($(grep -A1 '^\\[\\[agent\\]\\]$' prompt-$$ | grep -c \"^role: $CODALI_ROLE\\$\") + 1)); \
             rm prompt-$$; echo $RUN $CODALI_ROLE $number >> begun; cat $CODALI_ROLE-$number",
            self.agents().display()
        )
    }

    pub(crate) fn run(&self, more: &[&str]) -> Ran {
        self.project.run(&[&["codali", "run", "greet in French", "--model", &self.command()], more].concat())
    }

    pub(crate) fn resume(&self, more: &[&str]) -> Ran {
        self.project.run(&[&["codali", "run", "--resume", "--model", &self.command()], more].concat())
    }

    /// The calls that were answered, a line for each.
    pub(crate) fn calls(&self) -> String {
        fs::read_to_string(self.agents().join("calls")).unwrap_or_default()
    }

    pub(crate) fn prompt(&self, call: &str) -> String {
        fs::read_to_string(self.agents().join(format!("prompt-{call}"))).unwrap()
    }

    /// The id of the one flow.
    pub(crate) fn id(&self) -> String {
        let mut entries = fs::read_dir(self.project.base().join("codali")).unwrap();
        entries.next().unwrap().unwrap().file_name().into_string().unwrap()
    }
}

/// The lines of `--json`.
pub(crate) fn events(ran: &Ran) -> Vec<Value> {
    ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect()
}
