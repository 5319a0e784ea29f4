//! Throughput of strict reading, with the plain search for line ends beside it.

fn main() {
    divan::main();
}
