//! Measures the incomplete message that a connection holds: beyond a small size it needs a share of the budget.
//!
//! This crate reads the bodies of requests, but a library reads WebSocket messages and keeps the fragments itself. So the
//! connection is measured below that library.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use wap_core::WapError;

use crate::bodies::{Bodies, Share};

/// The time limit for a message that holds a share: others wait for it.
const ARRIVAL: Duration = Duration::from_secs(60);

/// The measure of one connection. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meter(Arc<Mutex<Measured>>);

#[derive(Debug, Default)]
struct Measured {
    /// The budget and the largest size of messages; `None` while the connection carries requests.
    budget: Option<(Bodies, usize)>,
    /// The bytes read since the last complete message.
    bytes: usize,
    share: Share,
    /// The time at which the message received its share; `None` without one.
    shared_at: Option<Instant>,
}

/// A pending share.
pub(crate) type Growing = Pin<Box<dyn Future<Output = Result<Share, WapError>> + Send>>;

impl Meter {
    /// Starts measuring messages of at most `most_bytes`.
    pub(crate) fn begin(&self, bodies: Bodies, most_bytes: usize) {
        self.lock().budget = Some((bodies, most_bytes));
    }

    /// Records that a message is complete and processed.
    pub(crate) fn end_message(&self) {
        let mut measured = self.lock();
        measured.bytes = 0;
        measured.share = Share::default();
        measured.shared_at = None;
    }

    /// Subtracts bytes that were read and do not belong to a message.
    pub(crate) fn leave_out(&self, bytes: usize) {
        let mut measured = self.lock();
        measured.bytes = measured.bytes.saturating_sub(bytes);
    }

    /// Checks whether an incomplete message has held a share of the budget for too long.
    pub(crate) fn is_overdue(&self, now: Instant) -> bool {
        self.lock().shared_at.is_some_and(|at| now.saturating_duration_since(at) > ARRIVAL)
    }

    /// Returns the number of bytes that may be read now, once there is memory for some. The caller keeps `growing` between calls.
    pub(crate) fn poll_room(
        &self,
        growing: &mut Option<Growing>,
        context: &mut Context<'_>,
    ) -> Poll<Result<usize, WapError>> {
        loop {
            // Do not hold the lock while waiting: `end_message` needs it.
            if let Some(waiting) = growing {
                let grown = ready!(waiting.as_mut().poll(context));
                *growing = None;
                let mut measured = self.lock();
                measured.share = grown?;
                measured.shared_at.get_or_insert_with(Instant::now);
            }
            let mut measured = self.lock();
            let Some((bodies, most)) = measured.budget.clone() else { return Poll::Ready(Ok(usize::MAX)) };
            // The library itself ends a message beyond the largest size, and frames other than messages are not measured.
            if measured.share.bytes() >= most {
                return Poll::Ready(Ok(usize::MAX));
            }
            let room = measured.share.bytes().max(Bodies::UNSHARED_BYTES).saturating_sub(measured.bytes);
            if room > 0 {
                return Poll::Ready(Ok(room));
            }
            let (share, needed) = (std::mem::take(&mut measured.share), measured.bytes + 1);
            *growing = Some(Box::pin(async move { bodies.grown(share, needed, most).await }));
        }
    }

    /// Records that `bytes` were read.
    pub(crate) fn add(&self, bytes: usize) {
        self.lock().bytes += bytes;
    }

    fn lock(&self) -> MutexGuard<'_, Measured> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{ARRIVAL, Meter};
    use crate::bodies::Bodies;

    /// Returns the bytes that may be read now.
    async fn room(meter: &Meter) -> usize {
        let mut growing = None;
        std::future::poll_fn(|context| meter.poll_room(&mut growing, context)).await.unwrap()
    }

    #[test]
    fn a_message_that_holds_a_share_has_a_time_limit() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let meter = Meter::default();
            meter.begin(Bodies::default(), 20 << 20);
            let late = || Instant::now() + ARRIVAL + Duration::from_secs(1);
            meter.add(room(&meter).await);
            assert!(!meter.is_overdue(late()), "a small piece holds no share");
            meter.add(room(&meter).await);
            assert!(!meter.is_overdue(Instant::now()) && meter.is_overdue(late()));
            // More data does not restart the time; the end of the message does.
            room(&meter).await;
            meter.add(1);
            assert!(meter.is_overdue(late()));
            meter.end_message();
            assert!(!meter.is_overdue(late()));
        });
    }

    #[test]
    fn pings_take_no_share() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let meter = Meter::default();
            meter.begin(Bodies::default(), 20 << 20);
            for _ in 0..Bodies::UNSHARED_BYTES {
                room(&meter).await;
                meter.add(10);
                meter.leave_out(10);
            }
            assert!(!meter.is_overdue(Instant::now() + ARRIVAL * 2));
        });
    }
}
