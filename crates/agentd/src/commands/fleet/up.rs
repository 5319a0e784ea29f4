//! `agentd fleet up`: the server of a fleet.

use std::fs;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::thread;
use std::time::{Duration, Instant};

use cocode_fleet::{
    ConnectError, FleetAddress, FleetConnection, FleetLimits, FleetTimings, Role, ServerConfig,
    ServerConfigError, ServerUsers, SyncPolicy, TlsFiles, UserKey,
};
use fleet_runner::make_private_folder;
use serde::Serialize;

use crate::commands::cocode::failure::error_chain;
use crate::commands::cocode::runner_config::user_state;
use crate::commands::fleet::options::UpOptions;
use crate::commands::fleet::own_files;
use crate::commands::fleet::server_process::{FolderLock, PROGRAM, Server, ServerFiles, version};
use crate::commands::session::cancel_flag;
use crate::exit::{Exit, Failure, Outcome};
use crate::fleet::address::read_seed;
use crate::views::console::Console;

/// The time limit for a server to answer.
const START: Duration = Duration::from_secs(15);

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Up<'a> {
    url: &'a str,
    fleet: String,
    configuration: String,
    /// The file of home's key; `None` where no key is needed.
    key_file: Option<String>,
    /// The line for each host to join.
    joins: Vec<String>,
    /// The options that every command about the fleet needs in addition to these.
    #[serde(skip)]
    further: String,
    /// The process of the server; `None` if none was started.
    process: Option<u32>,
}

/// Writes a configuration, starts the server, and stays until it ends or is stopped.
pub(crate) fn up(console: Console, options: &UpOptions) -> Outcome {
    let folder = own_folder(options)?;
    let files = ServerFiles::of(&folder);
    let version = version();
    // Only one process has a server in a folder, so a server there was left by a killed process; and only one makes keys,
    // whose other half is in the server's configuration.
    let lock = (!options.write_only).then(|| FolderLock::take(&folder)).transpose()?;
    let is_open = !options.listen.ip().is_loopback();
    let has_keys = is_open || !options.hosts.is_empty();
    let keys = folder.join("keys");
    let config = server_config(options, &folder, &files, has_keys.then_some(&keys), version.as_deref())?;
    let text = config.render().map_err(|error| unusable(&error))?;
    let left = if lock.is_some() { files.left_server(&text)? } else { None };
    write_private(&files.configuration, &text)?;
    let scheme = if config.tls.is_some() { "tls" } else { "nats" };
    let url = format!("{scheme}://{}", options.listen);
    let home_key = has_keys.then(|| keys.join("home.seed"));
    let mut answer = Up {
        url: &url,
        fleet: options.fleet_name.to_string(),
        configuration: files.configuration.display().to_string(),
        key_file: home_key.as_ref().map(|file| file.display().to_string()),
        joins: join_lines(options, &url, &keys),
        further: further(options),
        process: None,
    };
    if options.write_only {
        show(console, &answer);
        return Ok(Exit::Done);
    }
    if version.is_none() {
        let failure = Failure::new(Exit::Missing, format!("the program {PROGRAM} is not installed"));
        return Err(failure.advise(format!(
            "install it (Debian: apt install nats-server) and start `{PROGRAM} -c {}`",
            files.configuration.display()
        )));
    }
    let cancel = cancel_flag()?;
    let mut server = match left {
        Some(server) => {
            let id = server.id();
            console.progress(&format!(
                "process {id} is the server that an earlier `agentd fleet up` left; it is adopted"
            ));
            server
        }
        None => {
            check_listening(options.listen)?;
            Server::start(&files, &text)?
        }
    };
    let address = FleetAddress {
        seed: home_key.as_deref().map(read_seed).transpose()?,
        // One that signed itself, or that comes with its issuer's, is enough to know the server by.
        authority_file: options.authority.clone().or_else(|| options.tls_certificate.clone()),
        ..FleetAddress::new(url.clone(), options.fleet_name.clone(), Role::Home)
    };
    prepare(&mut server, &files, &address, options.lease.timings(), &config.limits)?;
    answer.process = Some(server.id());
    show(console, &answer);
    console.progress("Ctrl-C stops the server; tasks and results stay on the disk");
    while !cancel.is_cancelled() {
        if let Some(status) = server.ended() {
            return Err(Failure::new(Exit::Failed, format!("the server has ended: {status}")));
        }
        thread::sleep(Duration::from_millis(100));
    }
    Ok(Exit::Interrupted)
}

