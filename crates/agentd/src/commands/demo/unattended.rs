//! `agentd demo --loop`: a session whose replies come from a program, on a throw-away copy of a sample project.

use std::process::Command;

use tagproto::Dialect;
use workspace_host::homes::HomeUse;

use super::{PROJECT, REPLIES, TASK, failed, say, title, write_files};
use crate::commands::session::{self, model::ModelOptions, options::Following, options::NewOptions};
use crate::common_options::CommonOptions;
use crate::exit::{Exit, Outcome};
use crate::views::console::Console;

/// The program that stands for a model: it prints the reply with the message's number, without the line for the token, which
/// `agentd` adds to replies that have none.
const MODEL: &str =
    "number=$(sed -n 's/^Sequence: //p' | head -n 1)\nsed '/{reply-to}/d' \"reply-$number\"\n";

/// Runs the demonstration and says how it ended.
pub(super) fn demo(common: &CommonOptions, console: Console) -> Outcome {
    let folder = tempfile::Builder::new().prefix("agentd-demo-").tempdir().map_err(|error| failed(&error))?;
    let (project, model) = (folder.path().join("project"), folder.path().join("model"));
    write_files(&project, &PROJECT).map_err(|error| failed(&error))?;
    let names: Vec<String> = (1..=REPLIES.len()).map(|number| format!("reply-{number}")).collect();
    let replies: Vec<_> = names.iter().map(String::as_str).zip(REPLIES).collect();
    write_files(&model, &replies).map_err(|error| failed(&error))?;
    write_files(&model, &[("model.sh", MODEL)]).map_err(|error| failed(&error))?;
    let common = CommonOptions {
        workspace: project.clone(),
        base: Some(folder.path().join("state")),
        // The folder is gone afterwards, and a home for it would stay.
        home: HomeUse::Fresh,
        read_only: false,
        ..common.clone()
    };
    say(
        console,
        "agentd demo --loop: a program gives the replies, and no person has to paste anything. Here they are scripted.",
    );
    title(console, &format!("agentd new \"{TASK}\" --model COMMAND"));
    let options = NewOptions {
        read: Vec::new(),
        from: None,
        task: vec![TASK.to_owned()],
        no_wait: false,
        following: Following::default(),
        model: ModelOptions {
            model: Some(format!("cd '{}' && sh model.sh", model.display())),
            rounds: 10,
            model_timeout: 60,
        },
        dialect: Dialect::Agentd,
        budget: None,
        paste_characters: None,
    };
    let outcome = session::new(&common, console, &options);
    title(console, "verdict");
    // The user's own check, not the model's word: outside of the sandbox, as a person would.
    let passes = Command::new("/bin/sh").arg("test.sh").current_dir(&project).output();
    let passes = passes.map_err(|error| failed(&error))?.status.success();
    match outcome {
        Ok(Exit::Done) if passes => {
            say(
                console,
                "The session is done and the tests pass. Its project was temporary and is removed now, so there is nothing to undo.",
            );
            say(console, "Try it with a program of yours: agentd new \"your task\" --model COMMAND");
            Ok(Exit::Done)
        }
        Ok(Exit::Done) => {
            say(console, "The demonstration failed: the tests do not pass.");
            Ok(Exit::Failed)
        }
        outcome => {
            say(console, "The demonstration failed.");
            outcome
        }
    }
}
