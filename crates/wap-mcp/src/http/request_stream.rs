//! The stream of a request of 2025-11-25 over HTTP for messages about it. The SDK only sends its answer and progress reports
//! there, and everything else on the stream of the session, which not every client opens.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::Stream;
use rmcp::model::{ServerJsonRpcMessage, ServerNotification};
use rmcp::transport::streamable_http_server::session::ServerSseMessage;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// The most messages that are queued for a client that is slow to read.
const WAITING: usize = 1;

/// The sender to the stream of a request, which travels with the request to its handler.
#[derive(Clone, Debug)]
pub(crate) struct RequestStream(Sender<ServerNotification>);

impl RequestStream {
    /// Returns the sender to the stream of a request, and the receiver of its messages.
    pub(super) fn new() -> (RequestStream, Receiver<ServerNotification>) {
        let (sender, messages) = channel(WAITING);
        (RequestStream(sender), messages)
    }

    /// Sends a message, which is lost if the stream breaks: it is not replayed when the client resumes. Returns false if the
    /// stream has ended.
    pub(crate) async fn send(&self, notification: ServerNotification) -> bool {
        self.0.send(notification).await.is_ok()
    }
}

/// The SDK's events for a request, merged with the messages of a [`RequestStream`], until the SDK ends.
pub(super) struct WithMessages<S> {
    events: Pin<Box<S>>,
    messages: Receiver<ServerNotification>,
    /// An event that waits for messages sent before it.
    held: Option<ServerSseMessage>,
}

impl<S> WithMessages<S> {
    /// Adds messages to events.
    pub(super) fn new(events: S, messages: Receiver<ServerNotification>) -> WithMessages<S> {
        WithMessages { events: Box::pin(events), messages, held: None }
    }
}

impl<S: Stream<Item = ServerSseMessage>> Stream for WithMessages<S> {
    type Item = ServerSseMessage;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<ServerSseMessage>> {
        // Poll events first: when the answer is here, so is every message sent before it.
        if self.held.is_none() {
            match self.events.as_mut().poll_next(context) {
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Ready(event) => self.held = event,
                Poll::Pending => {}
            }
        }
        if let Poll::Ready(Some(notification)) = self.messages.poll_recv(context) {
            let message = ServerJsonRpcMessage::notification(notification);
            return Poll::Ready(Some(ServerSseMessage::from_message(message)));
        }
        self.held.take().map_or(Poll::Pending, |event| Poll::Ready(Some(event)))
    }
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt;
    use futures_util::stream;
    use rmcp::model::{CustomNotification, ServerNotification};
    use rmcp::transport::streamable_http_server::session::ServerSseMessage;

    use super::{RequestStream, WithMessages};

    fn message(name: &str) -> ServerNotification {
        ServerNotification::CustomNotification(CustomNotification::new(name, None))
    }

    fn text(event: &ServerSseMessage) -> String {
        let message = event.message.as_ref().map(|message| serde_json::to_value(message).unwrap());
        let method = message.and_then(|message| message["method"].as_str().map(str::to_owned));
        method.or_else(|| event.event_id.clone()).unwrap()
    }

    #[tokio::test]
    async fn messages_sent_before_the_answer_arrive_before_it() {
        let answer = ServerSseMessage::priming("answer", std::time::Duration::ZERO);
        let (sender, messages) = RequestStream::new();
        assert!(sender.send(message("before")).await);
        let stream = WithMessages::new(stream::iter([answer.clone()]), messages);
        assert_eq!(stream.map(|event| text(&event)).collect::<Vec<_>>().await, ["before", "answer"]);
        // The stream has ended with the events: a later message is refused.
        assert!(!sender.send(message("after")).await);
        // The control: without a message, the answer does not wait.
        let (_sender, messages) = RequestStream::new();
        let stream = WithMessages::new(stream::iter([answer]), messages);
        assert_eq!(stream.map(|event| text(&event)).collect::<Vec<_>>().await, ["answer"]);
    }

    #[tokio::test]
    async fn a_message_wakes_a_client_that_waits_for_the_answer() {
        let (sender, messages) = RequestStream::new();
        let mut stream = WithMessages::new(stream::pending(), messages);
        let (event, is_sent) = tokio::join!(stream.next(), sender.send(message("news")));
        assert_eq!((text(&event.unwrap()).as_str(), is_sent), ("news", true));
    }
}
