//! The modules of the page, run by Node without a browser.

use std::fs;
use std::process::Command;

use web_ui::{asset_bytes, assets};

const SCRIPTS: [(&str, &str); 2] = [
    ("browser.mjs", include_str!("../scripts/browser.mjs")),
    ("page.mjs", include_str!("../scripts/page.mjs")),
];

#[test]
fn keys_clicks_and_answers_do_what_they_should() {
    if Command::new("node").arg("--version").output().is_err() {
        return test_support::skip("keys_clicks_and_answers_do_what_they_should", "node is not installed");
    }
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("review")).unwrap();
    for (name, _) in assets().filter(|(name, _)| name.ends_with(".js")) {
        fs::write(folder.path().join(name), asset_bytes(name).unwrap()).unwrap();
    }
    for (name, text) in SCRIPTS {
        fs::write(folder.path().join(name), text).unwrap();
    }
    // Nothing else marks the page's files as modules.
    fs::write(folder.path().join("package.json"), r#"{"type":"module"}"#).unwrap();
    let ran = Command::new("node").arg("page.mjs").current_dir(folder.path()).output().unwrap();
    let printed = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{printed}{}", String::from_utf8_lossy(&ran.stderr));
}
