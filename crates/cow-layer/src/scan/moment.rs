//! The moment at which a layer was made, and what changed after it.
//!
//! It is taken from a file on the same file system, not from a clock, because it is compared with that file
//! system's times of change.
//!
//! - Since Linux 6.13 most file systems keep *multigrain* times: once the time of a file has been looked at, its next
//!   change gets a time with full resolution, and no later change of any file gets an earlier time. Then a file that
//!   changed at the moment or after it changed meanwhile, and one that changed before has an earlier time.
//! - Elsewhere times are those of the last clock tick, up to 10 ms old. Then the moment is the tick, and a layer is
//!   ready only when the next one has come: a file with an equal time changed before, one with a later time after.
//!
//! Either way no save is missed and none is taken for a later one, as long as the clock is not set back meanwhile.

use std::os::fd::AsFd;
use std::time::Duration;

use rustix::fs::{Timestamps, UTIME_NOW, futimens};
use rustix::io::Errno;
use rustix::time::{ClockId, Timespec, clock_gettime};

use crate::handle;

/// The number of attempts to get fine times before waiting for the next tick.
const ATTEMPTS: usize = 3;

/// The length of one wait for the next tick, and the number of waits before the clock counts as too coarse.
const WAIT: Duration = Duration::from_micros(500);
const WAITS: usize = 100;

/// A moment on one file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    /// Nanoseconds since 1970.
    nanoseconds: i128,
    /// `true` if a change at exactly this time came after the moment.
    fine: bool,
}

impl Moment {
    /// Takes the moment with the help of a file that no other process uses; `None` if the times are too
    /// coarse to wait for the next.
    pub(crate) fn take(file: impl AsFd) -> Result<Option<Moment>, Errno> {
        for _ in 0..ATTEMPTS {
            // The first change may get the latest time that any file has, and the look at it makes the next one get a
            // later time than any file has.
            touch(&file)?;
            let latest = handle::stat(&file)?.changed;
            touch(&file)?;
            let nanoseconds = handle::stat(&file)?.changed;
            // A time of the last tick is never later than the clock's last tick.
            if nanoseconds > latest && nanoseconds > last_tick() {
                return Ok(Some(Moment { nanoseconds, fine: true }));
            }
        }
        let nanoseconds = handle::stat(&file)?.changed;
        for _ in 0..WAITS {
            std::thread::sleep(WAIT);
            touch(&file)?;
            if handle::stat(&file)?.changed > nanoseconds {
                return Ok(Some(Moment { nanoseconds, fine: false }));
            }
        }
        Ok(None)
    }

    /// Returns whether a file with this time of change, in nanoseconds since 1970, changed after the moment.
    pub(crate) fn is_before(self, changed: i128) -> bool {
        if self.fine { changed >= self.nanoseconds } else { changed > self.nanoseconds }
    }

    pub(crate) fn encode(self) -> String {
        format!("{} {}", self.nanoseconds, if self.fine { "fine" } else { "coarse" })
    }

    pub(crate) fn decode(text: &str) -> Option<Moment> {
        let (nanoseconds, kind) = text.trim_end().split_once(' ')?;
        let fine = match kind {
            "fine" => true,
            "coarse" => false,
            _ => return None,
        };
        Some(Moment { nanoseconds: nanoseconds.parse().ok()?, fine })
    }
}

fn touch(file: impl AsFd) -> Result<(), Errno> {
    let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
    futimens(file, &Timestamps { last_access: now, last_modification: now })
}

fn last_tick() -> i128 {
    let tick = clock_gettime(ClockId::RealtimeCoarse);
    handle::nanoseconds(tick.tv_sec, tick.tv_nsec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_a_coarse_clock_an_equal_tick_is_before_and_a_later_one_after() {
        let coarse = Moment { nanoseconds: 1_000, fine: false };
        assert_eq!([999, 1_000, 1_001].map(|changed| coarse.is_before(changed)), [false, false, true]);
    }

    #[test]
    fn with_fine_times_an_equal_one_is_after() {
        let fine = Moment { nanoseconds: 1_000, fine: true };
        assert_eq!([999, 1_000, 1_001].map(|changed| fine.is_before(changed)), [false, true, true]);
    }

    #[test]
    fn a_moment_survives_being_written_down() {
        for moment in [Moment { nanoseconds: -5, fine: true }, Moment { nanoseconds: 1 << 70, fine: false }] {
            assert_eq!(Moment::decode(&moment.encode()), Some(moment));
        }
        assert_eq!(Moment::decode("12 new"), None);
    }

    #[test]
    fn edits_right_before_are_before_and_edits_right_after_are_after() {
        let folder = tempfile::tempdir().unwrap();
        let stamp = std::fs::File::create(folder.path().join("stamp")).unwrap();
        let path = folder.path().join("edited");
        for round in 0..300 {
            std::fs::write(&path, format!("before {round}")).unwrap();
            // Half of them were looked at, which changes the time that the next change gets.
            if round % 2 == 0 {
                std::fs::metadata(&path).unwrap();
            }
            let before = std::fs::File::open(&path).unwrap();
            let moment = Moment::take(&stamp).unwrap().unwrap();
            assert!(!moment.is_before(handle::stat(&before).unwrap().changed), "round {round}");
            std::fs::write(&path, format!("after {round}")).unwrap();
            assert!(moment.is_before(handle::stat(&before).unwrap().changed), "round {round}");
        }
    }
}
