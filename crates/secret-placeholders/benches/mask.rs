//! The cost of masking a mebibyte of code, as the multiple of what a copy and a search for line ends take.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use secret_placeholders::{MemoryStore, Secrets};

fn main() {
    divan::main();
}

/// A mebibyte of ordinary code, with words that rules look for in every twentieth line.
fn code() -> String {
    let lines = [
        "    let session = self.sessions.open(name)?;\n",
        "    if response.status().is_success() {\n",
        "        return Err(Failure::new(Exit::Usage, message));\n",
        "    // The password is asked for once, and the key of the account is kept.\n",
        "    for (index, value) in values.iter().enumerate().skip(1) {\n",
        "    }\n",
    ];
    let mut code = String::new();
    for index in 0.. {
        if code.len() >= 1 << 20 {
            break;
        }
        code.push_str(lines[if index % 20 == 3 { 3 } else { [0, 1, 2, 4, 5][index % 5] }]);
    }
    code
}

#[divan::bench]
fn copy(bencher: Bencher<'_, '_>) {
    let code = code();
    bencher.counter(BytesCount::of_str(&code)).bench(|| black_box(&code).clone());
}

#[divan::bench]
fn count_line_ends(bencher: Bencher<'_, '_>) {
    let code = code();
    bencher
        .counter(BytesCount::of_str(&code))
        .bench(|| memchr::memchr_iter(b'\n', black_box(&code).as_bytes()).count());
}

#[divan::bench]
fn mask(bencher: Bencher<'_, '_>) {
    let (code, secrets) = (code(), Secrets::open(MemoryStore::default()).expect("an empty store"));
    let _ = secrets.mask("warm");
    bencher.counter(BytesCount::of_str(&code)).bench(|| secrets.mask(black_box(&code)).len());
}

/// The same without the lines that rules look at.
#[divan::bench]
fn mask_without_keywords(bencher: Bencher<'_, '_>) {
    let code = code();
    let code: String = code.split_inclusive('\n').filter(|line| !line.contains("password")).collect();
    let secrets = Secrets::open(MemoryStore::default()).expect("an empty store");
    let _ = secrets.mask("warm");
    bencher.counter(BytesCount::of_str(&code)).bench(|| secrets.mask(black_box(&code)).len());
}
