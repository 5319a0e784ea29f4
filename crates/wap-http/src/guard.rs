//! Access control by the host, the origin and the token of a request.

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Response, StatusCode, Uri, header};
use axum::middleware::{Next, from_fn_with_state};
use wap_core::{Reason, WapError};

use crate::metrics::Metrics;
use crate::refusal::{refusal, refusal_with};
use crate::token::BearerToken;

/// A host name under which the server may be addressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostName(String);

impl FromStr for HostName {
    type Err = String;

    fn from_str(text: &str) -> Result<HostName, String> {
        let name = text.trim_matches(['[', ']']).to_ascii_lowercase();
        let is_name = !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._:".contains(&byte));
        if !is_name {
            return Err("give the name of a host, without port and scheme".to_owned());
        }
        Ok(HostName(name))
    }
}

/// The checks that every request has to pass.
#[derive(Debug)]
pub struct Guard {
    /// `None` for a server that needs no token.
    token: Option<BearerToken>,
    /// The hosts that a request may name.
    hosts: Vec<HostName>,
    metrics: Arc<Metrics>,
}

impl Guard {
    /// Returns a guard for a server at `address`, which requests may name by `localhost`, by the loopback addresses, by
    /// its own address, and by `more_hosts`.
    #[must_use]
    pub fn new(
        token: Option<BearerToken>,
        address: SocketAddr,
        more_hosts: &[HostName],
        metrics: &Arc<Metrics>,
    ) -> Guard {
        let mut hosts: Vec<_> =
            ["localhost", "127.0.0.1", "::1"].map(|name| HostName(name.to_owned())).to_vec();
        if !address.ip().is_unspecified() {
            hosts.push(HostName(address.ip().to_string()));
        }
        hosts.extend(more_hosts.iter().cloned());
        Guard { token, hosts, metrics: Arc::clone(metrics) }
    }

    pub(crate) fn needs_token(&self) -> bool {
        self.token.is_some()
    }

    /// Refuses requests for another host, or from a page of another origin, before they reach a router.
    pub fn check_sources(self: &Arc<Guard>, router: Router) -> Router {
        router.layer(from_fn_with_state(Arc::clone(self), source))
    }

    /// Counts a request that was refused for another reason.
    pub fn count_refusal(&self) {
        self.metrics.refused();
    }

    /// Returns the names of the hosts.
    pub(crate) fn host_names(&self) -> Vec<String> {
        self.hosts.iter().map(|host| host.0.clone()).collect()
    }

    /// Checks the host and the origin. A page can make the browser send requests to any server under any name (DNS rebinding): so
    /// the name has to be ours, and the page has to come from this server.
    fn check_source(&self, headers: &HeaderMap, uri: &Uri) -> Result<(), WapError> {
        let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
        let mut hosts = headers.get_all(header::HOST).iter();
        let authority = match (uri.authority(), hosts.next(), hosts.next()) {
            (_, Some(host), None) => host.to_str().unwrap_or("?"),
            (Some(authority), None, None) => authority.as_str(),
            _ => return Err(denied("the request does not say which host it is for")),
        };
        // A request line with an absolute URI also names a host, which has precedence: both have to be allowed.
        let named = uri.authority().map(|authority| authority.as_str()).into_iter().chain([authority]);
        for name in named {
            if !self.hosts.iter().any(|host| host.0 == host_of(name)) {
                return Err(denied("host not allowed: add it with --allow-host NAME"));
            }
        }
        let Some(origin) = text(header::ORIGIN) else { return Ok(()) };
        let from = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        if from.is_some_and(|from| from.eq_ignore_ascii_case(authority)) {
            return Ok(());
        }
        Err(denied("pages from elsewhere may not use this server"))
    }

    fn check_token(&self, headers: &HeaderMap, uri: &Uri) -> Result<(), WapError> {
        let Some(token) = &self.token else { return Ok(()) };
        let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let bearer = given.and_then(|given| {
            let (scheme, token) = given.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
        });
        // For clients that cannot set a header, such as the WebSockets of browsers.
        let in_query = || uri.query()?.split('&').find_map(|pair| pair.strip_prefix("token="));
        match bearer.or_else(in_query) {
            Some(given) if token.is(given) => Ok(()),
            Some(_) => Err(denied("the token is wrong")),
            None => Err(denied("a token is needed: send it as 'Authorization: Bearer TOKEN'")),
        }
    }
}

fn denied(text: &str) -> WapError {
    WapError::new(Reason::Unauthorized, text)
}

/// Returns the name or address in `name:port`, `[address]:port` and the like, in lower case.
fn host_of(authority: &str) -> String {
    let host = match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        // An IPv6 address without brackets has no port.
        None if authority.parse::<IpAddr>().is_ok() => authority,
        None => authority.rsplit_once(':').map_or(authority, |(host, _)| host),
    };
    host.to_ascii_lowercase()
}

/// Lets a request pass if its host and origin are allowed.
pub(crate) async fn source(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response<Body> {
    match guard.check_source(request.headers(), request.uri()) {
        Ok(()) => next.run(request).await,
        Err(error) => {
            guard.metrics.refused();
            refusal_with(StatusCode::FORBIDDEN, &error)
        }
    }
}

/// Lets a request pass if it has the token.
pub(crate) async fn token(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response<Body> {
    match guard.check_token(request.headers(), request.uri()) {
        Ok(()) => next.run(request).await,
        Err(error) => {
            guard.metrics.refused();
            refusal(&error)
        }
    }
}
