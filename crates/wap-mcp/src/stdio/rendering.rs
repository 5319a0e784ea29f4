//! Renders messages as JSON, piece by piece if they have a large text.

use json_escape_simd::escape_into;
use memchr::memmem;
use rmcp::RoleServer;
use rmcp::model::{ContentBlock, JsonRpcMessage, ServerResult};
use rmcp::service::TxJsonRpcMessage;

/// The size from which a text is rendered separately from its message.
const LARGE_BYTES: usize = 4 << 10;

/// The size of one piece of a text.
const PIECE_BYTES: usize = 64 << 10;

/// A message with the state of its rendering.
///
/// Nearly all of a large answer is one text. A serializer escapes it byte by byte, and has to finish before the first byte can be
/// sent; this escapes it with vector instructions and in pieces.
#[derive(Debug, Default)]
pub(crate) struct Rendering {
    /// The part before the text, with its opening quote; the whole message if it has no large text.
    before: Vec<u8>,
    text: String,
    /// The number of rendered bytes of the text.
    rendered: usize,
    after: Vec<u8>,
    /// The last piece, with quotes around it.
    piece: Vec<u8>,
    has_begun: bool,
}

impl From<&[u8]> for Rendering {
    /// Returns the rendering of a message that is already JSON.
    fn from(message: &[u8]) -> Rendering {
        Rendering { before: message.to_owned(), ..Rendering::default() }
    }
}

impl Rendering {
    pub(crate) fn of(mut message: TxJsonRpcMessage<RoleServer>) -> serde_json::Result<Rendering> {
        let Some(text) = large_text(&mut message) else {
            return Ok(Rendering { before: serde_json::to_vec(&message)?, ..Rendering::default() });
        };
        // Serialize the message with a unique placeholder for the text.
        let mark = uuid::Uuid::new_v4().simple().to_string();
        let text = std::mem::replace(text, mark.clone());
        let mut before = serde_json::to_vec(&message)?;
        let at = memmem::find(&before, mark.as_bytes()).expect("a text of a message is a part of its JSON");
        let after = before.split_off(at + mark.len());
        before.truncate(at);
        Ok(Rendering { before, text, after, ..Rendering::default() })
    }

    /// Appends the next piece; `false` if it was the last one.
    pub(crate) fn render_piece(&mut self, buffer: &mut Vec<u8>) -> bool {
        if !std::mem::replace(&mut self.has_begun, true) {
            buffer.extend_from_slice(&self.before);
        }
        let rest = &self.text[self.rendered..];
        let piece = &rest[..rest.floor_char_boundary(PIECE_BYTES)];
        if !piece.is_empty() {
            self.piece.clear();
            escape_into(piece, &mut self.piece);
            buffer.extend_from_slice(&self.piece[1..self.piece.len() - 1]);
        }
        self.rendered += piece.len();
        let is_last = self.rendered == self.text.len();
        if is_last {
            buffer.extend_from_slice(&self.after);
        }
        !is_last
    }
}

/// Returns the text of an answer that is large enough to be rendered separately.
fn large_text(message: &mut TxJsonRpcMessage<RoleServer>) -> Option<&mut String> {
    let JsonRpcMessage::Response(response) = message else { return None };
    let ServerResult::CallToolResult(result) = &mut response.result else { return None };
    result.content.iter_mut().find_map(|content| match content {
        ContentBlock::Text(content) if content.text.len() > LARGE_BYTES => Some(&mut content.text),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rmcp::model::{CallToolResult, NumberOrString};

    use super::*;

    proptest! {
        #[test]
        fn a_message_is_the_json_that_a_serializer_makes(
            text in "(\\PC{0,30}|[\0-\x7f]{0,30}|\n|\"|\\\\|\u{2028}){0,40}",
            times in prop_oneof![Just(1_usize), 1..3_000_usize],
        ) {
            let result = CallToolResult::success(vec![ContentBlock::text(text.repeat(times)), ContentBlock::text("end")]);
            let message: TxJsonRpcMessage<RoleServer> =
                JsonRpcMessage::response(ServerResult::CallToolResult(result), NumberOrString::Number(7));
            let wanted = serde_json::to_string(&message).unwrap();
            let mut rendering = Rendering::of(message).unwrap();
            let (mut buffer, mut pieces) = (Vec::new(), 1);
            while rendering.render_piece(&mut buffer) {
                pieces += 1;
            }
            prop_assert_eq!(String::from_utf8(buffer).unwrap(), wanted);
            prop_assert!(pieces >= text.len() * times / PIECE_BYTES, "{}", pieces);
        }
    }
}
