//! Prompts: with arguments, with a picture, with a resource, and one that asks the client first.

use rmcp::model::{
    ContentBlock, ErrorData, GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Reference,
    ResourceContents, Role,
};
use serde_json::{Value, json};
use wap_mcp::{ContributionCall, Outcome};

use crate::media::{PICTURE, PNG};
use crate::tools::questions::{asks, form};

/// The values that the first argument is completed to.
const VALUES: [&str; 4] = ["paris", "park", "party", "test"];

/// Returns the prompts.
pub(crate) fn list() -> Vec<Prompt> {
    let argument = |name: &str| PromptArgument::new(name).with_description("A text").with_required(true);
    vec![
        Prompt::new("test_simple_prompt", Some("A prompt without arguments"), None),
        Prompt::new(
            "test_prompt_with_arguments",
            Some("A prompt with two arguments"),
            Some(vec![argument("arg1"), argument("arg2")]),
        ),
        Prompt::new(
            "test_prompt_with_embedded_resource",
            Some("A prompt with a resource"),
            Some(vec![argument("resourceUri")]),
        ),
        Prompt::new("test_prompt_with_image", Some("A prompt with a picture"), None),
        Prompt::new("test_input_required_result_prompt", Some("A prompt that asks for its context"), None),
    ]
}

/// Fills a prompt.
pub(crate) fn get(
    call: &ContributionCall,
    name: &str,
    arguments: &JsonObject,
) -> Result<Outcome<GetPromptResult>, ErrorData> {
    let text = |text: String| PromptMessage::new_text(Role::User, text);
    let messages = match name {
        "test_simple_prompt" => vec![text("This is a simple prompt for testing.".to_owned())],
        "test_prompt_with_arguments" => {
            let (first, second) = (argument(arguments, "arg1")?, argument(arguments, "arg2")?);
            vec![text(format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))]
        }
        "test_prompt_with_embedded_resource" => {
            let uri = argument(arguments, "resourceUri")?;
            let resource = ResourceContents::text("Embedded resource content for testing.", uri);
            let content = ContentBlock::resource(resource.with_mime_type("text/plain"));
            vec![
                PromptMessage::new(Role::User, content),
                text("Please process the embedded resource above.".to_owned()),
            ]
        }
        "test_prompt_with_image" => vec![
            PromptMessage::new(Role::User, ContentBlock::image(PICTURE, PNG)),
            text("Please analyze the image above.".to_owned()),
        ],
        "test_input_required_result_prompt" => {
            match call.accepted_field("user_context", "context").and_then(Value::as_str) {
                Some(context) => vec![text(format!("Prompt with context: {context}"))],
                None => {
                    let fields = json!({ "context": { "type": "string" } });
                    let question = form("What context should the prompt use?", fields, &["context"])?;
                    return Ok(asks([("user_context", question)], None));
                }
            }
        }
        _ => return Err(ErrorData::invalid_params(format!("there is no prompt '{name}'"), None)),
    };
    Ok(Outcome::Done(GetPromptResult::new(messages)))
}

/// Completes the first argument of the prompt with two.
pub(crate) fn complete(subject: &Reference, argument: &str, begun: &str) -> Option<Vec<String>> {
    match subject {
        Reference::Prompt(prompt) if prompt.name == "test_prompt_with_arguments" && argument == "arg1" => {
            let fitting = VALUES.into_iter().filter(|value| value.starts_with(begun));
            Some(fitting.map(str::to_owned).collect())
        }
        _ => None,
    }
}

fn argument<'a>(arguments: &'a JsonObject, name: &str) -> Result<&'a str, ErrorData> {
    let missing = || ErrorData::invalid_params(format!("the argument '{name}' is missing"), None);
    arguments.get(name).and_then(Value::as_str).ok_or_else(missing)
}
