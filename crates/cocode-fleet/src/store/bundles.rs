//! Bundles by their content, in chunks.
//!
//! A chunk is the last message of a subject that ends with the bundle's digest and the chunk's number. A reader knows the size,
//! and therefore all subjects: it needs no list, and no consumer, which could deliver to subjects that are not its own.

use std::io;
use std::path::Path;

use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::DirectGetErrorKind;
use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use sha2::{Digest, Sha256};
use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::connection::{FleetConnection, FleetError, refused};
use crate::digest::{BundleDigest, BundleName};
use crate::names::BundleOwner;

/// The bytes of every chunk but the last.
const CHUNK_BYTES: usize = 512 << 10;

/// The first byte of every chunk. A host can make the server answer to the subject of any key, and a chunk is such an
/// answer: with this byte it never parses as a record, a claim or a task, whatever the bundle contains.
const CHUNK_MARK: u8 = 0;

/// The number of chunks in transit at once.
const WINDOW: usize = 8;

/// A bundle that could not be moved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BundleError {
    /// A chunk is not on the server.
    #[error("chunk {chunk} of {chunks} of the bundle {digest} is missing")]
    Missing {
        /// The bundle.
        digest: BundleDigest,
        /// The number of the chunk, from 1.
        chunk: u64,
        /// The number of chunks.
        chunks: u64,
    },
    /// The bytes have another digest, or another length.
    #[error("the bundle {digest} is damaged")]
    Damaged {
        /// The bundle.
        digest: BundleDigest,
    },
    /// It is larger than bundles may be.
    #[error("the bundle has {0} bytes, more than {limit}", limit = crate::BUNDLE_LIMIT_BYTES)]
    TooLarge(u64),
    /// The file failed.
    #[error("cannot read or write the file of the bundle")]
    File(#[from] io::Error),
    /// The server failed.
    #[error("the bundle could not be moved")]
    Call(#[from] FleetError),
}

impl FleetConnection {
    /// Uploads a file as a bundle of an owner and returns its name. Uploading the same bytes again repairs missing
    /// chunks.
    pub(crate) async fn put_bundle(
        &self,
        owner: &BundleOwner,
        path: &Path,
    ) -> Result<BundleName, BundleError> {
        let name = bundle_name(path).await?;
        let subject = self.subjects.bundle(owner, &name.digest);
        let chunks = chunk_count(name.size_bytes);
        let file = File::open(path).await?;
        let pieces = stream::try_unfold((file, 0), |(mut file, index)| async move {
            if index == chunks {
                return Ok(None);
            }
            let mut piece = vec![CHUNK_MARK; 1 + CHUNK_BYTES];
            let length = read_full(&mut file, &mut piece[1..]).await?;
            piece.truncate(1 + length);
            Ok(Some(((index, Bytes::from(piece)), (file, index + 1))))
        });
        let upload = pieces.map_err(BundleError::File).map_ok(|(index, piece)| {
            let message = PublishMessage::build().payload(piece);
            let sending = self.publish("uploading a bundle", format!("{subject}.{index}"), message);
            async { sending.await.map_err(BundleError::Call) }
        });
        upload.try_buffer_unordered(WINDOW).try_for_each(|_| async { Ok(()) }).await?;
        Ok(name)
    }

    /// Returns whether every chunk of a bundle is on the server, without checking its bytes.
    pub(crate) async fn has_bundle(
        &self,
        owner: &BundleOwner,
        name: &BundleName,
    ) -> Result<bool, FleetError> {
        const CALL: &str = "looking for a bundle";
        let stream = self.subjects.bundle_stream(owner);
        let handle = self.context.get_stream_no_info(stream).await.map_err(|error| refused(CALL, &error))?;
        let filter = format!("{}.*", self.subjects.bundle(owner, &name.digest));
        let subjects = self.bounded(CALL, handle.info_with_subjects(filter)).await?;
        let subjects = subjects.map_err(|error| refused(CALL, &error))?;
        let count = self.bounded(CALL, subjects.count()).await?;
        Ok(u64::try_from(count) == Ok(chunk_count(name.size_bytes)))
    }

    /// Downloads a bundle into a new file and checks its digest.
    pub(crate) async fn get_bundle(
        &self,
        owner: &BundleOwner,
        name: &BundleName,
        path: &Path,
    ) -> Result<(), BundleError> {
        if name.size_bytes > crate::BUNDLE_LIMIT_BYTES {
            return Err(BundleError::TooLarge(name.size_bytes));
        }
        let subject = self.subjects.bundle(owner, &name.digest);
        let stream_name = self.subjects.bundle_stream(owner);
        let chunks = chunk_count(name.size_bytes);
        let reads = stream::iter((0..chunks).map(|index| {
            let (stream_name, subject) = (&stream_name, &subject);
            async move {
                let subject = format!("{subject}.{index}");
                let chunk = self.chunk(stream_name, &subject).await?;
                let missing =
                    || BundleError::Missing { digest: name.digest.clone(), chunk: index + 1, chunks };
                chunk.ok_or_else(missing)
            }
        }));
        let mut reads = reads.buffered(WINDOW);
        let mut file = File::create_new(path).await?;
        let (mut hash, mut length) = (Sha256::new(), 0_u64);
        while let Some(piece) = reads.next().await {
            let piece = piece?;
            length += u64::try_from(piece.len()).unwrap_or(u64::MAX);
            if length > name.size_bytes {
                break;
            }
            hash.update(&piece);
            file.write_all(&piece).await?;
        }
        file.flush().await?;
        let is_right = length == name.size_bytes && BundleDigest::from_hash(&hash.finalize()) == name.digest;
        if is_right { Ok(()) } else { Err(BundleError::Damaged { digest: name.digest.clone() }) }
    }

    /// Reads the raw bytes of a chunk, not as text within an answer. An overwritten chunk has a different first byte or
    /// none, and is detected by the digest of the whole.
    async fn chunk(&self, stream: &str, subject: &str) -> Result<Option<Bytes>, FleetError> {
        const CALL: &str = "downloading a bundle";
        let handle = self.context.get_stream_no_info(stream).await.map_err(|error| refused(CALL, &error))?;
        match self.bounded(CALL, handle.direct_get_last_for_subject(subject)).await? {
            Ok(message) => Ok(Some(message.payload.slice(message.payload.len().min(1)..))),
            Err(error) => match error.kind() {
                DirectGetErrorKind::NotFound => Ok(None),
                DirectGetErrorKind::TimedOut => Err(self.no_answer(CALL)),
                _ => Err(refused(CALL, &error)),
            },
        }
    }

    /// Removes a bundle. Only home may.
    pub(crate) async fn delete_bundle(
        &self,
        owner: &BundleOwner,
        name: &BundleName,
    ) -> Result<(), FleetError> {
        const CALL: &str = "removing a bundle";
        let stream = self.subjects.bundle_stream(owner);
        let handle = self.context.get_stream_no_info(stream).await.map_err(|error| refused(CALL, &error))?;
        let filter = format!("{}.*", self.subjects.bundle(owner, &name.digest));
        let purged = self.bounded(CALL, async { handle.purge().filter(filter).await }).await?;
        purged.map(drop).map_err(|error| refused(CALL, &error))
    }
}

/// Returns the name of a file's content.
pub(crate) async fn bundle_name(path: &Path) -> Result<BundleName, BundleError> {
    let mut file = File::open(path).await?;
    let size_bytes = file.metadata().await?.len();
    if size_bytes > crate::BUNDLE_LIMIT_BYTES {
        return Err(BundleError::TooLarge(size_bytes));
    }
    let (mut hash, mut piece) = (Sha256::new(), vec![0; CHUNK_BYTES]);
    loop {
        let length = read_full(&mut file, &mut piece).await?;
        hash.update(&piece[..length]);
        if length < piece.len() {
            return Ok(BundleName { digest: BundleDigest::from_hash(&hash.finalize()), size_bytes });
        }
    }
}

/// Returns the number of chunks; even an empty bundle has one.
fn chunk_count(size_bytes: u64) -> u64 {
    size_bytes.div_ceil(CHUNK_BYTES as u64).max(1)
}

async fn read_full(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match file.read(&mut buffer[length..]).await? {
            0 => break,
            read => length += read,
        }
    }
    Ok(length)
}
