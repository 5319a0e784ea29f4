//! Events for every open page, with a buffer from which a reconnecting page catches up.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, Response, header};
use futures_util::stream;
use serde::Serialize;
use tokio::sync::watch;

/// The most buffered events, and the most bytes of them.
const MOST_EVENTS: usize = 4_096;
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// The interval at which a silent connection is written to, so that both sides notice when the other is gone.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The most concurrent streams.
const MOST_PAGES: usize = 64;

/// The events of one process.
#[derive(Debug)]
pub(crate) struct EventHub {
    /// Distinguishes the numbers of this process from those of another.
    epoch: String,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    last: u64,
    bytes: usize,
    remembered: VecDeque<Arc<Event>>,
    /// Wakes the streams; `None` once the process is about to end.
    sender: Option<watch::Sender<()>>,
}

#[derive(Debug)]
struct Event {
    number: u64,
    json: String,
}

impl EventHub {
    pub(crate) fn new() -> EventHub {
        let sender = Some(watch::Sender::new(()));
        let state = State { last: 0, bytes: 0, remembered: VecDeque::new(), sender };
        EventHub { epoch: uuid::Uuid::new_v4().simple().to_string(), state: Mutex::new(state) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Publishes an event, and returns its number.
    pub(crate) fn publish<T: Serialize>(&self, event: &T) -> u64 {
        let json = serde_json::to_string(event).expect("events have string keys");
        let mut state = self.lock();
        state.last += 1;
        let event = Arc::new(Event { number: state.last, json });
        state.bytes += event.json.len();
        state.remembered.push_back(event);
        while state.remembered.len() > MOST_EVENTS || state.bytes > MOST_BYTES {
            let Some(forgotten) = state.remembered.pop_front() else { break };
            state.bytes -= forgotten.json.len();
        }
        if let Some(sender) = &state.sender {
            sender.send_replace(());
        }
        state.last
    }

    /// Ends every stream, so that the server can stop.
    pub(crate) fn close(&self) {
        self.lock().sender = None;
    }

    /// Returns the id of the last event: a page that reads some state now follows the events after it.
    pub(crate) fn last_id(&self) -> String {
        format!("{}-{}", self.epoch, self.lock().last)
    }

    /// Returns the stream of events after the event with this id; `None` while too many pages are open.
    ///
    /// If that event is no longer buffered, or of another process, the first event is `{"type":"reset"}`: the page then reloads
    /// everything. The same applies to a page that falls behind: events are not buffered longer for a slow page.
    pub(crate) fn stream(self: &Arc<EventHub>, last_id: Option<&str>) -> Option<Response<Body>> {
        let (receiver, after) = {
            let state = self.lock();
            let receiver = match &state.sender {
                Some(sender) if sender.receiver_count() >= MOST_PAGES => return None,
                Some(sender) => sender.subscribe(),
                None => watch::channel(()).1,
            };
            (receiver, self.number(&state, last_id))
        };
        let frames =
            stream::unfold((Arc::clone(self), receiver, after), |(hub, mut receiver, after)| async move {
                loop {
                    // Before checking: later events wake the waiter.
                    receiver.mark_unchanged();
                    if let Some((frame, number)) = hub.next(after) {
                        return Some((Ok::<_, Infallible>(frame), (hub, receiver, Some(number))));
                    }
                    match tokio::time::timeout(KEEP_ALIVE, receiver.changed()).await {
                        Ok(Ok(())) => {}
                        Ok(Err(_)) => return None,
                        Err(_) => {
                            return Some((Ok(Bytes::from_static(b": here\n\n")), (hub, receiver, after)));
                        }
                    }
                }
            });
        let mut response = Response::new(Body::from_stream(frames));
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        Some(response)
    }

    /// Returns the number in an id; `None` if this process has published no event of that id.
    fn number(&self, state: &State, id: Option<&str>) -> Option<u64> {
        let (epoch, number) = id?.split_once('-')?;
        number.parse().ok().filter(|number| epoch == self.epoch && *number <= state.last)
    }

    /// Returns the event after a number, with its own number, or a reset if it is no longer buffered; `None` if it does not
    /// exist yet.
    fn next(&self, after: Option<u64>) -> Option<(Bytes, u64)> {
        let state = self.lock();
        let oldest = state.remembered.front().map_or(state.last + 1, |event| event.number);
        let index = match after {
            Some(after) if after == state.last => return None,
            Some(after) => (after + 1).checked_sub(oldest).and_then(|index| usize::try_from(index).ok()),
            None => None,
        };
        let event = index.and_then(|index| state.remembered.get(index)).map_or_else(
            || Arc::new(Event { number: state.last, json: r#"{"type":"reset"}"#.to_owned() }),
            Arc::clone,
        );
        drop(state);
        Some((frame(&self.epoch, &event), event.number))
    }
}

fn frame(epoch: &str, event: &Event) -> Bytes {
    // JSON on one line: a line break in a text is escaped, so no text can begin another field.
    Bytes::from(format!("id: {epoch}-{}\ndata: {}\n\n", event.number, event.json))
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt;

    use super::*;

    /// Returns the numbers of the events after the event with this id; a leading `None` is a reset.
    fn missed(hub: &EventHub, id: &str) -> Vec<Option<u64>> {
        let mut after = hub.number(&hub.lock(), Some(id));
        let mut numbers = Vec::new();
        while let Some((frame, number)) = hub.next(after) {
            numbers.push((!frame.ends_with(b"{\"type\":\"reset\"}\n\n")).then_some(number));
            after = Some(number);
        }
        numbers
    }

    #[test]
    fn a_page_catches_up_from_memory_or_starts_anew() {
        let hub = EventHub::new();
        for number in 1..=3 {
            assert_eq!(hub.publish(&number), number);
        }
        let id = |number: u64| format!("{}-{number}", hub.epoch);
        assert_eq!(missed(&hub, &id(1)), [Some(2), Some(3)]);
        assert_eq!(missed(&hub, &id(3)), []);
        assert_eq!(missed(&hub, &hub.last_id()), []);
        assert_eq!(missed(&hub, &id(4)), [None], "this process has not published it");
        assert_eq!(missed(&hub, "other-1"), [None]);
        assert_eq!(missed(&hub, "nonsense"), [None]);
        for number in 0..MOST_EVENTS {
            hub.publish(&number);
        }
        assert_eq!(missed(&hub, &id(1)), [None], "it is forgotten");
        assert_eq!(missed(&hub, &id(3)).len(), MOST_EVENTS);
    }

    #[tokio::test]
    async fn a_page_that_does_not_read_keeps_no_events_in_memory() {
        let hub = Arc::new(EventHub::new());
        let response = hub.stream(Some(&hub.last_id())).unwrap();
        let mut frames = response.into_body().into_data_stream();
        let large = "x".repeat(MOST_BYTES / 64);
        for _ in 0..640 {
            hub.publish(&large);
        }
        let first = frames.next().await.unwrap().unwrap();
        let id = hub.last_id();
        assert_eq!(first, format!("id: {id}\ndata: {{\"type\":\"reset\"}}\n\n").as_bytes());
        // It continues after the events that its reset replaced; the end of the process ends it.
        hub.publish(&1);
        hub.close();
        let (next, id) = (frames.next().await.unwrap().unwrap(), hub.last_id());
        assert_eq!(next, format!("id: {id}\ndata: 1\n\n").as_bytes());
        assert!(frames.next().await.is_none());
    }

    #[test]
    fn memory_is_bounded_in_bytes() {
        let hub = EventHub::new();
        let large = "x".repeat(MOST_BYTES / 4);
        for _ in 0..16 {
            hub.publish(&large);
        }
        let state = hub.lock();
        assert!(state.remembered.len() < 5 && state.bytes <= MOST_BYTES);
    }
}
