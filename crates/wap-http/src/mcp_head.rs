//! Bounds the parts of an MCP message that the server keeps beyond its call, before the service reads the message.
//!
//! An id is kept with a call and is part of its answer, which is kept for a client that resumes. The names of a client are kept
//! as long as its session.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use wap_core::{Reason, WapError};

/// The method that begins a session, whose parameters are kept with the session.
const INITIALIZE: &str = "initialize";

/// The most bytes of an id and of a method.
const MOST_ID_BYTES: usize = 1 << 10;

/// The most bytes of the texts in `_meta`, which names the client in the newer era.
const MOST_META_BYTES: usize = 16 << 10;

/// The most bytes of the message that begins a session.
const MOST_INITIALIZE_BYTES: usize = 64 << 10;

/// The head of a message.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct MessageHead {
    #[serde(default)]
    id: TextBytes,
    #[serde(default)]
    method: Method,
    #[serde(default)]
    params: Params,
}

#[derive(Debug, Default)]
struct Method {
    bytes: usize,
    is_initialize: bool,
}

/// The number of bytes in the texts of a value, including field names. The value itself is not kept.
#[derive(Debug, Default)]
struct TextBytes(usize);

/// The parameters, of which only `_meta` is measured.
#[derive(Debug, Default)]
struct Params {
    meta: TextBytes,
}

impl MessageHead {
    /// Parses and checks a message. A short one that cannot be parsed is left to the service, which refuses it.
    ///
    /// # Errors
    ///
    /// `InvalidField` if a part is too long, or a long message is malformed, such as with two ids.
    pub(crate) fn check(message: &[u8]) -> Result<MessageHead, WapError> {
        let head: MessageHead = match serde_json::from_slice(message) {
            Ok(head) => head,
            Err(_) if message.len() <= MOST_ID_BYTES => MessageHead::default(),
            Err(error) => {
                let text = format!("the message is malformed: {error}");
                return Err(WapError::new(Reason::InvalidField, text).with("field", "."));
            }
        };
        let too_long = |field: &str, most: usize| {
            let text = format!("'{field}' of a message has at most {most} bytes");
            Err(WapError::new(Reason::InvalidField, text).with("field", field))
        };
        if head.id.0 > MOST_ID_BYTES {
            return too_long("id", MOST_ID_BYTES);
        }
        if head.method.bytes > MOST_ID_BYTES {
            return too_long("method", MOST_ID_BYTES);
        }
        if head.params.meta.0 > MOST_META_BYTES {
            return too_long("_meta", MOST_META_BYTES);
        }
        if head.method.is_initialize && message.len() > MOST_INITIALIZE_BYTES {
            let text = format!("a message '{INITIALIZE}' has at most {MOST_INITIALIZE_BYTES} bytes");
            return Err(WapError::new(Reason::InvalidField, text).with("field", "params"));
        }
        Ok(head)
    }

    /// Checks whether the message begins a session.
    pub(crate) fn begins_a_session(&self) -> bool {
        self.method.is_initialize
    }
}

impl<'de> Deserialize<'de> for Method {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Method, D::Error> {
        struct OfText;

        impl Visitor<'_> for OfText {
            type Value = Method;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a method")
            }

            fn visit_str<E>(self, text: &str) -> Result<Method, E> {
                Ok(Method { bytes: text.len(), is_initialize: text == INITIALIZE })
            }
        }

        deserializer.deserialize_str(OfText)
    }
}

impl<'de> Deserialize<'de> for Params {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Params, D::Error> {
        struct OfFields;

        impl<'de> Visitor<'de> for OfFields {
            type Value = Params;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("parameters")
            }

            fn visit_unit<E>(self) -> Result<Params, E> {
                Ok(Params::default())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Params, A::Error> {
                while items.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Params::default())
            }

            fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Params, A::Error> {
                let mut params = Params::default();
                while let Some(name) = fields.next_key::<String>()? {
                    if name == "_meta" {
                        // A repeated name counts each time.
                        params.meta.0 += fields.next_value::<TextBytes>()?.0;
                    } else {
                        fields.next_value::<IgnoredAny>()?;
                    }
                }
                Ok(params)
            }
        }

