//! An agent for `agentd new --model`: a chat server answers the message on standard input.
#![expect(clippy::print_stdout, reason = "the reply is its standard output")]

use std::env::var;
use std::io::{read_to_string, stdin};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = var("CHAT_URL").unwrap_or("http://127.0.0.1:11434/v1/chat/completions".into());
    let model = var("CHAT_MODEL").unwrap_or("qwen3-coder".into());
    let message = serde_json::json!({ "role": "user", "content": read_to_string(stdin())? });
    let body = serde_json::json!({ "model": model, "messages": [message] }).to_string();
    let mut request = ureq::post(url).header("content-type", "application/json");
    if let Ok(key) = var("CHAT_KEY") {
        request = request.header("authorization", format!("Bearer {key}"));
    }
    let answer = request.send(body)?.body_mut().read_to_string()?;
    let answer: serde_json::Value = serde_json::from_str(&answer)?;
    println!("{}", answer["choices"][0]["message"]["content"].as_str().ok_or("no text")?);
    Ok(())
}
