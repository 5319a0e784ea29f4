//! The machine on which figures are taken.

use std::fs;
use std::thread::available_parallelism;

/// Returns processors, memory and kernel in one line: `2 × AMD EPYC, 24 GiB, Linux 6.18.0`.
pub(crate) fn description() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let field = |text: &str, name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.trim_start_matches([':', '\t', ' ']).trim().to_owned()
    };
    let model = field(&read("/proc/cpuinfo"), "model name");
    let model = if model.is_empty() { "processors of an unknown kind".to_owned() } else { model };
    let kibibytes = field(&read("/proc/meminfo"), "MemTotal");
    let memory = kibibytes.split(' ').next().and_then(|number| number.parse::<u64>().ok());
    let memory = memory.map_or_else(|| "?".to_owned(), |kibibytes| (kibibytes >> 20).to_string());
    let release = read("/proc/sys/kernel/osrelease");
    let version = release.trim().split('-').next().unwrap_or_default();
    let count = available_parallelism().map_or(1, usize::from);
    format!("{count} × {model}, {memory} GiB, Linux {version}")
}

/// Returns the mean number of processes that wanted to run in the last minute, as the system prints it.
pub(crate) fn load() -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split(' ').next().unwrap_or("?").to_owned()
}

#[cfg(test)]
mod tests {
    #[test]
    fn this_machine_is_described() {
        let text = super::description();
        assert!(text.contains(" × ") && text.contains(" GiB, Linux "), "{text}");
        assert!(!text.contains('?'), "{text}");
        assert!(super::load().parse::<f64>().is_ok());
    }
}
