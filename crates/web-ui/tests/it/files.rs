//! The files of the page.

use web_ui::{asset_bytes, assets};

/// The most bytes of the page.
const MOST_BYTES: usize = 300 * 1024;

fn text(name: &str) -> &'static str {
    std::str::from_utf8(asset_bytes(name).unwrap()).unwrap()
}

#[test]
fn the_page_is_small_and_whole() {
    let bytes: usize = assets().map(|(_, bytes)| bytes).sum();
    assert!(bytes < MOST_BYTES, "{bytes}");
    let names: Vec<&str> = assets().map(|(name, _)| name).collect();
    insta::assert_snapshot!(names.join("\n"));
    // Every module that is imported, and every file that the document names, is there.
    for (name, _) in assets() {
        for line in text(name).lines() {
            let imported = line.split(" from \"").nth(1).or_else(|| line.split("href=\"").nth(1));
            let Some(file) = imported.and_then(|rest| rest.split('"').next()) else { continue };
            // Relative to the folder of the file that names it.
            let folder = name.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
            let file = match file.strip_prefix("../") {
                Some(above) => above.to_owned(),
                None => format!("{folder}{}", file.trim_start_matches("./")),
            };
            assert!(file.starts_with(['#', '/']) || asset_bytes(&file).is_some(), "{name}: {file}");
        }
    }
}

#[test]
fn no_text_becomes_markup_and_nothing_comes_from_elsewhere() {
    let markup = [
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "DOMParser",
        "eval(",
        "new Function",
    ];
    for (name, _) in assets() {
        let text = text(name);
        for word in markup {
            assert!(!text.contains(word), "{name}: {word}");
        }
        let foreign = text.replace("http://www.w3.org/2000/svg", "");
        assert!(!foreign.contains("http://") && !foreign.contains("https://"), "{name}");
    }
    // The policy forbids them; they would have no effect.
    let document = text("");
    assert!(
        !document.contains("<script>") && !document.contains("style=\"") && !document.contains(" onclick")
    );
}
