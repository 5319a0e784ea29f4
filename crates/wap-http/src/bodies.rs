//! The bodies of requests: their byte budgets, the time limits for their arrival, and the threads that parse them.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, Response, StatusCode, header};
use futures_util::StreamExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout, timeout_at};
use wap_core::{Reason, WapError};

use crate::refusal::{refusal, refusal_with};

/// The budget of all bodies, in bytes; each counts until its call is answered.
const ALL_BYTES: usize = 64 << 20;

/// The largest body that counts as small. Small bodies have a separate budget, so they never wait for large ones.
const SMALL_BYTES: usize = 64 << 10;

/// The budget of all small bodies, in bytes.
const ALL_SMALL_BYTES: usize = 16 << 20;

/// The unit of the budgets, in bytes.
const UNIT_BYTES: usize = 1 << 10;

/// The initial share of a body that is not small and does not announce its length.
const FIRST_BYTES: usize = 1 << 20;

/// The longest wait of a body for its share of the budget.
const WAITING: Duration = Duration::from_secs(20);

/// The time limit for sending a body.
const ARRIVAL: Duration = Duration::from_secs(60);

/// The longest pause in the arrival of a body that holds a large share.
const STALL: Duration = Duration::from_secs(10);

/// The time after which a client that was refused for lack of memory may retry, in seconds.
const RETRY_SECONDS: &str = "5";

/// The number of large texts that are parsed concurrently.
const PARSERS: usize = 2;

/// The largest text that is parsed on the connections' thread: moving it to another would take longer.
const PARSED_AT_ONCE_BYTES: usize = 32 << 10;

/// The budgets. Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct Bodies {
    large: Arc<Semaphore>,
    small: Arc<Semaphore>,
    parsers: Arc<Semaphore>,
    /// The longest wait of a body for its share.
    waiting: Duration,
}

/// A complete body with its share of the budget, which is held until this is dropped.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) bytes: Vec<u8>,
    pub(crate) share: Share,
}

/// A share of a budget.
#[derive(Debug, Default)]
pub(crate) struct Share {
    permits: Option<OwnedSemaphorePermit>,
    bytes: usize,
    is_large: bool,
}

impl Default for Bodies {
    fn default() -> Bodies {
        Bodies {
            large: Arc::new(Semaphore::new(ALL_BYTES / UNIT_BYTES)),
            small: Arc::new(Semaphore::new(ALL_SMALL_BYTES / UNIT_BYTES)),
            parsers: Arc::new(Semaphore::new(PARSERS)),
            waiting: WAITING,
        }
    }
}

impl Bodies {
    /// The number of bytes of a message that may be held without a share.
    pub(crate) const UNSHARED_BYTES: usize = SMALL_BYTES;

    /// Returns the remaining bytes of the budgets of large and small bodies.
    #[cfg(test)]
    pub(crate) fn left(&self) -> (usize, usize) {
        (self.large.available_permits() * UNIT_BYTES, self.small.available_permits() * UNIT_BYTES)
    }

    /// Enlarges a share for a message of at most `most` bytes, of which `needed` have arrived.
    ///
    /// # Errors
    ///
    /// `Busy` if no memory becomes available in time.
    pub(crate) async fn grown(
        &self,
        mut share: Share,
        needed: usize,
        most: usize,
    ) -> Result<Share, WapError> {
        self.grow(&mut share, next_size(needed, most)).await?;
        Ok(share)
    }

