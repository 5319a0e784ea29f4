//! Events for every open page, with a memory from which a page that was away catches up.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, Response, header};
use futures_util::stream;
use serde::Serialize;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

/// The most events, and the most bytes of them, that are remembered.
const MOST_EVENTS: usize = 4_096;
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// The events that a page may be behind before it has to start anew.
const BACKLOG: usize = 1_024;

/// The interval at which a silent connection is written to, so that both sides notice when the other is gone.
const SIGN_OF_LIFE: Duration = Duration::from_secs(15);

/// The most pages that are served events at once.
const MOST_PAGES: usize = 64;

/// The events of one process.
#[derive(Debug)]
pub(crate) struct EventHub {
    /// Distinguishes the numbers of this process from those of another one.
    epoch: String,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    last: u64,
    bytes: usize,
    remembered: VecDeque<Arc<Event>>,
    /// `None` once the process is about to end.
    sender: Option<broadcast::Sender<Arc<Event>>>,
}

#[derive(Debug)]
struct Event {
    number: u64,
    json: String,
}

impl EventHub {
    pub(crate) fn new() -> EventHub {
        let sender = Some(broadcast::Sender::new(BACKLOG));
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
        state.remembered.push_back(Arc::clone(&event));
        while state.remembered.len() > MOST_EVENTS || state.bytes > MOST_BYTES {
            let Some(forgotten) = state.remembered.pop_front() else { break };
            state.bytes -= forgotten.json.len();
        }
        if let Some(sender) = &state.sender {
            // Without an open page there is no receiver, which is not an error.
            let _ = sender.send(event);
        }
        state.last
    }

    /// Ends every stream, so that the server can stop.
    pub(crate) fn close(&self) {
        self.lock().sender = None;
    }

    /// Returns the stream of events behind the one with this id; `None` while too many pages are open.
    ///
    /// If that event is not remembered, or of another process, the first event is `{"type":"reset"}`: the page then reads
    /// everything anew.
    pub(crate) fn stream(&self, last_id: Option<&str>) -> Option<Response<Body>> {
        let state = self.lock();
        let receiver = match &state.sender {
            Some(sender) if sender.receiver_count() >= MOST_PAGES => return None,
            Some(sender) => Some(sender.subscribe()),
            None => None,
        };
        let mut waiting: VecDeque<Bytes> = VecDeque::new();
        match self.missed(&state, last_id) {
            Some(missed) => waiting.extend(missed.map(|event| self.frame(event))),
            None => waiting.push_back(self.reset(state.last)),
        }
        drop(state);
        let epoch = self.epoch.clone();
        let frames = stream::unfold((receiver, waiting), move |(mut receiver, mut waiting)| {
            let epoch = epoch.clone();
            async move {
                if let Some(frame) = waiting.pop_front() {
                    return Some((Ok::<_, Infallible>(frame), (receiver, waiting)));
                }
                let received = tokio::time::timeout(SIGN_OF_LIFE, receiver.as_mut()?.recv()).await;
                let frame = match received {
                    Ok(Ok(event)) => frame(&epoch, &event),
                    // The page was slower than the events: it starts anew, behind all that were skipped.
                    Ok(Err(RecvError::Lagged(_))) => {
                        receiver = receiver.map(|receiver| receiver.resubscribe());
                        Bytes::from_static(b"data: {\"type\":\"reset\"}\n\n")
                    }
                    Ok(Err(RecvError::Closed)) => return None,
                    Err(_) => Bytes::from_static(b": here\n\n"),
                };
                Some((Ok(frame), (receiver, waiting)))
            }
        });
        let mut response = Response::new(Body::from_stream(frames));
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        Some(response)
    }

    /// Returns the events that a page has missed; `None` if they are not all remembered.
    fn missed<'a>(
        &self,
        state: &'a State,
        last_id: Option<&str>,
    ) -> Option<impl Iterator<Item = &'a Arc<Event>> + use<'a>> {
        let (epoch, number) = last_id?.split_once('-')?;
        let number: u64 = number.parse().ok()?;
        let oldest = state.remembered.front().map_or(state.last + 1, |event| event.number);
        let is_remembered = epoch == self.epoch && number <= state.last && number + 1 >= oldest;
        is_remembered.then(|| state.remembered.iter().filter(move |event| event.number > number))
    }

    fn frame(&self, event: &Event) -> Bytes {
        frame(&self.epoch, event)
    }

    fn reset(&self, last: u64) -> Bytes {
        frame(&self.epoch, &Event { number: last, json: r#"{"type":"reset"}"#.to_owned() })
    }
}

fn frame(epoch: &str, event: &Event) -> Bytes {
    // JSON on one line: a line break in a text is escaped, so no text can begin a field of its own.
    Bytes::from(format!("id: {epoch}-{}\ndata: {}\n\n", event.number, event.json))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missed(hub: &EventHub, id: &str) -> Option<Vec<u64>> {
        let state = hub.lock();
        Some(hub.missed(&state, Some(id))?.map(|event| event.number).collect())
    }

    #[test]
    fn a_page_catches_up_from_memory_or_starts_anew() {
        let hub = EventHub::new();
        for number in 1..=3 {
            assert_eq!(hub.publish(&number), number);
        }
        let id = |number: u64| format!("{}-{number}", hub.epoch);
        assert_eq!(missed(&hub, &id(1)), Some(vec![2, 3]));
        assert_eq!(missed(&hub, &id(3)), Some(vec![]));
        assert_eq!(missed(&hub, &id(4)), None, "this process has not published it");
        assert_eq!(missed(&hub, "other-1"), None);
        assert_eq!(missed(&hub, "nonsense"), None);
        for number in 0..MOST_EVENTS {
            hub.publish(&number);
        }
        assert_eq!(missed(&hub, &id(1)), None, "it is forgotten");
        assert_eq!(missed(&hub, &id(3)).map(|missed| missed.len()), Some(MOST_EVENTS));
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
