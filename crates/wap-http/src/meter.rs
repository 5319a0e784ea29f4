//! The bytes of an incomplete message that a connection holds: beyond a small size it needs a share of the budget.
//!
//! The body of a request is read by this crate, a message of a WebSocket by a library that keeps the pieces itself. So its
//! connection is measured below that library.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use wap_core::WapError;

use crate::bodies::{Bodies, Share};

/// The measure of one connection. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meter(Arc<Mutex<Measured>>);

#[derive(Debug, Default)]
struct Measured {
    /// The budget of messages, and the size of the largest; `None` while the connection carries requests.
    budget: Option<(Bodies, usize)>,
    /// Bytes that were read since the last whole message.
    bytes: usize,
    share: Share,
}

/// A share that is being waited for.
pub(crate) type Growing = Pin<Box<dyn Future<Output = Result<Share, WapError>> + Send>>;

impl Meter {
    /// Measures from now on, messages of at most so many bytes.
    pub(crate) fn begin(&self, bodies: Bodies, most_bytes: usize) {
        self.lock().budget = Some((bodies, most_bytes));
    }

    /// Records that a message is complete and processed.
    pub(crate) fn end_message(&self) {
        let mut measured = self.lock();
        measured.bytes = 0;
        measured.share = Share::default();
    }

    /// Returns the number of bytes that may be read now, once there is room for some. The caller keeps `growing` between
    /// calls.
    pub(crate) fn poll_room(
        &self,
        growing: &mut Option<Growing>,
        context: &mut Context<'_>,
    ) -> Poll<Result<usize, WapError>> {
        loop {
            // The lock is not held while it waits: `end_message` needs it.
            if let Some(waiting) = growing {
                let grown = ready!(waiting.as_mut().poll(context));
                *growing = None;
                self.lock().share = grown?;
            }
            let mut measured = self.lock();
            let Some((bodies, most)) = measured.budget.clone() else { return Poll::Ready(Ok(usize::MAX)) };
            // The library itself ends a message beyond the largest; and frames other than messages are not measured.
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

    /// Records that so many bytes were read.
    pub(crate) fn add(&self, bytes: usize) {
        self.lock().bytes += bytes;
    }

    fn lock(&self) -> MutexGuard<'_, Measured> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