    /// Reads a complete body of at most `most` bytes.
    ///
    /// # Errors
    ///
    /// `RequestTooLarge`, `Timeout` if it does not arrive in time, `Busy` if there is not enough memory for it.
    pub(crate) async fn read(
        &self,
        headers: &HeaderMap,
        body: Body,
        limit_bytes: u64,
    ) -> Result<Received, WapError> {
        let most = usize::try_from(limit_bytes).unwrap_or(usize::MAX);
        let announced = headers
            .get(header::CONTENT_LENGTH)
            .and_then(|length| length.to_str().ok()?.parse::<u64>().ok())
            .map(|length| usize::try_from(length).unwrap_or(usize::MAX));
        if announced.is_some_and(|length| length > most) {
            return Err(too_large(most));
        }
        // An announced body takes its whole share before its first byte is read, so that partially read bodies cannot block each
        // other.
        let mut share = Share::default();
        self.grow(&mut share, announced.unwrap_or(0)).await?;
        let mut bytes = Vec::with_capacity(announced.unwrap_or(0));
        let mut pieces = body.into_data_stream();
        let deadline = Instant::now() + ARRIVAL;
        loop {
            // A large share makes others wait, so its client must also send without long pauses.
            let until = if share.is_large { deadline.min(Instant::now() + STALL) } else { deadline };
            let piece = match timeout_at(until, pieces.next()).await {
                Err(_) => return Err(WapError::new(Reason::Timeout, "the body did not arrive in time")),
                Ok(None) => break,
                Ok(Some(Err(_))) => {
                    return Err(WapError::new(Reason::InvalidField, "the body broke off").with("field", "."));
                }
                Ok(Some(Ok(piece))) => piece,
            };
            let needed = bytes.len() + piece.len();
            if needed > most {
                return Err(too_large(most));
            }
            if needed > share.bytes {
                self.grow(&mut share, next_size(needed, most)).await?;
            }
            bytes.extend_from_slice(&piece);
        }
        // Use the capacity, not the length: that is the memory that is held while the call runs.
        share.shrink_to(bytes.capacity());
        Ok(Received { bytes, share })
    }

    /// Enlarges a share to `bytes`.
    async fn grow(&self, share: &mut Share, bytes: usize) -> Result<(), WapError> {
        let is_large = bytes > SMALL_BYTES;
        let budget = if is_large { &self.large } else { &self.small };
        // A body that becomes large takes its whole share from the other budget, and returns the small one.
        let held = if share.is_large == is_large {
            share.permits.as_ref().map_or(0, OwnedSemaphorePermit::num_permits)
        } else {
            0
        };
        let wanted = units(bytes).saturating_sub(held);
        let acquired = Arc::clone(budget).acquire_many_owned(u32::try_from(wanted).unwrap_or(u32::MAX));
        let Ok(Ok(permits)) = timeout(self.waiting, acquired).await else {
            let text = "the bodies of other requests take all the available memory; try again";
            return Err(WapError::new(Reason::Busy, text));
        };
        match &mut share.permits {
            Some(held) if share.is_large == is_large => held.merge(permits),
            held => *held = Some(permits),
        }
        (share.bytes, share.is_large) = (bytes, is_large);
        Ok(())
    }

    /// Parses a text; a large one on another thread than the connections'. Only a few are parsed concurrently: a parsed text
    /// takes several times the memory of the text.
    pub(crate) async fn parse<B, T>(
        &self,
        text: B,
        parse: impl FnOnce(&[u8]) -> T + Send + 'static,
    ) -> Result<T, WapError>
    where
        B: AsRef<[u8]> + Send + 'static,
        T: Send + 'static,
    {
        if text.as_ref().len() <= PARSED_AT_ONCE_BYTES {
            return Ok(parse(text.as_ref()));
        }
        let parser = Arc::clone(&self.parsers).acquire_owned().await.map_err(|_| fault())?;
        let parsed = tokio::task::spawn_blocking(move || {
            let _parser = parser;
            // Parsed, a text of short values takes many times its size; small texts cannot hold too many values.
            wap_core::check_json_size(text.as_ref())?;
            Ok(parse(text.as_ref()))
        });
        parsed.await.map_err(|_| fault())?
    }
}

impl Share {
    /// Returns its number of bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    fn shrink_to(&mut self, bytes: usize) {
        let Some(permits) = &mut self.permits else { return };
        let spare = permits.num_permits().saturating_sub(units(bytes));
        drop(permits.split(spare));
        self.bytes = bytes;
    }
}

/// Answers a request whose body was refused. The rest of the body is not read, so the connection is closed.
pub(crate) fn refused(error: &WapError) -> Response<Body> {
    let mut response = match error.reason() {
        Reason::Timeout => refusal_with(StatusCode::REQUEST_TIMEOUT, error),
        _ => refusal(error),
    };
    let headers = response.headers_mut();
    headers.insert(header::CONNECTION, header::HeaderValue::from_static("close"));
    if error.reason() == Reason::Busy {
        headers.insert(header::RETRY_AFTER, header::HeaderValue::from_static(RETRY_SECONDS));
    }
    response
}

fn too_large(most: usize) -> WapError {
    let text = format!("the body is longer than {most} bytes");
    WapError::new(Reason::RequestTooLarge, text).with("limit", most)
}

fn fault() -> WapError {
    WapError::new(Reason::ReadError, "agentd has a fault and could not answer this call")
}

