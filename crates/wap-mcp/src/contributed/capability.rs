//! The capability that a client needs for a question.

use rmcp::model::{ClientCapabilities, ElicitRequestParams, InputRequest};

/// Returns the capability that a client lacks for a question; `None` if it can be asked.
#[expect(deprecated, reason = "clients of both revisions still have models and roots")]
pub(super) fn lacks(declared: &ClientCapabilities, request: &InputRequest) -> Option<ClientCapabilities> {
    let needed = ClientCapabilities::builder();
    match request {
        InputRequest::Elicitation(elicitation) => {
            let offered = declared.elicitation.as_ref();
            let can = match &elicitation.params {
                ElicitRequestParams::UrlElicitationParams { .. } => {
                    offered.is_some_and(|offered| offered.url.is_some())
                }
                // Without either mode, forms are meant.
                _ => offered.is_some_and(|offered| offered.form.is_some() || offered.url.is_none()),
            };
            (!can).then(|| needed.enable_elicitation().build())
        }
        InputRequest::CreateMessage(_) => {
            declared.sampling.is_none().then(|| needed.enable_sampling().build())
        }
        InputRequest::ListRoots(_) => declared.roots.is_none().then(|| needed.enable_roots().build()),
        // Clients cannot declare other kinds of questions.
        _ => Some(needed.build()),
    }
}
