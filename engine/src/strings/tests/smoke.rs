use crate::strings::*;
#[test]
fn smoke() {
    let mut l = Languages::new(&LanguageLimits::default());
    for (p, yes, no) in [
        ("^a{1,3}b$", vec!["ab", "aaab"], vec!["b", "aaaab", "xab"]),
        (
            "^((?!mode)(?!Mode).)*$",
            vec!["", "abc", "mod"],
            vec!["amode", "Mode", "xmodex"],
        ),
        (r"\bfoo\b", vec!["foo", "a foo b"], vec!["afoo", "foob", ""]),
        ("(?<=a)b", vec!["ab", "xxabx"], vec!["b", "cb"]),
        ("a|^b$", vec!["b", "xa"], vec!["xb", "bx", ""]),
        ("^(?!.*--)[a-z-]{2,}$", vec!["ab", "a-b"], vec!["a--b", "a"]),
    ] {
        let id = l.pattern(p).unwrap();
        for y in yes {
            assert!(l.contains(id, y).unwrap(), "{p} {y}");
        }
        for n in no {
            assert!(!l.contains(id, n).unwrap(), "{p} {n}");
        }
    }
}
