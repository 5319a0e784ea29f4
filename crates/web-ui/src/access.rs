//! Access to the page: a code that works once, exchanged for a cookie and a key.
//!
//! A cookie belongs to a host and not to a port, so another server of this machine would receive it from the same browser. The
//! key is kept by the page in storage of its own origin, which includes the port, and a request needs both.
//!
//! Access ends with the process. Another program can take the port then, and a browser sends both to it: they must not
//! give access to a later server, on this port or another.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, header};
use blake3::Hash;
use uuid::Uuid;

/// The time for which a code can be used.
pub const CODE_LIFETIME: Duration = Duration::from_secs(10 * 60);

/// The time for which a cookie is accepted.
const VISIT: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The most unused codes, and the most browsers with access; the oldest make room.
const MOST_CODES: usize = 16;
const MOST_VISITORS: usize = 32;

/// The header with the key.
pub(crate) const KEY_HEADER: &str = "x-agentd-key";

/// The codes and browsers of one server.
#[derive(Debug)]
pub struct Access {
    /// Names the port, since servers on several ports share the cookies of a host.
    cookie_name: String,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Hashes of codes, each with the end of its time. Hashes are compared in constant time.
    codes: Vec<(Hash, Instant)>,
    visitors: Vec<Visitor>,
    refused: u64,
}

/// A browser that has access, as hashes.
#[derive(Debug)]
struct Visitor {
    cookie: Hash,
    key: Hash,
    /// The end of its access.
    ends: Instant,
}

/// A code that gives no access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this code was used before, has expired, or is wrong")]
pub struct AccessError;

/// The cookie and the key that a browser receives for a code.
#[derive(Debug)]
pub(crate) struct Entry {
    /// The value of the header that sets the cookie.
    pub(crate) cookie: String,
    /// The key that the page keeps.
    pub(crate) key: String,
}

impl Access {
    /// Returns the access to a server at a port, without codes or browsers.
    #[must_use]
    pub fn new(port: u16) -> Access {
        let state = Mutex::new(State { codes: Vec::new(), visitors: Vec::new(), refused: 0 });
        Access { cookie_name: format!("agentd-{port}"), state }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a code, which works once and for [`CODE_LIFETIME`].
    #[must_use]
    pub fn code(&self) -> String {
        let code = Uuid::new_v4().simple().to_string();
        let mut state = self.lock();
        if state.codes.len() >= MOST_CODES {
            state.codes.remove(0);
        }
        state.codes.push((blake3::hash(code.as_bytes()), Instant::now() + CODE_LIFETIME));
        code
    }

    /// Returns the number of codes that were refused.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.lock().refused
    }

    /// Exchanges a code.
    pub(crate) fn enter(&self, code: &str) -> Result<Entry, AccessError> {
        self.enter_at(code, Instant::now())
    }

    fn enter_at(&self, code: &str, now: Instant) -> Result<Entry, AccessError> {
        let hash = blake3::hash(code.as_bytes());
        {
            let mut state = self.lock();
            state.codes.retain(|(_, ends)| *ends > now);
            let Some(index) = state.codes.iter().position(|(code, _)| *code == hash) else {
                state.refused += 1;
                return Err(AccessError);
            };
            state.codes.remove(index);
        }
        Ok(self.admit(now))
    }

    fn admit(&self, now: Instant) -> Entry {
        let [cookie, key] = [(); 2].map(|()| Uuid::new_v4().simple().to_string());
        let visitor = Visitor {
            cookie: blake3::hash(cookie.as_bytes()),
            key: blake3::hash(key.as_bytes()),
            ends: now + VISIT,
        };
        let mut state = self.lock();
        state.visitors.retain(|visitor| visitor.ends > now);
        if state.visitors.len() >= MOST_VISITORS {
            state.visitors.remove(0);
        }
        state.visitors.push(visitor);
        let age = VISIT.as_secs();
        let name = &self.cookie_name;
        let cookie = format!("{name}={cookie}; Path=/ui; Max-Age={age}; HttpOnly; SameSite=Strict");
        Entry { cookie, key }
    }

    /// Checks whether a request comes from a browser that has access.
    pub(crate) fn is_admitted(&self, headers: &HeaderMap) -> bool {
        self.is_admitted_at(headers, Instant::now())
    }

