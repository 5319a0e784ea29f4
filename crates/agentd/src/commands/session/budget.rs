//! The value of `--budget`: tokens, or the name of a chat.

/// The tokens that common chats take in one paste, on the safe side.
const CHATS: [(&str, u32); 5] =
    [("local", 6_000), ("copilot", 10_000), ("chatgpt", 24_000), ("gemini", 60_000), ("claude", 100_000)];

/// The least budget in tokens: the rules of a message alone take more than half of it, and are never cut.
const LEAST: u32 = 2_000;

/// Parses a budget: a number of tokens, or the name of a chat.
pub(crate) fn budget(text: &str) -> Result<u32, String> {
    if let Some((_, tokens)) = CHATS.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)) {
        return Ok(*tokens);
    }
    match text.parse() {
        Ok(tokens) if tokens >= LEAST => Ok(tokens),
        Ok(_) => Err(format!(
            "give {LEAST} tokens or more: the rules in a message alone take more than half of that"
        )),
        Err(_) => {
            let names: Vec<String> =
                CHATS.iter().map(|(name, tokens)| format!("{name} ({tokens})")).collect();
            Err(format!("give a number of tokens, or the name of a chat: {}", names.join(", ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_a_number_or_a_name() {
        assert_eq!(budget("2000"), Ok(2_000));
        assert!(budget("1999").unwrap_err().contains("2000 tokens or more"));
        assert_eq!(budget("Claude"), Ok(100_000));
        assert!(budget("many").unwrap_err().contains("chatgpt (24000)"));
        assert!(budget("-1").is_err() && budget("").is_err());
    }
}
