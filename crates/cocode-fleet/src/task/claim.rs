//! The claim of a host that it has done a task.

use serde::{Deserialize, Serialize};

use crate::digest::BundleName;

/// The greatest length of a claim as JSON, in bytes.
pub(crate) const CLAIM_LIMIT_BYTES: usize = 64 << 10;

/// The end of an agent, as a host states it. Home judges the commits itself, whatever this says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimedState {
    /// The host's verdict is that the work is ready.
    Ready,
    /// The agent ended well, and its work is not ready.
    Completed,
    /// The agent failed.
    Failed,
    /// The agent exceeded its time.
    TimedOut,
    /// The agent was cancelled.
    Cancelled,
}

/// A claim: the entry `<host>.<run>.<agent>.<epoch>` in `results`, which only that host can write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The end of the agent.
    pub state: ClaimedState,
    /// The agent's exit code, if it ended by itself.
    #[serde(default)]
    pub exit_code: Option<i32>,
    /// True if the agent left nothing uncommitted; none if neither task nor definition asks.
    #[serde(default)]
    pub is_clean: Option<bool>,
    /// The commit at which it ended: 40 or 64 hexadecimal digits; none if there is no new commit.
    #[serde(default)]
    pub head: Option<String>,
    /// The bundle with its commits; none if there are none.
    #[serde(default)]
    pub bundle: Option<BundleName>,
    /// Further details, at most 8 KiB.
    #[serde(default)]
    pub detail: String,
}

/// A claim that home rejects.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClaimError {
    /// It is larger than any claim.
    #[error("the claim has {0} bytes, more than {CLAIM_LIMIT_BYTES}")]
    TooLong(usize),
    /// It is not the JSON of a claim.
    #[error("not the JSON of a claim")]
    NotJson(#[source] serde_json::Error),
    /// Its bundle is larger than bundles may be.
    #[error("the claimed bundle has {0} bytes, more than bundles may have")]
    BundleTooLong(u64),
    /// Its head is not a commit.
    #[error("the claimed head is not a commit")]
    Head,
}

impl Claim {
    /// Reads what a host wrote.
    ///
    /// # Errors
    ///
    /// Every kind of [`ClaimError`].
    pub fn parse(bytes: &[u8], bundle_limit_bytes: u64) -> Result<Claim, ClaimError> {
        if bytes.len() > CLAIM_LIMIT_BYTES {
            return Err(ClaimError::TooLong(bytes.len()));
        }
        let mut claim: Claim = serde_json::from_slice(bytes).map_err(ClaimError::NotJson)?;
        if let Some(bundle) = claim.bundle.as_ref().filter(|bundle| bundle.size_bytes > bundle_limit_bytes) {
            return Err(ClaimError::BundleTooLong(bundle.size_bytes));
        }
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if claim
            .head
            .as_ref()
            .is_some_and(|head| !matches!(head.len(), 40 | 64) || !head.bytes().all(is_digit))
        {
            return Err(ClaimError::Head);
        }
        claim.detail = crate::text::cut(&claim.detail, 8 << 10);
        Ok(claim)
    }

    pub(crate) fn render(&self) -> Vec<u8> {
        let bounded = Claim { detail: crate::text::cut(&self.detail, 8 << 10), ..self.clone() };
        serde_json::to_vec(&bounded).expect("a claim has no key that is not a text")
    }
}
