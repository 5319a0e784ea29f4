//! The code index of a docdex daemon as a [`CodeIndex`](wap_core::CodeIndex), over HTTP.
//!
//! A [`RemoteIndex`] makes one request for each call and keeps nothing. A [`FallbackIndex`] asks a second index if the
//! first one is unavailable or fails. Answers are bounded, and refused if they are malformed.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod remote;

pub use remote::{FallbackIndex, RemoteConfig, RemoteIndex, WEB_TIMEOUT, WebPage};
