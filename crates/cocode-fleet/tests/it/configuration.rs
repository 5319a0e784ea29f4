//! The configuration of a server, which the server itself checks.

use std::path::PathBuf;
use std::process::Command;

use cocode_fleet::{
    FleetAddress, FleetConnection, FleetLimits, Role, ServerConfig, ServerConfigError, ServerUsers,
    SyncPolicy, TlsFiles, UserKey,
};

use crate::fixture::Fixture;
use crate::server::{Server, program};

fn config() -> ServerConfig {
    ServerConfig {
        fleet: "crew".parse().unwrap(),
        listen: "127.0.0.1:4222".parse().unwrap(),
        store_folder: PathBuf::from("/var/lib/agentd \"fleet\""),
        process_file: None,
        limits: FleetLimits::default(),
        users: None,
        tls: None,
        sync: SyncPolicy::Always,
    }
}

fn users() -> ServerUsers {
    // Public keys of no one: the seeds were thrown away.
    let home = "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4".parse().unwrap();
    let host = "UA6KOMQ67XOE3FHE37W4OXADVXVYISBNLTBUT2LSY5VFKAIJ7CRDR2RZ".parse().unwrap();
    ServerUsers { home, hosts: vec![("north".parse().unwrap(), host)] }
}

#[test]
fn the_text_of_a_server_with_users() {
    let config = ServerConfig {
        listen: "0.0.0.0:4222".parse().unwrap(),
        users: Some(users()),
        tls: Some(TlsFiles { certificate: "/etc/cert.pem".into(), key: "/etc/key.pem".into() }),
        ..config()
    };
    insta::assert_snapshot!(config.render().unwrap());
}

#[test]
fn a_server_that_would_be_open_to_others_is_refused() {
    let listen = "0.0.0.0:4222".parse().unwrap();
    let open = ServerConfig { listen, users: Some(users()), ..config() };
    assert_eq!(open.render(), Err(ServerConfigError::WithoutTls(listen)));
    let tls = Some(TlsFiles { certificate: "/c".into(), key: "/k".into() });
    let open = ServerConfig { listen, tls, ..config() };
    assert_eq!(open.render(), Err(ServerConfigError::WithoutKeys(listen)));
    let mut twice = users();
    twice.hosts.push(twice.hosts[0].clone());
    let open = ServerConfig { users: Some(twice), ..config() };
    assert!(matches!(open.render(), Err(ServerConfigError::Twice(_))));
    config().render().unwrap();
}

#[test]
fn a_path_that_the_server_would_read_as_another_one_is_refused() {
    use std::os::unix::ffi::OsStringExt;
    let path = PathBuf::from(std::ffi::OsString::from_vec(b"/var/lib/fl\xe9et".to_vec()));
    let tls = TlsFiles { certificate: "/c".into(), key: path.clone() };
    for config in [
        ServerConfig { store_folder: path.clone(), ..config() },
        ServerConfig { process_file: Some(path.clone()), ..config() },
        ServerConfig { tls: Some(tls), ..config() },
    ] {
        assert_eq!(config.render(), Err(ServerConfigError::NotText(path.clone())));
    }
    config().render().unwrap();
}

#[test]
fn keys_are_users_keys() {
    let (public, seed) = UserKey::generate();
    assert_eq!(UserKey::of_seed(&seed), Ok(public));
    assert!(seed.parse::<UserKey>().is_err());
    assert!(UserKey::of_seed("SU").is_err());
    assert!(nkeys::KeyPair::new_account().public_key().parse::<UserKey>().is_err());
}

#[test]
fn the_server_takes_the_text() {
    let test = "the_server_takes_the_text";
    let Some(program) = program() else { return test_support::skip(test, "nats-server is not installed") };
    let version = Command::new(&program).arg("--version").output().unwrap();
    let sync = SyncPolicy::for_version(&String::from_utf8(version.stdout).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let accepts = |config: &ServerConfig| {
        let file = folder.path().join("server.conf");
        std::fs::write(&file, config.render().unwrap()).unwrap();
        Command::new(&program).arg("-t").arg("-c").arg(&file).output().unwrap().status.success()
    };
    let store_folder = folder.path().join("a \"store\" \\ with\tcharacters");
    let process_file = Some(folder.path().join("a \"process\""));
    let good = ServerConfig { store_folder, process_file, users: Some(users()), sync, ..config() };
    assert!(accepts(&good));
    // Each server takes the policy of its version; older ones refuse the option.
    if sync == SyncPolicy::ByInterval {
        assert!(!accepts(&ServerConfig { sync: SyncPolicy::Always, ..good }));
    }
}

#[test]
fn the_policy_follows_the_version() {
    for (text, policy) in [
        ("nats-server: v2.9.10\n", SyncPolicy::ByInterval),
        ("nats-server: v2.10.0", SyncPolicy::Always),
        ("nats-server: v2.12.1-beta", SyncPolicy::Always),
        ("nats-server: v3.0.0", SyncPolicy::Always),
        ("", SyncPolicy::ByInterval),
    ] {
        assert_eq!(SyncPolicy::for_version(text), policy, "{text}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_over_tls_is_checked() {
    let test = "a_connection_over_tls_is_checked";
    let folder = tempfile::tempdir().unwrap();
    let [certificate, key] = ["cert.pem", "key.pem"].map(|name| folder.path().join(name));
    let made = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-days",
            "2",
        ])
        .args(["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .arg("-keyout")
        .arg(&key)
        .arg("-out")
        .arg(&certificate)
        .output();
    if !made.is_ok_and(|output| output.status.success()) {
        return test_support::skip(test, "openssl makes no certificate");
    }
    let (home, seed) = UserKey::generate();
    let config = ServerConfig {
        store_folder: "STORE".into(),
        process_file: None,
        limits: Fixture::limits_of_tests(),
        users: Some(ServerUsers { home, hosts: Vec::new() }),
        tls: Some(TlsFiles { certificate: certificate.clone(), key }),
        sync: SyncPolicy::ByInterval,
        ..config()
    };
    let Some(server) = Server::start(test, &config.render().unwrap()) else { return };
    let fixture = Fixture::of(server);
    let address = FleetAddress { seed: Some(seed), ..fixture.address(Role::Home) };
    let trusting = FleetAddress { authority_file: Some(certificate), ..address.clone() };
    let connection = FleetConnection::open(&trusting, fixture.timings).await.unwrap();
    connection.prepare(&fixture.limits).await.unwrap();
    // The control: without its certificate the server is a stranger.
    let error = FleetConnection::open(&address, fixture.timings).await.unwrap_err();
    assert!(!error.to_string().is_empty());
}
