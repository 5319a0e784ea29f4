//! Python: packages, modules and steps up.

use super::{Lead, Project, inside, outward, parent};
use crate::outline::Import;

/// Folders in which packages lie without being part of their names.
const SOURCE_FOLDERS: [&str; 4] = ["", "src", "lib", "python"];

pub(super) fn resolve(project: &Project, file: usize, import: &Import) -> Lead {
    let (module, name) = match import.target.split_once(':') {
        Some((module, name)) => (module, Some(name).filter(|name| *name != "*")),
        None => (import.target.as_str(), None),
    };
    let folder = parent(project.path(file));
    let dots = module.bytes().take_while(|byte| *byte == b'.').count();
    if dots > 0 {
        let mut base = Some(folder);
        for _ in 1..dots {
            base = base.filter(|base| !base.is_empty()).map(parent);
        }
        let found = base.and_then(|base| lead(project, base, &module[dots..], name));
        return found.map_or(Lead::Nowhere, |found| Lead::To(vec![found]));
    }
    let first = module.split('.').next().unwrap_or_default();
    let mut is_ours = false;
    for around in outward(folder) {
        for source in SOURCE_FOLDERS {
            let base = inside(around, source);
            if let Some(found) = lead(project, &base, module, name) {
                // A module does not import itself: it means another one of that name.
                if found != file {
                    return Lead::To(vec![found]);
                }
            }
            let top = inside(&base, first);
            is_ours |= project.is_folder(&top) && project.file(&inside(&top, "__init__.py")).is_some();
        }
    }
    if is_ours { Lead::Nowhere } else { Lead::Outside }
}

/// The file of a module, or of a name out of it, as it is from a folder.
fn lead(project: &Project, base: &str, module: &str, name: Option<&str>) -> Option<usize> {
    let path = inside(base, &module.replace('.', "/"));
    let file = |path: &str| {
        let endings: &[&str] = if path.is_empty() {
            &["__init__.py"]
        } else {
            &[".py", ".pyi", "/__init__.py", "/__init__.pyi"]
        };
        endings.iter().find_map(|ending| project.file(&format!("{path}{ending}")))
    };
    let found = file(&path);
    let Some(name) = name else { return found };
    // What a package defines itself comes before a module of that name in it.
    if let Some(found) = found
        && project.files[found].defines(name)
    {
        return Some(found);
    }
    file(&inside(&path, &name.replace('.', "/"))).or(found)
}
