//! Serves the example on a free port of this machine.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use contributed_tools::ExampleServer;

fn main() -> Result<(), Box<dyn Error>> {
    let server = ExampleServer::start()?;
    println!("listening on http://{}", server.address());
    server.wait();
    Ok(())
}
