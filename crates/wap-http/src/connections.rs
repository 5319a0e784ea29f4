//! Connections: their number, their time limits, and their end.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::{Notify, Semaphore};

use crate::meter::Meter;
use crate::write_timeout::WriteTimeout;
use crate::{Metrics, Peer, Sockets};

/// The longest time that a connection may be open without a request, and the time limit for the head of a request.
const IDLE: Duration = Duration::from_secs(30);

/// The time after which a client that does not read its answer is disconnected.
const UNREAD: Duration = Duration::from_secs(30);

/// The time for requests to end when the server stops.
const PARTING: Duration = Duration::from_secs(10);

/// Stops a server; clones stop the same one.
#[derive(Clone, Debug, Default)]
pub struct Shutdown(Arc<Notify>);

impl Shutdown {
    /// Stops the server.
    pub fn stop(&self) {
        self.0.notify_one();
    }
}

/// Serves connections until `shutdown` stops it; running requests then have ten seconds to end.
///
/// # Errors
///
/// Those of the listener.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    most_connections: usize,
    metrics: Arc<Metrics>,
    sockets: &Sockets,
    shutdown: Shutdown,
) -> io::Result<()> {
    let slots = Arc::new(Semaphore::new(most_connections));
    let stopping = tokio::sync::watch::Sender::new(());
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(IDLE).max_buf_size(64 * 1024);
    loop {
        // While all slots are taken, new connections wait in the kernel's queue.
        let accepted = async {
            let slot = Arc::clone(&slots).acquire_owned().await;
            (listener.accept().await, slot)
        };
        let (accepted, slot) = tokio::select! {
            accepted = accepted => accepted,
            () = shutdown.0.notified() => break,
        };
        let Ok((stream, client)) = accepted else {
            // The process may have too many open files, for example: this may be temporary, and must not become a busy loop.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        let meter = Meter::default();
        let service = TowerToHyperService::new(router.clone());
        let measured = meter.clone();
        let peer = stream.local_addr().ok().map(|server| Peer { client, server });
        let service = service_fn(move |mut request: Request<Incoming>| {
            if let Some(peer) = peer {
                request.extensions_mut().insert(peer);
            }
            // A request that becomes a WebSocket uses the meter of its connection.
            request.extensions_mut().insert(measured.clone());
            service.call(request)
        });
        let stream = TokioIo::new(WriteTimeout::new(stream, UNREAD, meter));
        let connection = http.serve_connection(stream, service).with_upgrades();
        let connected = metrics.connected();
        let mut stopping = stopping.subscribe();
        tokio::spawn(async move {
            // This frees the slot and corrects the figure for every end of the connection.
            let _held = (slot, connected);
            let mut connection = pin!(connection);
            // Drop the error of a connection: it only concerns that client.
            tokio::select! {
                _ = connection.as_mut() => return,
                _ = stopping.changed() => {}
            }
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        });
    }
    // Refuse new clients immediately, instead of letting them wait in the kernel's queue for a stopping server.
    drop(listener);
    stopping.send_replace(());
    let all = u32::try_from(most_connections).unwrap_or(u32::MAX);
    let requests = tokio::time::timeout(PARTING, slots.acquire_many(all));
    // An upgraded connection no longer counts as a request. The caller cancels `HttpConfig::stop`, which ends WebSockets.
    let _ = tokio::join!(requests, sockets.closed(PARTING));
    Ok(())
}
