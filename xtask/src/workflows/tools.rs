//! The programs of workflows that come from the languages' own packages, in one folder that commands can see.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::Step;
use crate::setup::client_packages::install;
use crate::setup::is_installed_in;

/// Outside of the home and of the repository, because confined commands see the folder as they see other installed programs.
const FOLDER: &str = "/opt/agentd-workflows";

/// A program or a file that workflows use, each with the package of Debian that has it.
const DEBIAN_PACKAGES: [(&str, &str); 20] = [
    ("make", "make"),
    ("cc", "gcc"),
    ("cargo", "cargo"),
    ("chromium", "chromium"),
    ("cmake", "cmake"),
    ("curl", "curl"),
    ("javac", "default-jdk-headless"),
    ("git", "git"),
    ("gpg", "gnupg"),
    ("go", "golang-go"),
    ("gradle", "gradle"),
    ("mvn", "maven"),
    ("/usr/share/maven-repo/junit/junit/4.x", "junit4"),
    ("/usr/share/maven-repo/org/apache/maven/plugins/maven-surefire-plugin", "maven-debian-helper"),
    ("node", "nodejs"),
    ("npm", "npm"),
    ("ssh-agent", "openssh-client"),
    ("psql", "postgresql"),
    ("/usr/share/python-wheels", "python3-venv"),
    ("redis-server", "redis-server"),
];

/// Returns Debian's packages of which something is missing. An ordinary user finds the system's programs only, so those
/// count.
pub(crate) fn missing_debian_packages() -> Vec<&'static str> {
    let is_there = |probe: &str| {
        let system = OsStr::new("/usr/local/bin:/usr/bin:/bin");
        if probe.starts_with('/') { Path::new(probe).exists() } else { is_installed_in(probe, system) }
    };
    DEBIAN_PACKAGES.iter().filter(|(probe, _)| !is_there(probe)).map(|(_, package)| *package).collect()
}

const PYTHON_PACKAGES: [&str; 3] = ["pytest==9.2.0", "pytest-xdist==3.8.0", "uv==0.13.9"];
/// The programs of these packages that workflows use.
const PYTHON_PROGRAMS: [&str; 2] = ["pytest", "uv"];

const NODE_PACKAGES: [&str; 1] = ["pnpm@12.21.0"];

/// Returns the folders of programs, to be searched before those of the machine.
pub(super) fn tool_folders() -> Vec<PathBuf> {
    // Python's folder has a `python3` of its own, so only its links to programs are offered.
    let folder = Path::new(FOLDER);
    vec![folder.join("bin"), folder.join("node/node_modules/.bin")]
}

/// Installs the languages' packages, and says what is there.
pub(crate) fn install_workflow_tools() {
    let folder = Path::new(FOLDER);
    let (python, node) = (folder.join("python"), folder.join("node"));
    install(&python, &PYTHON_PACKAGES, "python3 with venv and pip", || install_python(&python));
    install(&node, &NODE_PACKAGES, "npm", || {
        let npm = ["install", "--no-package-lock", "--prefix", &text(&node)];
        Step::new("npm", "npm", &[&npm[..], &NODE_PACKAGES].concat()).run().is_ok()
    });
}

/// Installs Python's packages into an environment of the system's Python, and links their programs into a folder without
/// that environment's `python3`.
fn install_python(folder: &Path) -> bool {
    let venv = ["-m", "venv", "--clear", &text(folder)];
    let pip = [&["-m", "pip", "install", "--quiet"], PYTHON_PACKAGES.as_slice()].concat();
    let programs = Path::new(FOLDER).join("bin");
    let link = |program: &&str| {
        let target = text(&folder.join("bin").join(program));
        let link = text(&programs.join(program));
        Step::new("link", "ln", &["--symbolic", "--force", "--no-target-directory", &target, &link])
            .run()
            .is_ok()
    };
    Step::new("venv", "/usr/bin/python3", &venv).run().is_ok()
        && Step::new("pip", &text(&folder.join("bin/python")), &pip).run().is_ok()
        && std::fs::create_dir_all(&programs).is_ok()
        && PYTHON_PROGRAMS.iter().all(link)
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
