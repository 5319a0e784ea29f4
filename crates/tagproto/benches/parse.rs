//! Throughput of strict reading, compared to a plain search for line ends in the same bytes.

use divan::{Bencher, black_box, counter::BytesCount};

fn main() {
    divan::main();
}

/// 100 MB of CREATE_FILE blocks of about 4 KB of code.
fn files() -> String {
    let line = "        let value = self.table.get(&key).copied().unwrap_or(0);\n    }\n";
    let mut text = String::new();
    for number in 0.. {
        text.push_str(&format!("[CREATE_FILE path=\"src/file_{number}.rs\"]\n"));
        for _ in 0..60 {
            text.push_str(line);
        }
        text.push_str("[/CREATE_FILE]\n\n");
        if text.len() >= 100_000_000 {
            break;
        }
    }
    text
}

#[divan::bench(sample_count = 10)]
fn strict(bencher: Bencher<'_, '_>) {
    let text = files();
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| tagproto::parse(black_box(&text)).len());
}

#[divan::bench(sample_count = 10)]
fn strict_with_crlf(bencher: Bencher<'_, '_>) {
    let text = files().replace('\n', "\r\n");
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| tagproto::parse(black_box(&text)).len());
}

#[divan::bench(sample_count = 10)]
fn decoder_in_pieces_of_64_kib(bencher: Bencher<'_, '_>) {
    let text = files();
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| {
        let mut decoder = tagproto::Decoder::new();
        let mut count = 0;
        for piece in black_box(&text).as_bytes().chunks(1 << 16) {
            count += decoder.push(std::str::from_utf8(piece).expect("the text is ASCII")).len();
        }
        count + decoder.finish().len()
    });
}

#[divan::bench(sample_count = 10)]
fn line_ends_alone(bencher: Bencher<'_, '_>) {
    let text = files();
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| {
        let mut last = 0;
        for at in memchr::memchr_iter(b'\n', black_box(text.as_bytes())) {
            last = black_box(at);
        }
        last
    });
}

#[divan::bench(args = [50_000, 100_000], sample_count = 10)]
fn unclosed_tags(bencher: Bencher<'_, '_>, count: usize) {
    let text = "[CREATE_FILE path=\"a\"]\n".repeat(count);
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| tagproto::parse(black_box(&text)).len());
}

#[divan::bench(sample_count = 10)]
fn repair_of_a_clean_reply(bencher: Bencher<'_, '_>) {
    let text = files();
    bencher
        .counter(BytesCount::of_str(&text))
        .bench_local(|| tagproto::read(black_box(&text), tagproto::Strictness::Repair).items.len());
}

#[divan::bench(args = [50_000, 100_000], sample_count = 10)]
fn repair_of_lower_case_prose(bencher: Bencher<'_, '_>, count: usize) {
    let text = "[done]\n**[/done]**\n".repeat(count);
    bencher
        .counter(BytesCount::of_str(&text))
        .bench_local(|| tagproto::read(black_box(&text), tagproto::Strictness::Repair).items.len());
}

#[divan::bench(args = [50_000, 100_000], sample_count = 10)]
fn repair_of_tags_without_an_end(bencher: Bencher<'_, '_>, count: usize) {
    let text = "<think>\n[READ_FILE path=\"a\n- [DONE\n".repeat(count);
    bencher
        .counter(BytesCount::of_str(&text))
        .bench_local(|| tagproto::read(black_box(&text), tagproto::Strictness::Repair).items.len());
}
