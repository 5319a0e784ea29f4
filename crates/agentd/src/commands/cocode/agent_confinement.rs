//! The common options, applied to agents.
//!
//! An agent is confined as its definition says. The command line takes precedence; options that do not apply to agents are refused.

use cocode_runner::AgentDefinition;
use sandbox_exec::Level;
use workspace_host::confinement::SandboxChoice;

use crate::common_options::CommonOptions;
use crate::exit::{Exit, Failure};

/// Has a definition obey `--sandbox`, `--network` and `--cache`. Where it does not fit them it is refused.
pub(crate) fn confine(common: &CommonOptions, agent: &mut AgentDefinition) -> Result<(), Failure> {
    let is_given = |option: &str| common.given.contains(option);
    if is_given("sandbox") && common.sandbox == Some(SandboxChoice::Off) {
        let failure = Failure::new(Exit::Usage, "--sandbox off does not hold for agents");
        return Err(failure.advise(
            "set sandbox = \"off\" in the agent's table of agents.toml; --sandbox allow=LEVEL takes less confinement",
        ));
    }
    if let Some(SandboxChoice::Require(level) | SandboxChoice::Allow(level)) = common.sandbox
        && level > Level::None
        && !agent.is_confined
    {
        let what = format!(
            "the agent '{}' is defined with sandbox = \"off\", and --sandbox asks for {level}",
            agent.name
        );
        return Err(Failure::new(Exit::Refused, what)
            .advise("take sandbox = \"off\" out of its table in agents.toml, or give --sandbox allow=none"));
    }
    // Without the option the definition decides: commands of a model have no network, but agents talk to their model.
    if is_given("network") {
        agent.network = common.settled_network.clone();
    }
    for folder in &common.cache {
        if !is_given("cache") {
            break;
        }
        let absolute = std::path::absolute(folder).ok().filter(|path| path.is_dir());
        let text = absolute.and_then(|path| path.into_os_string().into_string().ok());
        let text = text.ok_or_else(|| {
            Failure::new(Exit::Usage, format!("the folder of --cache {} does not exist", folder.display()))
        })?;
        agent.writable.push(text);
    }
    Ok(())
}