/// Makes the folder of this server, and returns its canonical path.
fn own_folder(options: &UpOptions) -> Result<PathBuf, Failure> {
    let folder = options.folder.clone().unwrap_or_else(|| user_state().join("fleet"));
    let failed = |error: io::Error| Failure::new(Exit::Failed, format!("{}: {error}", folder.display()));
    make_private_folder(&folder).map_err(failed)?;
    fs::canonicalize(&folder).map_err(failed)
}

/// Returns the configuration of a server of this `version`. Its users have keys if there is a folder for them, where missing ones are
/// made.
fn server_config(
    options: &UpOptions,
    folder: &Path,
    files: &ServerFiles,
    keys: Option<&PathBuf>,
    version: Option<&str>,
) -> Result<ServerConfig, Failure> {
    let tls = options.tls_certificate.clone().zip(options.tls_key.clone());
    Ok(ServerConfig {
        fleet: options.fleet_name.clone(),
        listen: options.listen,
        store_folder: folder.join("store"),
        process_file: Some(files.process.clone()),
        limits: FleetLimits::default(),
        users: keys.map(|keys| users(keys, options)).transpose()?,
        tls: tls.map(|(certificate, key)| TlsFiles { certificate, key }),
        sync: version.map(SyncPolicy::for_version).unwrap_or_default(),
    })
}

/// Returns the failure for options that no server can be started with.
fn unusable(error: &ServerConfigError) -> Failure {
    let failure = Failure::new(Exit::Usage, error.to_string());
    match error {
        ServerConfigError::WithoutTls(_) | ServerConfigError::WithoutKeys(_) => failure.advise(
            "give --tls-certificate FILE, --tls-key FILE and --host NAME for each host, or listen on 127.0.0.1",
        ),
        ServerConfigError::Twice(_) => failure.advise(
            "give each host with one --host NAME; if it is a key, remove one of the two files in the folder `keys` that have it, \
             and a new one is made",
        ),
        ServerConfigError::NotText(_) => {
            failure.advise("--folder, --tls-certificate and --tls-key choose the paths")
        }
        _ => failure,
    }
}

/// Returns the users with their keys, which are made where they are missing.
fn users(keys: &Path, options: &UpOptions) -> Result<ServerUsers, Failure> {
    make_private_folder(keys)
        .map_err(|error| Failure::new(Exit::Failed, format!("{}: {error}", keys.display())))?;
    let key = |name: &str| -> Result<UserKey, Failure> {
        let file = keys.join(format!("{name}.seed"));
        // A dangling link exists, too.
        if file.symlink_metadata().is_ok() {
            own_files::check_secret(&file).map_err(|error| {
                Failure::new(Exit::Refused, format!("the key {}: {error}", file.display()))
            })?;
            let seed = read_seed(&file)?;
            return UserKey::of_seed(&seed).map_err(|error| Failure::new(Exit::Usage, error.to_string()));
        }
        let (key, seed) = UserKey::generate();
        write_private(&file, &format!("{seed}\n"))?;
        Ok(key)
    };
    if options.hosts.iter().any(|host| host.as_str() == "home") {
        return Err(Failure::new(
            Exit::Usage,
            "a host cannot be called home, which is the name of the submitter",
        ));
    }
    let hosts = options.hosts.iter().map(|host| Ok((host.clone(), key(host.as_str())?)));
    Ok(ServerUsers { home: key("home")?, hosts: hosts.collect::<Result<_, Failure>>()? })
}

fn join_lines(options: &UpOptions, url: &str, keys: &Path) -> Vec<String> {
    let fleet = further(options);
    match options.hosts.is_empty() {
        true => vec![format!("agentd fleet join {url}{fleet}")],
        false => {
            let line = |host: &cocode_fleet::HostName| {
                let key = keys.join(format!("{host}.seed"));
                format!("agentd fleet join {url}{fleet} --host-name {host} --key-file {}", key.display())
            };
            options.hosts.iter().map(line).collect()
        }
    }
}

/// Returns the options that every command about the fleet needs in addition to its address and a key.
fn further(options: &UpOptions) -> String {
    let name = options.fleet_name.as_str();
    let name = Some(name).filter(|name| *name != "agentd").map(|name| format!(" --fleet-name {name}"));
    let authority = options.authority.as_ref().map(|file| format!(" --authority {}", file.display()));
    [name, authority].into_iter().flatten().collect()
}

