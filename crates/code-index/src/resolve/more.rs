//! The languages of the feature `more-languages`.

mod dart;
mod elixir;
mod erlang;
mod php;
mod required;
mod sourced;

use super::{Lead, Project, c, from_folder, inside, last, outward, parent};
use crate::language::Language;
use crate::store::ImportingFile;

use self::elixir::ElixirModules;
use self::php::PhpNamespaces;

/// The modules and namespaces of a project in these languages.
#[derive(Debug, Default)]
pub(super) struct MoreModules {
    php: PhpNamespaces,
    elixir: ElixirModules,
}

impl MoreModules {
    pub(super) fn new(files: &[ImportingFile]) -> MoreModules {
        MoreModules { php: PhpNamespaces::new(files), elixir: ElixirModules::new(files) }
    }
}

/// Resolves an import of a file in one of these languages.
pub(super) fn resolve(project: &Project, file: usize, language: Language, target: &str) -> Lead {
    match language {
        Language::Bash | Language::PowerShell | Language::R => sourced::resolve(project, file, target),
        Language::Dart => dart::resolve(project, file, target),
        Language::Elixir => project.more.elixir.resolve(project, target),
        Language::Erlang => erlang::resolve(project, file, target),
        Language::Lua => required::lua(project, file, target),
        Language::Php => project.more.php.resolve(project, file, target),
        Language::Ruby => required::ruby(project, file, target),
        Language::Zig => sourced::sibling(project, file, target),
        _ => Lead::Outside,
    }
}