        deserializer.deserialize_any(OfFields)
    }
}

impl<'de> Deserialize<'de> for TextBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TextBytes, D::Error> {
        deserializer.deserialize_any(Measure)
    }
}

struct Measure;

impl<'de> Visitor<'de> for Measure {
    type Value = TextBytes;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<TextBytes, E> {
        Ok(TextBytes(0))
    }

    fn visit_bool<E>(self, _: bool) -> Result<TextBytes, E> {
        Ok(TextBytes(0))
    }

    fn visit_i64<E>(self, _: i64) -> Result<TextBytes, E> {
        Ok(TextBytes(size_of::<i64>()))
    }

    fn visit_u64<E>(self, _: u64) -> Result<TextBytes, E> {
        Ok(TextBytes(size_of::<u64>()))
    }

    fn visit_f64<E>(self, _: f64) -> Result<TextBytes, E> {
        Ok(TextBytes(size_of::<f64>()))
    }

    fn visit_str<E>(self, text: &str) -> Result<TextBytes, E> {
        Ok(TextBytes(text.len()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<TextBytes, A::Error> {
        let mut bytes = 0;
        while let Some(item) = items.next_element::<TextBytes>()? {
            bytes += item.0;
        }
        Ok(TextBytes(bytes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<TextBytes, A::Error> {
        let mut bytes = 0;
        while let Some((name, value)) = fields.next_entry::<TextBytes, TextBytes>()? {
            bytes += name.0 + value.0;
        }
        Ok(TextBytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::MessageHead;

    fn refused(message: &Value) -> Option<String> {
        let error = MessageHead::check(message.to_string().as_bytes()).err()?;
        Some(error.detail("field").unwrap().as_str().unwrap().to_owned())
    }

    #[test]
    fn parts_kept_beyond_a_call_are_bounded() {
        let long = "x".repeat(2 << 10);
        let call = |id: Value, meta: Value| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "readFile", "_meta": meta } });
        assert_eq!(refused(&call(json!(long), json!({}))).as_deref(), Some("id"));
        let name = "n".repeat(20 << 10);
        for meta in [
            json!({ "progressToken": name }),
            json!({ "io.modelcontextprotocol/clientInfo": { "name": name, "version": "1" } }),
            json!({ name.clone(): [1] }),
            json!([[{ "a": name }]]),
        ] {
            assert_eq!(refused(&call(json!(1), meta)).as_deref(), Some("_meta"));
        }
        assert_eq!(refused(&json!({ "id": 1, "method": long })).as_deref(), Some("method"));
        let initialize = |name: &str| json!({ "id": 1, "method": "initialize", "params": { "clientInfo": { "name": name } } });
        assert_eq!(refused(&initialize(&"n".repeat(65 << 10))).as_deref(), Some("params"));
        // The controls: usual heads, with a long argument.
        let mut long_write = call(json!("a".repeat(36)), json!({ "progressToken": 1 }));
        long_write["params"]["arguments"] = json!({ "path": "a", "content": "c".repeat(1 << 20) });
        let answer = json!({ "id": 1, "result": { "content": "c".repeat(1 << 20) } });
        for message in
            [long_write, initialize("test"), answer, json!([1, 2]), json!({ "id": null, "params": [long] })]
        {
            assert_eq!(refused(&message), None);
        }
        // Of two ids, the service might use the other one.
        let twice = format!(r#"{{"id":1,"id":"{long}","method":"ping"}}"#);
        assert!(MessageHead::check(twice.as_bytes()).is_err());
    }

    #[test]
    fn the_beginning_of_a_session_is_recognised() {
        let begins = |text: &str| MessageHead::check(text.as_bytes()).unwrap().begins_a_session();
        assert!(begins(r#"{"id":1,"params":{},"method":"initialize"}"#));
        assert!(!begins(r#"{"id":1,"method":"tools/list"}"#));
        assert!(!begins("not JSON"));
    }
}
