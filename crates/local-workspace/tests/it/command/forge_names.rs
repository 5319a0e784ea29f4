//! Names that a forge obeys at the root of a repository only.

use crate::fixture::workspace::{Fixture, LAYERS, run};

#[test]
fn what_no_forge_reads_is_not_reported() {
    for layered in LAYERS {
        let fixture = Fixture::new();
        let workspace = fixture.open_layered(layered);
        let warned = |script: &str| run(&workspace, script).unwrap().warnings.join("\n");
        let vendored = "mkdir -p vendor/x/.github/workflows deps/y/.Github && echo on: push > vendor/x/.github/workflows/ci.yml && \
                        echo x > vendor/x/.travis.yml && echo x > deps/y/.Github/CODEOWNERS";
        assert_eq!(warned(vendored), "", "{layered:?}");
        // The controls: at the root, in a repository that is there or comes with it, and where a pipeline includes it.
        for (script, path) in [
            ("mkdir -p .github/workflows && echo x > .github/workflows/ci.yml", ".github/workflows/ci.yml"),
            ("echo x > .travis.yml", ".travis.yml"),
            ("git init -q vendor/x && echo y > vendor/x/.travis.yml", "vendor/x/.travis.yml"),
            ("echo z > vendor/x/.travis.yml", "vendor/x/.travis.yml"),
            ("echo x > vendor/x/.gitlab-ci.yml", "vendor/x/.gitlab-ci.yml"),
            ("echo x > deps/y/AGENTS.md", "deps/y/AGENTS.md"),
        ] {
            let warnings = warned(script);
            assert!(warnings.contains(&format!("`{path}`")), "{script} ({layered:?}): {warnings}");
        }
    }
}
