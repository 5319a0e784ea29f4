//! The texts of every read error, as an agent or a user sees them.

use codali_envelope::{ReadOptions, RequestId, Strictness, WebError, read_request};

fn refusal(text: &str, strictness: Strictness) -> String {
    let options = ReadOptions { strictness, ..ReadOptions::default() };
    read_request(text, &options).expect_err(text).to_string()
}

#[test]
fn every_refused_request_has_a_text() {
    let request = |body: &str| format!("AGENT_REQUEST v1\n{body}");
    let good = "request_id: 1\nneeds:\n  - type: file.read\n    path: a\n";
    let tolerant = [
        "hello".to_owned(),
        request(good) + "\n" + &request(good),
        request("needs:\n  - type: file.read\n    path: a\n"),
        request("request_id: 1\nneeds:\n  - type: shell.run\n"),
        request(&format!("request_id: 1\nneeds: {}\n", "[".repeat(40))),
        request(&format!("request_id: 1\nneeds:\n{}", "  - type: file.diff\n".repeat(300))),
    ];
    let strict = [
        "request_id: 1\nneeds: &a [*a]\n",
        "request_id: 1\nrequest_id: 2\n",
        "request_id: 1\nneeds: !!map {}\n",
        "---\nrequest_id: 1\n",
        "? [a]\n: b\n",
    ];
    let mut texts: Vec<String> = tolerant.iter().map(|text| refusal(text, Strictness::Tolerant)).collect();
    texts.extend(strict.iter().map(|body| refusal(&request(body), Strictness::Strict)));
    texts.push("".parse::<RequestId>().expect_err("it is empty").to_string());
    texts.push(WebError::TimedOut.to_string());
    texts.push(WebError::Failed { cause: "no route".to_owned() }.to_string());
    insta::assert_snapshot!(texts.join("\n"));
}

#[test]
fn an_error_quotes_only_the_start_of_a_long_key() {
    let key = "k".repeat(900);
    let text = format!("AGENT_REQUEST v1\n{key}: 1\n{key}: 2\n");
    let error = refusal(&text, Strictness::Strict);
    assert!(error.contains("is given twice") && error.len() < 500, "{} bytes", error.len());
}
