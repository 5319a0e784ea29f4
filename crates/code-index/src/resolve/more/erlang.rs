//! Erlang: headers, and modules by the names of their files.

use super::{Lead, Project, c, from_folder, inside, last, outward, parent};

/// Include folders, searched in every parent folder of the including file.
const INCLUDE_FOLDERS: [&str; 3] = ["", "include", "src"];

/// Resolves `module name`, `header path`, or `library path`.
pub(super) fn resolve(project: &Project, file: usize, target: &str) -> Lead {
    let folder = parent(project.path(file));
    let (target_file, otherwise) = match target.split_once(' ') {
        Some(("header", path)) => {
            let target_file = outward(folder).find_map(|around| {
                INCLUDE_FOLDERS
                    .iter()
                    .find_map(|include| project.file(&from_folder(&inside(around, include), path)?))
            });
            (target_file, Lead::Nowhere)
        }
        // The first part is the name of an application, whose folder may have another name.
        Some(("library", path)) => {
            let within = path.split_once('/').map(|(_, within)| within);
            let within_application = within.and_then(|within| {
                outward(folder).find_map(|around| project.file(&from_folder(around, within)?))
            });
            (c::by_ending(project, folder, path, true).or(within_application), Lead::Outside)
        }
        Some(("module", name)) => {
            let name = format!("{name}.erl");
            (c::by_ending(project, folder, last(&name), true).or_else(|| project.file(&name)), Lead::Outside)
        }
        _ => (None, Lead::Outside),
    };
    target_file.map_or(otherwise, |target_file| Lead::To(vec![target_file]))
}
