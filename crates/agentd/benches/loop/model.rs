//! This program as the model.

use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::process::parent_id;
use std::time::{SystemTime, UNIX_EPOCH};

/// The first argument of a call as the model.
pub(crate) const MODE: &str = "model";

/// The kind of every reply but the last one.
#[derive(Clone, Copy)]
pub(crate) enum Reply {
    Edit,
    Read,
    Command,
}

impl Reply {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Reply::Edit => "edit",
            Reply::Read => "read",
            Reply::Command => "command",
        }
    }
}

/// Replies to the message on standard input. The arguments are the file for notes, the number of the last round, and the kind of reply.
pub(crate) fn reply(arguments: &[String]) {
    let began = now();
    let [notes, last, kind] = arguments else { panic!("model NOTES LAST KIND") };
    let mut message = String::new();
    std::io::stdin().read_to_string(&mut message).expect("a message");
    let number = message.lines().find_map(|line| line.strip_prefix("Sequence: ")?.parse::<usize>().ok());
    let number = number.expect("the message has a number");
    let is_last = number > last.parse::<usize>().expect("a number");
    let edit = format!("[CREATE_FILE path=\"notes/{}.txt\"]\nround {number}\n[/CREATE_FILE]\n", number % 50);
    let text = match kind.as_str() {
        _ if is_last => "[DONE]\nmeasured\n[/DONE]\n".to_owned(),
        "read" => format!("[READ_FILE path=\"folder{0}/file{0}.txt\"]\n", number % 100),
        "command" => format!("{edit}[RUN_COMMAND]\ntrue\n[/RUN_COMMAND]\n"),
        _ => edit,
    };
    let mut file =
        OpenOptions::new().create(true).append(true).open(notes).expect("the notes can be written");
    let (resident_kib, ticks) = usage();
    println!("{text}");
    std::io::stdout().flush().expect("the reply is read");
    writeln!(file, "{number} {began} {} {resident_kib} {ticks}", now()).expect("the notes can be written");
}

fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970");
    u64::try_from(now.as_nanos()).expect("it is before 2554")
}

/// Returns the resident memory of the `agentd` above this process, and the ticks of processor time that it has used.
fn usage() -> (u64, u64) {
    let mut process = parent_id();
    loop {
        let status = fs::read_to_string(format!("/proc/{process}/status")).expect("the parent is there");
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        if field("Name:") == Some("agentd") {
            let size = field("VmRSS:").and_then(|size| size.split(' ').next());
            let size = size.and_then(|size| size.parse().ok()).expect("a size");
            let stat = fs::read_to_string(format!("/proc/{process}/stat")).expect("the parent is there");
            // After the name: the times in user and system mode are the fields 14 and 15.
            let fields = stat.rsplit(") ").next().expect("a name").split(' ').skip(11).take(2);
            return (size, fields.map(|ticks| ticks.parse::<u64>().expect("a time")).sum());
        }
        process = field("PPid:").and_then(|parent| parent.parse().ok()).expect("a parent");
    }
}
