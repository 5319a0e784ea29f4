//! The spawner as a separate program, for callers that do not want to start themselves a second time.

fn main() {
    sandbox_exec::spawner_main()
}
