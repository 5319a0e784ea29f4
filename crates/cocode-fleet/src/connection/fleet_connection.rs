//! One connection of home or of a host.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_nats::jetstream::consumer::pull;
use async_nats::jetstream::context::RequestErrorKind;
use async_nats::jetstream::response::Response;
use async_nats::jetstream::{self, Context};
use async_nats::{Client, ConnectErrorKind, ConnectOptions, Event, ServerError};
use tokio::sync::watch;
use tokio::time::timeout;

use super::address::without_credentials;
use super::{ConnectError, FleetAddress, FleetError, FleetTimings, Role};
use crate::names::{ClassName, FleetName, Subjects};

/// A server's messages have to be at least this large.
const LEAST_PAYLOAD_BYTES: usize = 1 << 20;

/// A connection to a fleet, checked when it is made. It reconnects by itself after the server was away; every call has
/// a deadline, so none hangs in the meantime.
#[derive(Clone, Debug)]
pub struct FleetConnection {
    pub(crate) client: Client,
    pub(crate) context: Context,
    pub(crate) subjects: Subjects,
    pub(crate) timings: FleetTimings,
    role: Role,
    fleet: FleetName,
    /// The server's last refusal. Refusals of permissions do not identify their call.
    refusal: watch::Sender<Option<String>>,
    /// True once a host has found the fleet's streams on this server; false again when the connection is lost.
    has_streams: Arc<AtomicBool>,
}

impl FleetConnection {
    /// Connects, and checks the server.
    ///
    /// # Errors
    ///
    /// Every kind of [`ConnectError`], at the latest after the deadline of the timings.
    pub async fn open(
        address: &FleetAddress,
        timings: FleetTimings,
    ) -> Result<FleetConnection, ConnectError> {
        let refusal = watch::Sender::new(None);
        let has_streams = Arc::new(AtomicBool::new(false));
        let options = options(address, &timings, &refusal, &has_streams)?;
        let url = without_credentials(&address.url);
        let opening = options.connect(address.url.clone());
        let client = match timeout(timings.deadline, opening).await {
            Err(_) => return Err(ConnectError::NoAnswer { url, deadline: timings.deadline }),
            Ok(result) => result.map_err(|error| connect_error(error, url.clone(), timings.deadline))?,
        };
        let mut context = jetstream::new(client.clone());
        context.set_timeout(timings.deadline);
        let connection = FleetConnection {
            client,
            context,
            subjects: Subjects::new(&address.fleet),
            timings,
            role: address.role.clone(),
            fleet: address.fleet.clone(),
            refusal,
            has_streams,
        };
        tokio::select! {
            checked = connection.check_server() => checked?,
            () = connection.inbox_is_refused() => {
                return Err(ConnectError::OtherRole { url, role: connection.role });
            }
        }
        Ok(connection)
    }

    /// Returns the role of this connection.
    #[must_use]
    pub fn role(&self) -> &Role {
        &self.role
    }

    /// Returns the fleet's name.
    #[must_use]
    pub fn fleet(&self) -> &FleetName {
        &self.fleet
    }

    /// Returns whether the server is currently connected, as far as the client has noticed.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.client.connection_state() == async_nats::connection::State::Connected
    }

    async fn check_server(&self) -> Result<(), ConnectError> {
        let server = self.client.server_info();
        if !self.client.is_server_compatible(2, 9, 0) {
            return Err(ConnectError::TooOld { version: server.version });
        }
        if server.max_payload < LEAST_PAYLOAD_BYTES {
            return Err(ConnectError::SmallMessages { bytes: server.max_payload });
        }
        self.check_jetstream().await
    }

    async fn check_jetstream(&self) -> Result<(), ConnectError> {
        const CALL: &str = "JetStream's state";
        // The library's own call requires numbers that servers of 2.9 do not send.
        let asking = self.context.request::<_, _, Response<serde_json::Value>>("INFO", &());
        match self.bounded(CALL, asking).await? {
            Ok(Response::Ok(_)) => Ok(()),
            Ok(Response::Err { .. }) => Err(ConnectError::NoJetStream),
            Err(error) => Err(match error.kind() {
                RequestErrorKind::NoResponders => ConnectError::NoJetStream,
                RequestErrorKind::TimedOut => self.no_answer(CALL).into(),
                _ => refused(CALL, &error).into(),
            }),
        }
    }

    /// Ends once the server has refused the subscription to this role's answers, because the key is that of another
    /// role. Then no call would be answered.
    async fn inbox_is_refused(&self) {
        let inbox = format!("Subscription to \"{}.", self.role.inbox_prefix());
        let is_about_inbox = |text: &Option<String>| text.as_ref().is_some_and(|text| text.contains(&inbox));
        let mut refusals = self.refusal.subscribe();
        let _ = refusals.wait_for(is_about_inbox).await;
    }

    /// Makes sure that home has made all streams before a host reads from one of them.
    ///
    /// Server 2.9.10 crashes when a message is read from a stream that is being made. Home makes the consumer of the
    /// usual class last, and that can be queried at any time.
    pub(crate) async fn find_streams(&self) -> Result<(), FleetError> {
        const CALL: &str = "looking for the fleet";
        if self.role == Role::Home || self.has_streams.load(Ordering::Relaxed) {
            return Ok(());
        }
        let (class, stream) = (ClassName::any(), self.subjects.stream("tasks"));
        let looking = self.context.get_consumer_from_stream::<pull::Config, _, _>(class.as_str(), stream);
        self.bounded(CALL, looking).await?.map_err(|_| FleetError::Missing)?;
        self.has_streams.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Waits for a call, at most for the deadline. Calls of the library have deadlines, too; this one also covers waiting for
    /// room in its queues, which has none.
    pub(crate) async fn bounded<F: Future>(
        &self,
        call: &'static str,
        future: F,
    ) -> Result<F::Output, FleetError> {
        timeout(self.timings.deadline, future).await.map_err(|_| self.no_answer(call))
    }

    pub(crate) fn no_answer(&self, call: &'static str) -> FleetError {
        let refusal = self.refusal.borrow().clone();
        FleetError::NoAnswer { call, deadline: self.timings.deadline, refusal }
    }
}

