//! Connections outside the sandbox, on behalf of commands.

mod connection;
mod dialer;
mod grant;
mod greeting;
mod outside;
mod proxy;
mod refused;
mod relay;
mod route;
mod scope;
mod system_names;
mod system_outside;

pub use dialer::{DialLimits, Dialer};
pub use grant::Grant;
pub use outside::{Outside, ResolveError};
pub use proxy::{Proxy, ProxyError};
pub use system_outside::SystemOutside;
