//! `agentd setup`: the configuration of an MCP client.

use std::ffi::OsString;

use clap::Args;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use mcp_client_config::{
    ConfigError, McpClient, Placed, Registered, Server, alone, entry_name_in_file, put_server,
};
use serde::Serialize;
use serde_json::Value;
use workspace_host::WorkspacePaths;
use workspace_host::state::check_unconfined;

use crate::common_options::CommonOptions;
use crate::config::confinement_arguments::given_arguments;
use crate::exit::{Exit, Failure, Outcome};
use crate::views::console::Console;

/// The MCP client to configure.
#[derive(Clone, Debug, Args)]
pub(crate) struct SetupOptions {
    /// The client.
    pub client: McpClient,
    /// Write it into the client's file, and keep what else is there.
    #[arg(long)]
    pub write: bool,
}

/// The name of this server in a file that belongs to one folder.
const SERVER: &str = "agentd";

/// Options of `agentd mcp` that users add to an entry by hand: most of them ask before something is done.
const BY_HAND: [&str; 6] = ["--review", "--questions", "--ask-deletions", "--tools", "--page", "--wap-json"];

/// Names the place of an option of `agentd mcp` that `setup` does not have, instead of an option of `setup` that is like it.
pub(crate) fn with_place_of_option(mut error: clap::Error, arguments: &[OsString]) -> clap::Error {
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else { return error };
    let is_of_server = error.kind() == ErrorKind::UnknownArgument && BY_HAND.contains(&option.as_str());
    if !is_of_server || !arguments.iter().any(|argument| argument == "setup") {
        return error;
    }
    let key = option.trim_start_matches('-');
    let tip = format!(
        "the server reads its own options from the table [mcp] of the configuration file: set `{key}` there, and leave {option} out \
         (`agentd doctor` names the file)"
    );
    error.remove(ContextKind::SuggestedArg);
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    error
}

#[derive(Serialize)]
struct Report<'a> {
    file: String,
    name: &'a str,
    entry: &'a Value,
    written: bool,
    changed: bool,
}

/// Prints the entry for the client's configuration, or writes it.
pub(crate) fn setup(common: &CommonOptions, console: Console, options: &SetupOptions) -> Outcome {
    let client = options.client;
    let paths = WorkspacePaths::find(&common.host())?;
    // With these options the configured server would refuse to start.
    check_unconfined(&common.host(), &paths)?;
    let file = client.file(&paths.workspace, |name| std::env::var_os(name)).ok_or_else(|| {
        Failure::new(Exit::Usage, "there is no home folder to find the client's configuration in")
            .advise("set the variable HOME")
    })?;
    let file_text = file.display().to_string();
    let failure = |error: ConfigError| {
        Failure::new(Exit::Failed, format!("{file_text}: {error}")).advise(advice(&error))
    };
    let server = server(common, &paths)?;
    let usual = client.entry_name(SERVER, &paths.workspace);
    let report_clash = |name: &str| {
        // Goose may have the usual name in other letters, from before it was in lower case.
        if !name.eq_ignore_ascii_case(&usual) {
            console
                .progress(&format!("'{usual}' was taken by another server there, so this one is '{name}'"));
        }
    };
    if !options.write {
        // A file that cannot be read is for the user to edit, who sees there whether the usual name is free.
        let name = entry_name_in_file(client, &paths.workspace, &file, SERVER).unwrap_or(usual.clone());
        let entry = client.entry(&name, &server);
        if console.json {
            let (written, changed) = (false, false);
            console.json_result(&Report { file: file_text, name: &name, entry: &entry, written, changed });
        } else {
            let text = alone(client, &name, &entry)
                .map_err(|error| Failure::new(Exit::Failed, error.to_string()))?;
            report_clash(&name);
            console.progress(&format!("in {file_text}:"));
            console.result(&text);
            console.progress("--write puts it there and keeps what else is in the file");
        }
        return Ok(Exit::Done);
    }
    let registered =
        put_server(client, &paths.workspace, &file, SERVER, &server, &BY_HAND).map_err(failure)?;
    let Registered { name, entry, placed } = registered;
    if console.json {
        let (written, changed) = (true, placed != Placed::Unchanged);
        console.json_result(&Report { file: file_text, name: &name, entry: &entry, written, changed });
        return Ok(Exit::Done);
    }
    report_clash(&name);
    console.result(&match placed {
        Placed::Created => format!("made {file_text}"),
        Placed::Changed => format!("changed '{name}' in {file_text}"),
        Placed::Unchanged => format!("'{name}' is in {file_text} already"),
    });
    console.progress(client.next_step());
    Ok(Exit::Done)
}

/// Returns the advice to the user when nothing was written.
fn advice(error: &ConfigError) -> &'static str {
    match error {
        ConfigError::LosesOption { .. } => {
            "nothing was written; remove the option there first, set it in the table [mcp] of the configuration file instead, or \
             run this without --write to have the entry printed, to be put there by hand"
        }
        ConfigError::ChangedMeanwhile => "nothing was written; try again",
        ConfigError::LeadsOut => "nothing was written; look at the link, and put a file in its place",
        ConfigError::DanglingLink => {
            "nothing was written; make the file that the link leads to, or remove the link"
        }
        ConfigError::OtherOwner => {
            "nothing was written; run this as its owner, or without --write to have it printed, to be put there by hand"
        }
        ConfigError::OtherGroup => {
            "nothing was written; give the file a group of yours (chgrp), or run this without --write to have it printed, to be put there by hand"
        }
        _ => "nothing was written; without --write it is printed, to be put there by hand",
    }
}

/// The same as this program, on the same folder, with the same options where they are not the usual ones.
fn server(common: &CommonOptions, paths: &WorkspacePaths) -> Result<Server, Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::new(Exit::Failed, format!("this program cannot be found: {error}")))?;
    let text = |path: &std::path::Path| {
        path.to_str().map(str::to_owned).ok_or_else(|| {
            Failure::new(
                Exit::Failed,
                format!("{} is not a text, which a configuration needs", path.display()),
            )
        })
    };
    let mut arguments = vec!["mcp".to_owned(), "--workspace".to_owned(), text(&paths.workspace)?];
    if common.base.is_some() {
        arguments.extend(["--base".to_owned(), text(&paths.base)?]);
    }
    arguments.extend(given_arguments(common));
    Ok(Server { program: text(&program)?, arguments })
}
