//! The scripted agents, whose ends are known.

/// A kind of agent: its name, its shell script, and the state in which its record ends.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) script: &'static str,
    pub(crate) state: &'static str,
}

/// A commit of the agent's own: its name is in the file and in the author. `$N` is that of its worktree.
macro_rules! commit {
    ($message:literal) => {
        concat!(
            "N=$(basename \"$PWD\"); echo started; echo \"$N\" > \"by-$N\"; git add \"by-$N\"; ",
            "git -c user.name=\"$N\" commit -q -m '",
            $message,
            "'; echo done"
        )
    };
}

/// The check of the definitions: one kind of agent fails it.
pub(crate) const CHECK: &str = "! ls | grep -q '^broken$'";

pub(crate) const KINDS: [Kind; 5] = [
    Kind { name: "ready", script: commit!("cocode ready for check"), state: "ready" },
    Kind { name: "slow", script: concat!("sleep 1; ", commit!("cocode ready for check")), state: "ready" },
    Kind { name: "fails", script: concat!(commit!("cocode ready for check"), "; exit 3"), state: "failed" },
    // The marker does not count where a commit without it follows.
    Kind {
        name: "unmarked",
        script: concat!(commit!("cocode ready for check"), "; git commit -q --allow-empty -m more"),
        state: "completed",
    },
    Kind {
        name: "broken",
        script: concat!("echo x > broken; git add broken; ", commit!("cocode ready for check")),
        state: "completed",
    },
];

/// An agent that is mostly idle, as if it waited for its model, for the throughput of many hosts.
pub(crate) const PATIENT: Kind =
    Kind { name: "patient", script: concat!("sleep 8; ", commit!("cocode ready for check")), state: "ready" };

/// Returns the kind of an agent, which is the beginning of its name.
pub(crate) fn kind_of(agent: &str) -> &'static Kind {
    let name = agent.split('-').next().unwrap();
    KINDS.iter().find(|kind| kind.name == name).unwrap()
}

/// Returns the file that defines the agents.
pub(crate) fn definitions() -> String {
    let mut text = String::new();
    for Kind { name, script, .. } in KINDS.iter().chain([&PATIENT]) {
        let script = script.replace('\\', "\\\\").replace('"', "\\\"");
        text.push_str(&format!(
            "[agents.{name}]\ncommand = \"/bin/sh\"\nargs = [\"-c\", \"{script}\"]\ncheck = \"{CHECK}\"\n\
             timeout_seconds = 120\n\n"
        ));
    }
    text
}
