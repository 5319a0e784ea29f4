//! The docdex daemon that the user names.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use docdex_client::{RemoteConfig, RemoteIndex};

use crate::exit::{Exit, Failure};
use crate::views::console::Console;

/// A docdex daemon that is asked before the local index.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct DocdexOptions {
    /// Ask a docdex daemon first, and the local index if the daemon does not answer.
    #[arg(long, value_name = "URL", value_parser = address)]
    pub docdex: Option<String>,
    /// The name of the repository at the daemon.
    #[arg(long, value_name = "ID")]
    pub docdex_repo: Option<String>,
    /// A file with the daemon's token.
    #[arg(long, value_name = "FILE")]
    pub docdex_token_file: Option<PathBuf>,
    /// Have the docdex daemon search the web for needs that ask for it.
    #[arg(long, value_name = "on|off", default_value = "off")]
    pub web: WebUse,
}

/// Permission to search the web.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum WebUse {
    /// The daemon searches the web.
    On,
    /// Such needs are refused.
    #[default]
    Off,
}

/// The default port of a docdex daemon.
const PORT: u16 = 28_491;

/// A token is one short line.
const TOKEN_BYTES: usize = 4_096;

/// Makes the client of the daemon that the user has named, if one is named.
pub(crate) fn remote(docdex: &DocdexOptions) -> Result<Option<RemoteIndex>, Failure> {
    let Some(url) = &docdex.docdex else {
        let is_described = docdex.docdex_repo.is_some() || docdex.docdex_token_file.is_some();
        let nameless =
            || Failure::new(Exit::Usage, "no docdex daemon is named").advise("name it with --docdex URL");
        return if is_described { Err(nameless()) } else { Ok(None) };
    };
    let token = match &docdex.docdex_token_file {
        None => None,
        Some(file) => {
            let text = std::fs::read_to_string(file).map_err(|error| {
                Failure::new(Exit::Usage, format!("cannot read {}: {error}", file.display()))
            })?;
            let token = text.trim();
            if token.is_empty() || token.len() > TOKEN_BYTES || token.chars().any(char::is_control) {
                return Err(Failure::new(Exit::Usage, format!("{} holds no token", file.display())));
            }
            Some(token.to_owned())
        }
    };
    let repo_id = docdex.docdex_repo.clone();
    Ok(Some(RemoteIndex::new(RemoteConfig { url: url.clone(), repo_id, token, ..RemoteConfig::default() })))
}

/// Reports a permission to search the web that nothing can use.
pub(crate) fn report_idle_web(docdex: &DocdexOptions, console: Console) {
    if docdex.web == WebUse::On && docdex.docdex.is_none() {
        console.notice(
            "--web on does nothing without a docdex daemon, which searches: name one with --docdex URL",
        );
    }
}

/// Reads the address of a daemon; without a port it is the default one.
pub(crate) fn address(text: &str) -> Result<String, String> {
    let rest = text.strip_prefix("http://").ok_or("give an address that begins with http://")?;
    let host = rest.trim_end_matches('/');
    let is_host = !host.is_empty()
        && host.chars().all(|one| one.is_ascii_alphanumeric() || matches!(one, '.' | '-' | ':' | '[' | ']'));
    if !is_host {
        return Err("give an address without a path, http://127.0.0.1:28491 for instance".to_owned());
    }
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    Ok(if has_port { format!("http://{host}") } else { format!("http://{host}:{PORT}") })
}
