//! A connection that a test can cut: bytes stay where they are until it is healed.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// A relay in front of a server.
pub(crate) struct Partition {
    cut: watch::Sender<bool>,
    address: SocketAddr,
}

impl Partition {
    pub(crate) async fn before(port: u16) -> Partition {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (cut, state) = watch::channel(false);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let Ok(server) = TcpStream::connect(("127.0.0.1", port)).await else { continue };
                let ((from_client, to_client), (from_server, to_server)) =
                    (client.into_split(), server.into_split());
                tokio::spawn(relay(from_client, to_server, state.clone()));
                tokio::spawn(relay(from_server, to_client, state.clone()));
            }
        });
        Partition { cut, address }
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://{}", self.address)
    }

    pub(crate) fn cut(&self) {
        self.cut.send_replace(true);
    }

    pub(crate) fn heal(&self) {
        self.cut.send_replace(false);
    }
}

async fn relay(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    mut cut: watch::Receiver<bool>,
) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        if cut.wait_for(|cut| !cut).await.is_err() || to.write_all(&buffer[..length]).await.is_err() {
            return;
        }
    }
}