/// Returns the failure of a call that the server, or the library, refused.
pub(crate) fn refused(call: &'static str, error: &(dyn std::error::Error + 'static)) -> FleetError {
    FleetError::Refused { call, reason: crate::text::chain(error) }
}

fn options(
    address: &FleetAddress,
    timings: &FleetTimings,
    refusal: &watch::Sender<Option<String>>,
    has_streams: &Arc<AtomicBool>,
) -> Result<ConnectOptions, ConnectError> {
    let heard = refusal.clone();
    let has_streams = Arc::clone(has_streams);
    let mut options = ConnectOptions::new()
        .connection_timeout(timings.deadline)
        .request_timeout(Some(timings.deadline))
        .ping_interval(timings.renew.max(Duration::from_millis(200)))
        .custom_inbox_prefix(address.role.inbox_prefix())
        .ignore_discovered_servers()
        .name(format!("agentd {:?}", address.role))
        .reconnect_delay_callback(delays(timings.backoff_limit))
        .event_callback(move |event| {
            match event {
                Event::ServerError(ServerError::Other(text)) => {
                    heard.send_replace(Some(text));
                }
                // It may come back without its disk.
                Event::Disconnected => has_streams.store(false, Ordering::Relaxed),
                _ => {}
            }
            async {}
        });
    if let Some(seed) = &address.seed {
        nkeys::KeyPair::from_seed(seed).map_err(|_| ConnectError::Seed)?;
        options = options.nkey(seed.clone());
    }
    if let Some(file) = &address.authority_file {
        options = options.add_root_certificates(file.clone()).require_tls(true);
    }
    Ok(options)
}

/// Returns the pause before each attempt to connect, counted from 1 after a success. The library also requests one
/// before the very first attempt, which would delay commands in vain.
fn delays(limit: Duration) -> impl Fn(usize) -> Duration + Send + Sync + 'static {
    let is_first = AtomicBool::new(true);
    move |attempts| match is_first.swap(false, Ordering::Relaxed) {
        true => Duration::ZERO,
        false => Duration::from_millis(50 << attempts.min(8)).min(limit),
    }
}

fn connect_error(error: async_nats::ConnectError, url: String, deadline: Duration) -> ConnectError {
    match error.kind() {
        ConnectErrorKind::ServerParse => ConnectError::Address { url },
        ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
            ConnectError::Credentials { url }
        }
        ConnectErrorKind::TimedOut => ConnectError::NoAnswer { url, deadline },
        ConnectErrorKind::Tls => ConnectError::Tls { url, source: error },
        _ if is_of_tls(&error) => ConnectError::Tls { url, source: error },
        _ => ConnectError::Unreachable { url, source: error },
    }
}

/// Checks whether a connection failed in its handshake: the library reports a refused certificate as a failed read.
fn is_of_tls(error: &async_nats::ConnectError) -> bool {
    std::error::Error::source(error)
        .and_then(|source| source.downcast_ref::<std::io::Error>()?.get_ref())
        .is_some_and(|cause| cause.is::<async_nats::rustls::Error>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_certificate_is_a_failure_of_tls() {
        use async_nats::rustls::{CertificateError, Error};
        let url = || "tls://north.example:4222".to_owned();
        let named = |cause: std::io::Error| connect_error(cause.into(), url(), Duration::from_secs(1));
        let refused = Error::InvalidCertificate(CertificateError::UnknownIssuer);
        assert!(matches!(named(std::io::Error::other(refused)), ConnectError::Tls { .. }));
        assert!(matches!(
            named(std::io::ErrorKind::ConnectionRefused.into()),
            ConnectError::Unreachable { .. }
        ));
    }

    #[test]
    fn only_the_very_first_attempt_has_no_pause() {
        let delay = delays(Duration::from_secs(2));
        let pauses: Vec<u128> = [1, 2, 3, 40, 1].map(|attempt| delay(attempt).as_millis()).into();
        // The last one follows a connection that was lost.
        assert_eq!(pauses, [0, 200, 400, 2_000, 100]);
    }
}
