//! Variables that a request may not set: those through which programs find programs, load code or look things up, and
//! those that the sandbox sets itself.
//!
//! A command's own text may set any of them; a request would do it out of sight of a user who reads the command. Some
//! variables pass although they select code, because builds and tests commonly need them: `CC`, `CFLAGS`, `LDFLAGS`,
//! `RUSTFLAGS` and `PYTHONPATH`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// Variables that are refused for the same reason. Names are compared case-sensitively.
struct VariableGroup {
    /// The effect of such a variable.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "for the reader of the list, and for the tests' messages")
    )]
    reason: &'static str,
    names: &'static [&'static str],
    prefixes: &'static [&'static str],
}

const GROUPS: &[VariableGroup] = &[
    VariableGroup { reason: "the sandbox sets it", names: &["HOME", "USER", "TMPDIR"], prefixes: &[] },
    VariableGroup {
        reason: "shells find programs and start-up files, or run code, by it",
        names: &[
            "PATH",
            "IFS",
            "ENV",
            "BASH_ENV",
            "SHELLOPTS",
            "BASHOPTS",
            "BASH_LOADABLES_PATH",
            "PS4",
            "PROMPT_COMMAND",
            "FPATH",
            "ZDOTDIR",
            "SHELL",
            "INPUTRC",
        ],
        prefixes: &["BASH_FUNC_"],
    },
    VariableGroup {
        reason: "the loader or the C library takes code, locales or the names of hosts from where it says",
        names: &[
            "GCONV_PATH",
            "GETCONF_DIR",
            "GLIBC_TUNABLES",
            "HOSTALIASES",
            "LOCALDOMAIN",
            "LOCPATH",
            "MALLOC_TRACE",
            "MUSL_LOCPATH",
            "NIS_PATH",
            "NLSPATH",
            "RES_OPTIONS",
            "TZDIR",
        ],
        prefixes: &["LD_", "DYLD_", "RESOLV_"],
    },
    VariableGroup {
        reason: "libraries load modules from where it says",
        names: &[
            "OPENSSL_CONF",
            "OPENSSL_MODULES",
            "OPENSSL_ENGINES",
            "SASL_PATH",
            "KRB5_CONFIG",
            "GTK_MODULES",
            "GTK_PATH",
            "GIO_EXTRA_MODULES",
            "GIO_MODULE_DIR",
            "QT_PLUGIN_PATH",
            "GST_PLUGIN_PATH",
            "GI_TYPELIB_PATH",
            "LIBGL_DRIVERS_PATH",
            "VK_LAYER_PATH",
            "VK_ICD_FILENAMES",
            "OCL_ICD_FILENAMES",
            "XLOCALEDIR",
        ],
        prefixes: &[],
    },
    VariableGroup {
        reason: "programs find their settings by it, and settings name programs",
        names: &[
            "XDG_RUNTIME_DIR",
            "CURL_HOME",
            "WGETRC",
            "GNUPGHOME",
            "KUBECONFIG",
            "DOCKER_CONFIG",
            "AWS_CONFIG_FILE",
            "HGRCPATH",
            "VIMINIT",
            "EXINIT",
            "VIM",
            "VIMRUNTIME",
            "EMACSLOADPATH",
        ],
        prefixes: &["XDG_CONFIG_", "XDG_DATA_"],
    },
    VariableGroup {
        reason: "programs start another program that it names",
        names: &[
            "EDITOR",
            "VISUAL",
            "FCEDIT",
            "SUDO_EDITOR",
            "SUDO_ASKPASS",
            "PAGER",
            "MANPAGER",
            "SYSTEMD_PAGER",
            "BROWSER",
            "LESSOPEN",
            "LESSCLOSE",
            "LESSKEY",
            "LESSKEYIN",
            "TAR_OPTIONS",
            "RSYNC_RSH",
            "CVS_RSH",
            "SVN_SSH",
            "SVN_EDITOR",
            "HGEDITOR",
            "HG",
            "GH_EDITOR",
            "GH_PAGER",
            "GH_BROWSER",
            "GH_PATH",
            "KUBE_EDITOR",
        ],
        prefixes: &["GIT_", "SSH_"],
    },
    VariableGroup {
        reason: "make takes options and files by it, and both hold commands",
        names: &["MAKEFLAGS", "MFLAGS", "GNUMAKEFLAGS", "MAKEFILES"],
        prefixes: &[],
    },
    VariableGroup {
        reason: "compilers and builds find their programs by it",
        names: &[
            "GCC_EXEC_PREFIX",
            "COMPILER_PATH",
            "COLLECT_GCC_OPTIONS",
            "COLLECT_LTO_WRAPPER",
            "CCACHE_PREFIX",
            "CCACHE_COMPILER",
            "CCACHE_CONFIGPATH",
            "CMAKE_TOOLCHAIN_FILE",
            "CMAKE_PROGRAM_PATH",
        ],
        prefixes: &[],
    },
    VariableGroup {
        reason: "cargo and rustup find programs, settings and registries by it",
        names: &[
            "CARGO",
            "CARGO_HOME",
            "RUSTUP_HOME",
            "RUSTUP_TOOLCHAIN",
            "RUSTUP_DIST_SERVER",
            "RUSTUP_UPDATE_ROOT",
            "RUSTC",
            "RUSTDOC",
            "RUSTC_WRAPPER",
            "RUSTC_WORKSPACE_WRAPPER",
            "RUSTC_LINKER",
            "CARGO_BUILD_RUSTDOC",
        ],
        prefixes: &[
            "CARGO_BUILD_RUSTC",
            "CARGO_ALIAS_",
            "CARGO_SOURCE_",
            "CARGO_REGISTRY_",
            "CARGO_REGISTRIES_",
            "CARGO_CREDENTIAL_ALIAS_",
        ],
    },
    VariableGroup {
        reason: "Node.js loads code, and finds programs, by it",
        names: &[
            "NODE_OPTIONS",
            "NODE_PATH",
            "NODE_REPL_EXTERNAL_MODULE",
            "YARN_RC_FILENAME",
            "YARN_YARN_PATH",
            "YARN_PLUGINS",
            "COREPACK_HOME",
            "COREPACK_NPM_REGISTRY",
            "PNPM_HOME",
            "NVM_DIR",
            "FNM_DIR",
            "VOLTA_HOME",
            "BUN_INSTALL",
            "BUN_OPTIONS",
        ],
        prefixes: &[],
    },
    VariableGroup {
        reason: "Python loads code, and finds packages, by it",
        names: &[
            "PYTHONSTARTUP",
            "PYTHONHOME",
            "PYTHONBREAKPOINT",
            "PYTHONEXECUTABLE",
            "PYTHONINSPECT",
            "PYTHONPLATLIBDIR",
            "PYTHONPYCACHEPREFIX",
            "PYTHONUSERBASE",
            "PYTEST_PLUGINS",
            "PYENV_ROOT",
            "PIP_CONFIG_FILE",
            "PIP_INDEX_URL",
            "PIP_EXTRA_INDEX_URL",
            "PIP_FIND_LINKS",
            "PIP_TRUSTED_HOST",
            "PIP_PYTHON",
            "UV_CONFIG_FILE",
            "UV_DEFAULT_INDEX",
            "UV_FIND_LINKS",
            "UV_PYTHON",
        ],
        prefixes: &["UV_INDEX", "UV_EXTRA_INDEX"],
    },
    VariableGroup {
        reason: "Perl, Ruby, PHP or Lua loads code by it",
        names: &[
            "PERL5LIB",
            "PERLLIB",
            "PERL5OPT",
            "PERL5DB",
            "PERL5SHELL",
            "PERL_MM_OPT",
            "PERL_MB_OPT",
            "RUBYOPT",
            "RUBYLIB",
            "RUBYSHELL",
            "GEM_HOME",
            "GEM_PATH",
            "BUNDLE_GEMFILE",
            "RBENV_ROOT",
            "PHPRC",
            "PHP_INI_SCAN_DIR",
            "COMPOSER_HOME",
        ],
        prefixes: &["LUA_INIT", "LUA_PATH", "LUA_CPATH"],
    },
    VariableGroup {
        reason: "Java, and what is built with it, loads code and finds programs by it",
        names: &[
            "JAVA_TOOL_OPTIONS",
            "JDK_JAVA_OPTIONS",
            "JDK_JAVAC_OPTIONS",
            "_JAVA_OPTIONS",
            "JAVA_OPTS",
            "JAVA_HOME",
            "JAVACMD",
            "CLASSPATH",
            "MAVEN_OPTS",
            "MAVEN_ARGS",
            "MAVEN_HOME",
            "M2_HOME",
            "GRADLE_OPTS",
            "GRADLE_HOME",
            "GRADLE_USER_HOME",
            "ANT_OPTS",
            "ANT_ARGS",
            "ANT_HOME",
            "SBT_OPTS",
        ],
        prefixes: &[],
    },
    VariableGroup {
        reason: "Go finds programs, settings and modules by it",
        names: &[
            "GOFLAGS",
            "GOENV",
            "GOROOT",
            "GOTOOLDIR",
            "GOTOOLCHAIN",
            "GOPATH",
            "GOBIN",
            "GOMODCACHE",
            "GOWORK",
            "GOPROXY",
            "GONOPROXY",
            "GOPRIVATE",
            "GOSUMDB",
            "GONOSUMDB",
            "GOINSECURE",
            "GOVCS",
            "GOAUTH",
            "GOCACHEPROG",
            "GOPACKAGESDRIVER",
        ],
        prefixes: &[],
    },
    VariableGroup {
        reason: "other languages load code by it",
        names: &[
            "DOTNET_ROOT",
            "DOTNET_STARTUP_HOOKS",
            "DOTNET_ADDITIONAL_DEPS",
            "DOTNET_SHARED_STORE",
            "JULIA_LOAD_PATH",
            "JULIA_DEPOT_PATH",
            "JULIA_PROJECT",
            "ERL_FLAGS",
            "ERL_AFLAGS",
            "ERL_ZFLAGS",
            "ERL_LIBS",
            "ELIXIR_ERL_OPTIONS",
            "GHC_ENVIRONMENT",
            "GHC_PACKAGE_PATH",
            "STACK_ROOT",
            "OPAMROOT",
            "OCAMLPATH",
            "CAML_LD_LIBRARY_PATH",
            "GUILE_LOAD_PATH",
            "GUILE_LOAD_COMPILED_PATH",
            "TCLLIBPATH",
            "AWKPATH",
            "AWKLIBPATH",
            "R_HOME",
        ],
        prefixes: &["CORECLR_", "COR_", "R_PROFILE", "R_ENVIRON", "R_LIBS"],
    },
];

