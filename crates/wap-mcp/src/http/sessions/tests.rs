use std::pin::Pin;
use std::time::Duration;

use futures_util::{Stream, StreamExt};
use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId, SessionManager};
use serde_json::{Value, json};

use super::{BoundedSessions, next_event_id};

type Events = Pin<Box<dyn Stream<Item = ServerSseMessage> + Send>>;

/// A session whose requests a test answers itself.
struct Session {
    sessions: BoundedSessions,
    id: SessionId,
    transport: <BoundedSessions as SessionManager>::Transport,
}

fn client(message: Value) -> ClientJsonRpcMessage {
    serde_json::from_value(message).unwrap()
}

fn server(message: Value) -> ServerJsonRpcMessage {
    serde_json::from_value(message).unwrap()
}

impl Session {
    /// Begins a session that ends after this silence.
    async fn begin(silence: Duration) -> Session {
        let mut sessions = BoundedSessions::default();
        sessions.inner.session_config.keep_alive = Some(silence);
        let (id, mut transport) = sessions.create_session().await.unwrap();
        let hello = client(json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" }
        } }));
        let welcome = json!({ "jsonrpc": "2.0", "id": 0, "result": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": { "name": "test", "version": "1" }
        } });
        let serving = async {
            transport.receive().await.unwrap();
            transport.send(server(welcome)).await.unwrap();
        };
        let (answer, ()) = tokio::join!(sessions.initialize_session(&id, hello), serving);
        answer.unwrap();
        Session { sessions, id, transport }
    }

    /// Makes a request of this number, which reaches the server.
    async fn request(&mut self, number: i64) -> Events {
        let message = client(json!({ "jsonrpc": "2.0", "id": number, "method": "ping" }));
        let stream = self.sessions.create_stream(&self.id, message).await.unwrap();
        assert!(self.transport.receive().await.is_some());
        Box::pin(stream)
    }

    async fn answer(&mut self, number: i64) {
        let answer = server(json!({ "jsonrpc": "2.0", "id": number, "result": {} }));
        // An ended session does not accept an answer.
        let _ = self.transport.send(answer).await;
    }
}

/// Returns the number of the request that an event answers; `None` without an event or an answer.
fn answered(event: Option<&ServerSseMessage>) -> Option<i64> {
    match event?.message.as_deref()? {
        ServerJsonRpcMessage::Response(response) => match response.id {
            RequestId::Number(number) => Some(number),
            RequestId::String(_) => None,
        },
        _ => None,
    }
}

const SILENCE: Duration = Duration::from_millis(400);

#[tokio::test]
async fn a_request_that_takes_longer_than_a_session_may_be_silent_is_answered() {
    let mut session = Session::begin(SILENCE).await;
    let mut events = session.request(1).await;
    // The empty event that names the stream.
    assert_eq!(answered(events.next().await.as_ref()), None);
    tokio::time::sleep(SILENCE * 3).await;
    session.answer(1).await;
    assert_eq!(answered(events.next().await.as_ref()), Some(1));
    assert!(events.next().await.is_none());
    drop(events);
    // The control: without a request, the session ends after its silence, and its transport with it.
    assert!(Transport::<RoleServer>::receive(&mut session.transport).await.is_none());
}

#[tokio::test]
async fn a_resumed_request_is_busy_and_no_event_comes_twice() {
    let mut session = Session::begin(Duration::from_secs(60)).await;
    let busy = |session: &Session| session.sessions.used()[&session.id].busy;
    let mut events = session.request(1).await;
    let first = events.next().await.and_then(|event| event.event_id).unwrap();
    drop(events);
    assert_eq!(busy(&session), 0);
    let mut events = Box::pin(session.sessions.resume(&session.id, first).await.unwrap());
    assert_eq!(busy(&session), 1);
    session.answer(1).await;
    assert_eq!(answered(events.next().await.as_ref()), Some(1));
    assert!(events.next().await.is_none());
    drop(events);
    assert_eq!(busy(&session), 0);
}

#[tokio::test]
async fn an_answer_waits_for_a_client_that_has_lost_the_connection() {
    let mut session = Session::begin(Duration::from_secs(60)).await;
    let mut events = session.request(1).await;
    let first = events.next().await.and_then(|event| event.event_id).unwrap();
    drop(events);
    session.answer(1).await;
    // Repeat: that connection may be lost, too.
    for _ in 0..2 {
        let mut events = Box::pin(session.sessions.resume(&session.id, first.clone()).await.unwrap());
        let answer = events.next().await;
        assert_eq!(answered(answer.as_ref()), Some(1));
        assert_eq!(session.sessions.used()[&session.id].busy, 1);
        // Nothing follows the answer, and none of it is kept.
        let last = answer.and_then(|event| event.event_id).unwrap();
        let mut rest = Box::pin(session.sessions.resume(&session.id, last).await.unwrap());
        assert!(rest.next().await.is_none());
    }
    // Another stream of this session, and the same stream of another session, have no such events; neither has a closed one.
    assert!(session.sessions.resume(&session.id, "0/99".to_owned()).await.is_err());
    let other = session.sessions.create_session().await.unwrap().0;
    assert!(session.sessions.unread.after(&other, &first).await.is_none());
    session.sessions.close_session(&session.id).await.unwrap();
    assert!(session.sessions.unread.after(&session.id, &first).await.is_none());
}

#[test]
fn the_next_event_is_that_of_the_same_stream() {
    assert_eq!(next_event_id("0/7"), "1/7");
    assert_eq!(next_event_id("41/7"), "42/7");
    assert_eq!(next_event_id("3"), "4");
    // Ids without a number are passed to the SDK unchanged.
    for id in ["0", "", "/", "x/7", "-1/7"] {
        assert_eq!(next_event_id(id), id);
    }
    assert_eq!(next_event_id(&format!("{}/7", usize::MAX)), format!("{}/7", usize::MAX));
}