/// Writes a file that only this user can read.
fn write_private(path: &Path, text: &str) -> Result<(), Failure> {
    own_files::replace(path, text)
        .map_err(|error| Failure::new(Exit::Failed, format!("{}: {error}", path.display())))
}

/// Waits until the server answers, and makes the fleet's streams.
fn prepare(
    server: &mut Server,
    files: &ServerFiles,
    address: &FleetAddress,
    timings: FleetTimings,
    limits: &FleetLimits,
) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime =
        runtime.map_err(|error| Failure::new(Exit::Failed, format!("no runtime can be made: {error}")))?;
    let failed = |error: &dyn std::error::Error| {
        Failure::new(Exit::Failed, format!("the server: {}", error_chain(error)))
    };
    let deadline = Instant::now() + START;
    runtime.block_on(async {
        loop {
            match FleetConnection::open(address, timings).await {
                Ok(connection) => {
                    return connection.prepare(limits).await.map_err(|error| failed(&error));
                }
                Err(error) => {
                    if let Some(status) = server.ended() {
                        return Err(ended_at_start(files, status));
                    }
                    if Instant::now() >= deadline {
                        let failure = failed(&error);
                        return Err(match advice(&error) {
                            Some(advice) => failure.advise(advice),
                            None => failure,
                        });
                    }
                }
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
}

/// Checks that a server can listen at an address: it would end without a word that a caller could read.
fn check_listening(address: SocketAddr) -> Result<(), Failure> {
    let Err(error) = TcpListener::bind(address) else { return Ok(()) };
    let failure = |why: &str| Failure::new(Exit::Failed, format!("cannot listen at {address}: {why}"));
    Err(match error.kind() {
        ErrorKind::AddrInUse => failure("another program listens there already").advise(
            "--listen ADDRESS:PORT chooses another port; if it is the server of this fleet, it needs no second one",
        ),
        ErrorKind::AddrNotAvailable => failure("it is not an address of this machine")
            .advise("--listen ADDRESS:PORT chooses another one"),
        ErrorKind::PermissionDenied => failure("this user may not use that port")
            .advise("--listen ADDRESS:PORT chooses one from 1024 on"),
        _ => failure(&error.to_string()).advise("--listen ADDRESS:PORT chooses another one"),
    })
}

/// Returns the failure of a server that ended before it answered.
fn ended_at_start(files: &ServerFiles, status: ExitStatus) -> Failure {
    match files.fault() {
        Some(fault) => Failure::new(Exit::Usage, format!("the server refuses its configuration: {fault}"))
            .advise("the files that --tls-certificate and --tls-key name are a part of it"),
        None => Failure::new(Exit::Failed, format!("the server: it has ended ({status})"))
            .advise("its port may be in use: --listen ADDRESS:PORT chooses another one"),
    }
}

/// Returns the advice for a failed connection to one's own server, if the error does not say it.
fn advice(error: &ConnectError) -> Option<&'static str> {
    match error {
        ConnectError::Tls { .. } => Some(
            "the certificate has to be for the address of --listen, and --authority FILE to name the certificates of its authority",
        ),
        ConnectError::Credentials { .. } | ConnectError::OtherRole { .. } => Some(
            "another server is at this address, or was started with other keys: --listen ADDRESS:PORT chooses another one",
        ),
        ConnectError::NoJetStream | ConnectError::TooOld { .. } | ConnectError::SmallMessages { .. } => {
            Some("another server is at this address: --listen ADDRESS:PORT chooses another one")
        }
        _ => None,
    }
}

fn show(console: Console, up: &Up<'_>) {
    if console.json {
        console.json_result(up);
        return;
    }
    console.result(&match up.process {
        Some(_) => format!("the fleet {} is at {}", up.fleet, up.url),
        None => format!("the configuration is in {}", up.configuration),
    });
    console.result("on each machine that works:");
    up.joins.iter().for_each(|line| console.result(&format!("  {line}")));
    console.result("where the repository is:");
    let key = up.key_file.as_ref().map(|file| format!(" --key-file {file}")).unwrap_or_default();
    let further = &up.further;
    console.result(&format!(
        "  agentd cocode run --fleet {}{further}{key} --issue N --agent NAME --count 20",
        up.url
    ));
}
