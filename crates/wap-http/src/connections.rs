//! Connections: how many there may be, how long they may be idle, and how they end.

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
use crate::{Metrics, Sockets};

/// How long a connection may be open without a request, and how long the head of a request may take.
const IDLE: Duration = Duration::from_secs(30);

/// How long a client may take nothing of its answer.
const UNREAD: Duration = Duration::from_secs(30);

/// How long requests may take to end when the server stops.
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

/// Serves connections until `shutdown` stops it; requests that were begun then have ten seconds to end.
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
    let places = Arc::new(Semaphore::new(most_connections));
    let stopping = tokio::sync::watch::Sender::new(());
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(IDLE).max_buf_size(64 * 1024);
    loop {
        // With all places taken, newcomers wait in the kernel's queue.
        let accepted = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (listener.accept().await, place)
        };
        let (accepted, place) = tokio::select! {
            accepted = accepted => accepted,
            () = shutdown.0.notified() => break,
        };
        let Ok((stream, _)) = accepted else {
            // No more files can be opened, for instance: it may pass.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        let meter = Meter::default();
        let service = TowerToHyperService::new(router.clone());
        let measured = meter.clone();
        let service = service_fn(move |mut request: Request<Incoming>| {
            // For a request that becomes a WebSocket.
            request.extensions_mut().insert(measured.clone());
            service.call(request)
        });
        let stream = TokioIo::new(WriteTimeout::new(stream, UNREAD, meter));
        let connection = http.serve_connection(stream, service).with_upgrades();
        let connected = metrics.connected();
        let mut stopping = stopping.subscribe();
        tokio::spawn(async move {
            let _held = (place, connected);
            let mut connection = pin!(connection);
            // A client that breaks off or sends nonsense concerns nobody else.
            tokio::select! {
                _ = connection.as_mut() => return,
                _ = stopping.changed() => {}
            }
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        });
    }
    drop(listener);
    stopping.send_replace(());
    let all = u32::try_from(most_connections).unwrap_or(u32::MAX);
    let requests = tokio::time::timeout(PARTING, places.acquire_many(all));
    // WebSockets are no requests any more; they are told to end by whoever stops the server.
    let _ = tokio::join!(requests, sockets.closed(PARTING));
    Ok(())
}
