//! probe
#![allow(missing_docs, clippy::all, clippy::print_stdout, clippy::unwrap_used)]
use std::time::Instant;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let t = Instant::now();
    let m = maskwright_fuzz::subject::compile(&a[1], 0);
    println!("compile {:?}", t.elapsed());
    let m = match m {
        Ok(m) => m,
        Err(e) => {
            println!("{e}");
            return;
        }
    };
    let voc = maskwright_fuzz::subject::vocabulary();
    for text in &a[2..] {
        let mut k = m.fork().unwrap();
        let mut ok = true;
        for (i, b) in text.bytes().enumerate() {
            let t = Instant::now();
            let r = k.advance(u32::from(b));
            if t.elapsed().as_millis() > 50 {
                println!("  advance {i} {:?}", t.elapsed());
            }
            if let Err(e) = r {
                println!("  {e} at byte {i}");
                ok = false;
                break;
            }
            let t = Instant::now();
            let r = k.mask().map(|m| m.count());
            if t.elapsed().as_millis() > 50 || r.is_err() {
                println!("  mask {i} {:?} {r:?}", t.elapsed());
            }
        }
        let v = maskwright_suites::validate::Validator::new(&a[1]).map(|v| v.judge(text).valid);
        println!("{text}: {ok} {:?}  judge {v:?}", k.is_complete());
        let _ = &voc;
    }
}
