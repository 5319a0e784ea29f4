#![doc = include_str!("../README.md")]

mod access;
mod answer;
mod api;
mod assets;
mod bounded_text;
mod continued_work;
mod event_hub;
mod headers;
mod page;
mod page_host;
mod reply_run;
mod router;
mod watching;

pub use access::{Access, AccessError, CODE_LIFETIME};
pub use assets::{asset_bytes, assets};
pub use bounded_text::{BoundedText, TextBounds, bounded};
pub use continued_work::{TakeInError, take_in};
pub use page::{Page, PageConfig};
pub use page_host::{Finding, FindingState, PageHost};
pub use router::{router, site};
