//! The spawner for the commands of the tests: a test binary cannot start itself as one.

fn main() {
    sandbox_exec::spawner_main()
}
