//! Connecting: each thing that can be wrong has its message.

use std::time::Duration;

use async_nats::jetstream;
use cocode_fleet::{ConnectError, FleetAddress, FleetConnection, FleetError, FleetTimings, Role};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

use crate::fixture::Fixture;
use crate::server::Server;

async fn open(fixture: &Fixture, url: &str) -> Result<(), ConnectError> {
    let address = FleetAddress { url: url.to_owned(), ..fixture.address(Role::Home) };
    FleetConnection::open(&address, fixture.timings).await.map(drop)
}

/// Listens, and says the same to every client.
async fn says(greeting: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("nats://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let mut clients = Vec::new();
        while let Ok((mut client, _)) = listener.accept().await {
            let _ = client.write_all(greeting.as_bytes()).await;
            clients.push(client);
        }
    });
    url
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_with_a_server_is_said() {
    let test = "what_is_wrong_with_a_server_is_said";
    let Some(mut fixture) = Fixture::start(test) else { return };
    fixture.timings.deadline = Duration::from_secs(2);
    let plain = Server::start(test, "").unwrap();
    let small = Server::start(test, "jetstream { store_dir: \"STORE\" }\nmax_payload: 64KB").unwrap();
    let old = "INFO {\"server_id\":\"A\",\"server_name\":\"A\",\"host\":\"h\",\"port\":1,\"version\":\"2.8.4\",\"go\":\"\",\
               \"max_payload\":8000000,\"proto\":1,\"client_id\":1,\"headers\":true}\r\nPONG\r\n";
    open(&fixture, &fixture.server.url()).await.unwrap();
    let mut texts = String::new();
    for url in [
        "nats://[".to_owned(),
        "nats://127.0.0.1:1".to_owned(),
        says("").await,
        says(old).await,
        plain.url(),
        small.url(),
    ] {
        let error = open(&fixture, &url).await.unwrap_err();
        let text = error.to_string().replace(&url, "URL");
        texts.push_str(&text);
        texts.push('\n');
    }
    insta::assert_snapshot!(texts, @r"
    URL is not the address of a NATS server
    no server answers at URL
    URL took the connection and did not answer within 2s
    the server has version 2.8.4, and a fleet needs 2.9 or later
    JetStream is off on the server: it needs a section `jetstream` in its configuration
    the server takes messages of 65536 bytes, and a fleet needs 1048576
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_of_another_shape_is_refused() {
    let Some(fixture) = Fixture::start("a_stream_of_another_shape_is_refused") else { return };
    let context = jetstream::new(async_nats::connect(fixture.server.url()).await.unwrap());
    let mut config = jetstream::stream::Config {
        name: "agentd_crew_tasks".to_owned(),
        subjects: vec!["agentd.v1.crew.task.>".to_owned()],
        ..jetstream::stream::Config::default()
    };
    context.create_stream(config.clone()).await.unwrap();
    let connection = fixture.connect(Role::Home).await;
    let error = connection.prepare(&fixture.limits).await.unwrap_err();
    assert!(matches!(error, FleetError::Shape { .. }));
    assert_eq!(error.to_string(), "the stream agentd_crew_tasks has another shape: retention Limits");

    // The control: without it the fleet is prepared, as often as it is asked for.
    context.delete_stream(&config.name).await.unwrap();
    connection.prepare(&fixture.limits).await.unwrap();
    connection.prepare(&fixture.limits).await.unwrap();
    // Another fleet has streams of its own.
    config.name = "agentd_crew_tasks_2".to_owned();
    let other = FleetAddress { fleet: "crew_2".parse().unwrap(), ..fixture.address(Role::Home) };
    let other = FleetConnection::open(&other, fixture.timings).await.unwrap();
    other.prepare(&fixture.limits).await.unwrap();
    assert_eq!(other.waiting_tasks().await.unwrap(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_with_a_password_is_shown_without_it() {
    let role = || ("crew".parse().unwrap(), Role::Home);
    for (url, masked) in [
        ("nats://me:secret@127.0.0.1:1", "nats://…@127.0.0.1:1"),
        ("nats://se@cret@127.0.0.1:1/a@b", "nats://…@127.0.0.1:1/a@b"),
        ("secret@127.0.0.1:1", "…@127.0.0.1:1"),
        ("nats://127.0.0.1:1", "nats://127.0.0.1:1"),
    ] {
        let (fleet, role) = role();
        let address = FleetAddress::new(url, fleet, role);
        assert!(format!("{address:?}").contains(masked), "{address:?}");
        let error = FleetConnection::open(&address, FleetTimings::default()).await.unwrap_err();
        assert_eq!(error.to_string(), format!("no server answers at {masked}"));
        assert!(!format!("{error:?}").contains("cret"), "{error:?}");
    }
}