/// Returns the assumed size of a body of unknown length after `needed` bytes have arrived.
fn next_size(needed: usize, most: usize) -> usize {
    let steps = [SMALL_BYTES, FIRST_BYTES, most];
    steps.into_iter().find(|step| needed <= *step).unwrap_or(most)
}

fn units(bytes: usize) -> usize {
    bytes.div_ceil(UNIT_BYTES)
}

#[cfg(test)]
mod tests {
    use axum::body::Bytes;
    use futures_util::stream;

    use super::*;

    /// Runs a task on a new runtime.
    fn run<T>(task: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        runtime.expect("a runtime of one thread needs nothing").block_on(task)
    }

    fn whole(length: usize) -> Body {
        Body::from_stream(stream::iter(vec![Ok::<_, std::io::Error>(Bytes::from(vec![b' '; length]))]))
    }

    fn left(bodies: &Bodies) -> (usize, usize) {
        bodies.left()
    }

    #[test]
    fn the_share_of_a_body_is_returned_when_it_is_dropped() {
        let bodies = Bodies::default();
        run(async {
            let headers = HeaderMap::new();
            let small = bodies.read(&headers, whole(10), 1 << 24).await.expect("there is room");
            let large = bodies.read(&headers, whole(3 << 20), 1 << 24).await.expect("there is room");
            let (large_left, small_left) = left(&bodies);
            assert!(large_left <= ALL_BYTES - (3 << 20), "{large_left}");
            assert!((ALL_SMALL_BYTES - SMALL_BYTES..ALL_SMALL_BYTES).contains(&small_left), "{small_left}");
            drop((small, large));
            assert_eq!(left(&bodies), (ALL_BYTES, ALL_SMALL_BYTES));
            let failed = bodies.read(&headers, whole(3 << 20), 1 << 20).await.map(|_| ());
            assert_eq!(failed.map_err(|error| error.reason()), Err(Reason::RequestTooLarge));
            assert_eq!(left(&bodies), (ALL_BYTES, ALL_SMALL_BYTES));
        });
    }

    #[test]
    fn a_body_waits_until_there_is_room_for_it_and_a_small_one_does_not() {
        let bodies = Bodies::default();
        run(async {
            let mut headers = HeaderMap::new();
            headers.insert(header::CONTENT_LENGTH, (16 << 20).into());
            let mut held = Vec::new();
            for _ in 0..4 {
                held.push(bodies.read(&headers, whole(16 << 20), 16 << 20).await.expect("there is room"));
            }
            let waiting = bodies.read(&headers, whole(16 << 20), 16 << 20);
            let mut waiting = std::pin::pin!(waiting);
            assert!(timeout(Duration::from_millis(50), &mut waiting).await.is_err(), "it took more");
            bodies.read(&HeaderMap::new(), whole(100), 16 << 20).await.expect("small ones have room");
            held.pop();
            waiting.await.expect("there is room again");
        });
    }

    #[test]
    fn a_body_without_memory_in_time_is_refused_with_a_retry_time() {
        let bodies = Bodies { waiting: Duration::from_millis(50), ..Bodies::default() };
        run(async {
            let all = Arc::clone(&bodies.large).acquire_many_owned((ALL_BYTES / UNIT_BYTES) as u32).await;
            let failed = bodies.read(&HeaderMap::new(), whole(1 << 20), 16 << 20).await.map(|_| ());
            let error = failed.expect_err("there is no room");
            assert_eq!(error.reason(), Reason::Busy);
            let response = refused(&error);
            assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
            assert_eq!(response.headers()[header::RETRY_AFTER], RETRY_SECONDS);
            drop(all);
            bodies.read(&HeaderMap::new(), whole(1 << 20), 16 << 20).await.expect("there is room again");
        });
    }

    #[test]
    fn large_texts_are_parsed_on_another_thread_and_those_of_too_many_values_not_at_all() {
        let bodies = Bodies::default();
        let thread = |_: &[u8]| std::thread::current().id();
        run(async {
            let here = std::thread::current().id();
            assert_eq!(bodies.parse(vec![b' '; 100], thread).await.ok(), Some(here));
            let there = bodies.parse(vec![b' '; 1 << 20], thread).await.expect("it is a short text");
            assert_ne!(there, here);
            let many = bodies.parse(vec![b','; 1 << 20], thread).await;
            assert_eq!(many.map_err(|error| error.reason()), Err(Reason::RequestTooLarge));
        });
    }
}
