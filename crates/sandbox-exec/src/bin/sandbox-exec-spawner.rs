//! The spawner as a program of its own, for programs that do not want to start themselves a second time.

fn main() {
    sandbox_exec::spawner_main()
}