    fn is_admitted_at(&self, headers: &HeaderMap, now: Instant) -> bool {
        let Some(key) = headers.get(KEY_HEADER) else { return false };
        let key = blake3::hash(key.as_bytes());
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut values = cookies.flat_map(|cookies| cookies.split(';')).filter_map(|cookie| {
            let (name, value) = cookie.trim().split_once('=')?;
            (name == self.cookie_name).then(|| blake3::hash(value.as_bytes()))
        });
        let state = self.lock();
        values.any(|cookie| {
            let is_of =
                |visitor: &&Visitor| visitor.cookie == cookie && visitor.key == key && visitor.ends > now;
            state.visitors.iter().any(|visitor| is_of(&visitor))
        })
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn headers(cookie: &str, key: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, HeaderValue::from_str(cookie).unwrap());
        headers.insert(KEY_HEADER, HeaderValue::from_str(key).unwrap());
        headers
    }

    fn value(entry: &Entry) -> &str {
        entry.cookie.split(';').next().unwrap()
    }

    #[test]
    fn a_code_works_once() {
        let access = Access::new(7412);
        let code = access.code();
        assert!(access.enter("wrong").is_err());
        let entry = access.enter(&code).unwrap();
        assert_eq!(access.enter(&code).err(), Some(AccessError));
        assert_eq!(access.refused(), 2);
        assert!(access.is_admitted(&headers(&format!("other=1; {}", value(&entry)), &entry.key)));
    }

    #[test]
    fn what_a_browser_has_sent_to_a_port_opens_no_later_server() {
        let access = Access::new(7412);
        let entry = access.enter(&access.code()).unwrap();
        let secret = value(&entry).split_once('=').unwrap().1;
        // The client chooses the name of the cookie, so the value must not open the other port under its name, either.
        for port in [7412, 7413] {
            let later = Access::new(port);
            assert!(!later.is_admitted(&headers(&format!("agentd-{port}={secret}"), &entry.key)), "{port}");
        }
        // The control: the server that gave them still admits it.
        assert!(access.is_admitted(&headers(&format!("agentd-7412={secret}"), &entry.key)));
    }

    #[test]
    fn a_code_and_a_browser_have_their_time() {
        let access = Access::new(1);
        let second = Duration::from_secs(1);
        let (early, late) = (access.code(), access.code());
        let made = Instant::now();
        let entered = made + CODE_LIFETIME - second;
        let entry = access.enter_at(&early, entered).unwrap();
        assert_eq!(access.enter_at(&late, made + CODE_LIFETIME + second).err(), Some(AccessError));
        let headers = headers(value(&entry), &entry.key);
        assert!(access.is_admitted_at(&headers, entered + VISIT - second));
        assert!(!access.is_admitted_at(&headers, entered + VISIT + second));
    }

    #[test]
    fn the_oldest_browser_makes_room() {
        let access = Access::new(1);
        let first = access.enter(&access.code()).unwrap();
        let enter = |_| access.enter(&access.code()).unwrap();
        let mut others: Vec<_> = (1..MOST_VISITORS).map(enter).collect();
        assert!(access.is_admitted(&headers(value(&first), &first.key)), "the control: all have room");
        others.push(enter(0));
        assert!(!access.is_admitted(&headers(value(&first), &first.key)));
        assert!(others.iter().all(|entry| access.is_admitted(&headers(value(entry), &entry.key))));
    }

    #[test]
    fn cookie_and_key_belong_together() {
        let access = Access::new(1);
        let [one, other] = [(); 2].map(|()| access.enter(&access.code()).unwrap());
        assert!(!access.is_admitted(&headers(value(&one), &other.key)));
        assert!(!access.is_admitted(&headers(value(&one), "")));
        assert!(!access.is_admitted(&HeaderMap::new()));
        assert!(access.is_admitted(&headers(value(&other), &other.key)));
    }

    #[test]
    fn old_codes_make_room() {
        let access = Access::new(1);
        let first = access.code();
        let codes: Vec<_> = (0..MOST_CODES).map(|_| access.code()).collect();
        assert!(access.enter(&first).is_err());
        assert!(codes.iter().all(|code| access.enter(code).is_ok()));
    }
}
