//! The text of the configuration.

use std::net::SocketAddr;
use std::path::PathBuf;

use super::accounts::Accounts;
use super::{SyncPolicy, UserKey};
use crate::names::{FleetName, HostName};
use crate::store::FleetLimits;

/// A server for one fleet.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// The fleet.
    pub fleet: FleetName,
    /// The address that it listens on.
    pub listen: SocketAddr,
    /// The folder for everything that it stores.
    pub store_folder: PathBuf,
    /// The file into which the server writes its process id; none if it is not needed.
    pub process_file: Option<PathBuf>,
    /// The fleet's share of the disk; the server allows half as much in addition, for tasks and records.
    pub limits: FleetLimits,
    /// The users; without them every program on this machine may do everything, which is only allowed on loopback.
    pub users: Option<ServerUsers>,
    /// The certificate; without it only loopback is allowed.
    pub tls: Option<TlsFiles>,
    /// When it syncs.
    pub sync: SyncPolicy,
}

/// The users of a server.
#[derive(Clone, Debug)]
pub struct ServerUsers {
    /// The key of home, which may do everything.
    pub home: UserKey,
    /// Each host with its key.
    pub hosts: Vec<(HostName, UserKey)>,
}

/// The files of a certificate.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// The certificate, with those between it and the authority.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// A configuration that would be open to other machines.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ServerConfigError {
    /// The address is reachable from other machines, and connections would not be secure.
    #[error("{0} is reachable from other machines: it needs a certificate")]
    WithoutTls(SocketAddr),
    /// The address is reachable from other machines, each of which could do everything.
    #[error("{0} is reachable from other machines: it needs keys")]
    WithoutKeys(SocketAddr),
    /// Two hosts have one name, or two users one key.
    #[error("{0} is there twice")]
    Twice(String),
    /// The configuration is text, and the server would use a different path.
    #[error("{} is not UTF-8, and the configuration of a server is: choose another path", .0.display())]
    NotText(PathBuf),
}

impl ServerConfig {
    /// Returns the text of the configuration.
    ///
    /// # Errors
    ///
    /// Every kind of [`ServerConfigError`].
    pub fn render(&self) -> Result<String, ServerConfigError> {
        self.check()?;
        let mut text = String::new();
        let mut line = |content: &str| {
            text.push_str(content);
            text.push('\n');
        };
        line("# Written by agentd.");
        line(&format!("listen: {}", quoted(&self.listen.to_string())));
        line("max_payload: 8MB");
        if let Some(file) = &self.process_file {
            line(&format!("pid_file: {}", quoted(&file.display().to_string())));
        }
        line("jetstream {");
        line(&format!("  store_dir: {}", quoted(&self.store_folder.display().to_string())));
        line("  max_memory_store: 64MB");
        line(&format!("  max_file_store: {}", self.limits.reserved_bytes() / 2 * 3));
        if self.sync == SyncPolicy::Always {
            line("  sync_interval: always");
        }
        line("}");
        if let Some(tls) = &self.tls {
            line("tls {");
            line(&format!("  cert_file: {}", quoted(&tls.certificate.display().to_string())));
            line(&format!("  key_file: {}", quoted(&tls.key.display().to_string())));
            line("  timeout: 5");
            line("}");
        }
        if let Some(users) = &self.users {
            line(&Accounts { fleet: &self.fleet, users }.to_string());
        }
        Ok(text)
    }

    fn check(&self) -> Result<(), ServerConfigError> {
        if !self.listen.ip().is_loopback() {
            if self.tls.is_none() {
                return Err(ServerConfigError::WithoutTls(self.listen));
            }
            if self.users.is_none() {
                return Err(ServerConfigError::WithoutKeys(self.listen));
            }
        }
        let files = [Some(&self.store_folder), self.process_file.as_ref()].into_iter().flatten();
        let files = files.chain(self.tls.iter().flat_map(|tls| [&tls.certificate, &tls.key]));
        if let Some(path) = files.into_iter().find(|path| path.to_str().is_none()) {
            return Err(ServerConfigError::NotText(path.clone()));
        }
        let Some(users) = &self.users else { return Ok(()) };
        let names = users.hosts.iter().map(|(host, _)| host.to_string());
        let keys = users.hosts.iter().map(|(_, key)| key).chain([&users.home]).map(ToString::to_string);
        let mut all: Vec<String> = names.chain(keys).collect();
        all.sort();
        match all.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(ServerConfigError::Twice(pair[0].clone())),
            None => Ok(()),
        }
    }
}

/// Returns a text in the quotes of the configuration, which accepts escapes as Go does.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}
