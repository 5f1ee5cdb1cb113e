//! shrink by time: slow SCHEMA MILLIS [text]
#![allow(missing_docs, clippy::all, clippy::print_stdout, clippy::unwrap_used)]
use std::time::{Duration, Instant};
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let limit = Duration::from_millis(a[2].parse().unwrap());
    let text = a.get(3).cloned().unwrap_or_default();
    let schema: serde_json::Value = serde_json::from_str(&a[1]).unwrap();
    let slow = |s: &serde_json::Value| {
        let t = Instant::now();
        if let Ok(mut m) = maskwright_fuzz::subject::compile(&s.to_string(), 0) {
            let _ = m.mask().map(|_| ());
            for b in text.bytes() {
                if m.advance(u32::from(b)).is_err() {
                    break;
                }
                let _ = m.mask().map(|_| ());
                if t.elapsed() > limit {
                    break;
                }
            }
        }
        t.elapsed() > limit
    };
    let out = maskwright_fuzz::shrink::shrunk(&schema, slow);
    println!("{out}");
}