/// Prefixes that their programs match in any case.
const PREFIXES_OF_ANY_CASE: [&str; 2] = ["npm_config_", "pnpm_config_"];

/// Prefixes and suffixes of names with a platform, a language or the like between.
const FRAMES: [(&str, &str); 5] = [
    ("CARGO_TARGET_", "_RUNNER"),
    ("CARGO_TARGET_", "_LINKER"),
    ("CARGO_HOST_", "_LINKER"),
    ("CMAKE_", "_COMPILER_LAUNCHER"),
    ("CMAKE_", "_LINKER_LAUNCHER"),
];

/// Checks whether a request may not set this variable.
pub(crate) fn is_refused(name: &OsStr) -> bool {
    let name = name.as_bytes();
    let fits = |group: &VariableGroup| {
        group.names.iter().any(|refused| refused.as_bytes() == name)
            || group.prefixes.iter().any(|prefix| name.starts_with(prefix.as_bytes()))
    };
    let begins_in_any_case = |prefix: &&str| {
        name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix.as_bytes()))
    };
    let is_framed = |(start, end): &(&str, &str)| {
        name.len() > start.len() + end.len()
            && name.starts_with(start.as_bytes())
            && name.ends_with(end.as_bytes())
    };
    GROUPS.iter().any(fits)
        || PREFIXES_OF_ANY_CASE.iter().any(begins_in_any_case)
        || FRAMES.iter().any(is_framed)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_name_and_prefix_is_listed_once_and_refused() {
        let mut names = BTreeSet::new();
        for group in GROUPS {
            for name in group.names.iter().chain(group.prefixes) {
                assert!(names.insert(*name), "{name}: {}", group.reason);
                assert!(is_refused(OsStr::new(name)), "{name}: {}", group.reason);
            }
            for name in group.names {
                let is_covered =
                    GROUPS.iter().flat_map(|group| group.prefixes).any(|prefix| name.starts_with(prefix));
                assert!(!is_covered, "{name}: already covered by a prefix");
            }
        }
    }

    #[test]
    fn variables_that_load_code_or_lead_look_ups_are_refused_and_ordinary_ones_are_not() {
        let refused = "
            LD_AUDIT GCONV_PATH LOCPATH HOSTALIASES RES_OPTIONS RESOLV_HOST_CONF MAKEFLAGS MAKEFILES GNUMAKEFLAGS
            CARGO_HOME RUSTUP_HOME RUSTC CARGO_BUILD_RUSTC_WRAPPER CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER
            CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER CARGO_REGISTRIES_MINE_INDEX NODE_PATH npm_config_registry
            NPM_CONFIG_SCRIPT_SHELL Npm_Config_prefix PERL5LIB RUBYLIB CLASSPATH MAVEN_OPTS GOFLAGS GOENV GOPROXY
            GCC_EXEC_PREFIX COMPILER_PATH CMAKE_CXX_COMPILER_LAUNCHER LUA_INIT_5_4 PHPRC GIT_CONFIG_COUNT SSH_AUTH_SOCK
            LESSOPEN XDG_CONFIG_HOME SHELL TAR_OPTIONS DOTNET_STARTUP_HOOKS";
        for name in refused.split_whitespace() {
            assert!(is_refused(OsStr::new(name)), "{name}");
        }
        let ordinary = "
            RUST_LOG RUST_BACKTRACE RUSTFLAGS CARGO_TARGET_DIR CARGO_TERM_COLOR CARGO_INCREMENTAL CARGO_BUILD_JOBS
            CARGO_BUILD_RUSTFLAGS CARGO_PROFILE_DEV_DEBUG RUSTDOCFLAGS PORT HOST NODE_ENV NODE_DEBUG DEBUG CI FOO TZ LANG
            LC_ALL CC CXX CFLAGS LDFLAGS PYTHONPATH PYTHONUNBUFFERED PYTHONHASHSEED PYTEST_ADDOPTS GOOS GOARCH GODEBUG
            CGO_ENABLED GOMAXPROCS TERM COLUMNS NO_COLOR FORCE_COLOR DATABASE_URL RAILS_ENV MALLOC_ARENA_MAX LESS
            MAKE_OPTIONS GITHUB_SHA SSHD NPM_TOKEN path home npm_configuration LDLIBS RESULT USERNAME CARGO_TARGET__";
        for name in ordinary.split_whitespace() {
            assert!(!is_refused(OsStr::new(name)), "{name}");
        }
    }
}
