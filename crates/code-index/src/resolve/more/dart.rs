//! Dart: libraries by relative paths and by the packages of the project.

use super::{Lead, Project, inside, sourced};

/// The endings of files that a build generates.
const GENERATED: [&str; 4] = [".g.dart", ".freezed.dart", ".gr.dart", ".mocks.dart"];

pub(super) fn resolve(project: &Project, file: usize, target: &str) -> Lead {
    let lead = match target.split_once(':') {
        Some(("package", path)) => {
            let Some((name, path)) = path.split_once('/') else { return Lead::Outside };
            let packages = project.manifests.dart.iter().filter(|(_, package)| package.as_str() == name);
            let mut files = Vec::new();
            let mut is_ours = false;
            for (folder, _) in packages {
                is_ours = true;
                files.extend(project.file(&inside(&inside(folder, "lib"), path)));
            }
            match (files.is_empty(), is_ours) {
                (false, _) => Lead::To(files),
                (true, true) => Lead::Nowhere,
                (true, false) => Lead::Outside,
            }
        }
        // `dart:async`
        Some(_) => Lead::Outside,
        None => sourced::sibling(project, file, target),
    };
    let is_generated = GENERATED.iter().any(|ending| target.ends_with(ending));
    if lead == Lead::Nowhere && is_generated { Lead::Outside } else { lead }
}
