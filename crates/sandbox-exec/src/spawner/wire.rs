//! The private encoding of a request between the launcher and its spawner, which come from the same build.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Writes values one after the other, each byte string with its length.
#[derive(Debug, Default)]
pub(crate) struct Encoder {
    bytes: Vec<u8>,
}

impl Encoder {
    pub(crate) fn number(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    pub(crate) fn bytes(&mut self, value: &[u8]) {
        self.number(value.len() as u64);
        self.bytes.extend_from_slice(value);
    }

    pub(crate) fn os(&mut self, value: &OsStr) {
        self.bytes(value.as_bytes());
    }

    pub(crate) fn path(&mut self, value: &Path) {
        self.os(value.as_os_str());
    }

    pub(crate) fn list<T>(&mut self, values: &[T], mut each: impl FnMut(&mut Encoder, &T)) {
        self.number(values.len() as u64);
        for value in values {
            each(self, value);
        }
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// Reads what an [`Encoder`] wrote. `None` means that the bytes are not such a request.
#[derive(Debug)]
pub(crate) struct Decoder<'a> {
    rest: &'a [u8],
}

impl<'a> Decoder<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Decoder<'a> {
        Decoder { rest: bytes }
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        let (first, rest) = self.rest.split_first_chunk::<8>()?;
        self.rest = rest;
        Some(u64::from_le_bytes(*first))
    }

    pub(crate) fn number_u32(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (first, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(first)
    }

    pub(crate) fn os(&mut self) -> Option<OsString> {
        Some(OsString::from_vec(self.bytes()?.to_vec()))
    }

    pub(crate) fn path(&mut self) -> Option<PathBuf> {
        Some(self.os()?.into())
    }

    pub(crate) fn list<T>(&mut self, mut each: impl FnMut(&mut Decoder<'a>) -> Option<T>) -> Option<Vec<T>> {
        let count = self.number()?;
        // Not `with_capacity(count)`: the count is trusted only as far as there are bytes for it.
        (0..count).map(|_| each(self)).collect()
    }

    /// Returns the unread bytes.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Requires that all bytes have been read.
    pub(crate) fn end(&self) -> Option<()> {
        self.rest.is_empty().then_some(())
    }
}
