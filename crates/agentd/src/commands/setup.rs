//! `agentd setup`: the configuration of an MCP client.

use clap::Args;
use mcp_client_config::{ConfigError, McpClient, Placed, Server, alone, put_entry};
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
    let name = client.entry_name("agentd", &paths.workspace);
    let entry = client.entry(&name, &server(common, &paths)?);
    let file_text = file.display().to_string();
    let report =
        |written, changed| Report { file: file_text.clone(), name: &name, entry: &entry, written, changed };
    if !options.write {
        if console.json {
            console.json_result(&report(false, false));
        } else {
            console.progress(&format!("in {file_text}:"));
            let text = alone(client, &name, &entry);
            console.result(&text.map_err(|error| Failure::new(Exit::Failed, error.to_string()))?);
            console.progress("--write puts it there and keeps what else is in the file");
        }
        return Ok(Exit::Done);
    }
    let placed = put_entry(client, &paths.workspace, &file, &name, &entry).map_err(|error| {
        let advice = match error {
            ConfigError::LeadsOut => "nothing was written; look at the link, and put a file in its place",
            _ => "nothing was written; without --write it is printed, to be put there by hand",
        };
        Failure::new(Exit::Failed, format!("{file_text}: {error}")).advise(advice)
    })?;
    if console.json {
        console.json_result(&report(true, placed != Placed::Unchanged));
        return Ok(Exit::Done);
    }
    console.result(&match placed {
        Placed::Created => format!("made {file_text}"),
        Placed::Changed => format!("changed '{name}' in {file_text}"),
        Placed::Unchanged => format!("'{name}' is in {file_text} already"),
    });
    console.progress(client.next_step());
    Ok(Exit::Done)
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
