use super::*;

fn decode(text: &[u8], escapes: Escapes) -> Option<String> {
    let mut state = DecodeState::default();
    let mut decoded = String::new();
    let mut hopeless = false;
    for &byte in text {
        match state.step(byte, escapes) {
            Decoded::Partial(next) => {
                hopeless |= next.possible(escapes).is_empty();
                state = next;
            }
            Decoded::Character(character) => {
                let code = u32::from(character);
                assert!(!hopeless, "a character came where none was possible");
                assert!(
                    state
                        .possible(escapes)
                        .iter()
                        .any(|(first, last)| (*first..=*last).contains(&code))
                );
                decoded.push(character);
                state = DecodeState::Between;
            }
            Decoded::End => return Some(decoded),
            Decoded::Refused => return None,
        }
    }
    None
}

#[test]
fn what_cannot_become_a_character_is_known_early() {
    for hopeless in [&b"\xED\xA0"[..], b"\xF4\x90", b"\\ud800\\u00", b"\\ud800\\ue"] {
        let mut state = DecodeState::default();
        for &byte in hopeless {
            match state.step(byte, Escapes::Any) {
                Decoded::Partial(next) => state = next,
                other => panic!("{other:?}"),
            }
        }
        assert!(state.possible(Escapes::Any).is_empty(), "{hopeless:?}");
    }
}

#[test]
fn strings_are_what_serde_json_reads() {
    let texts: [&[u8]; 16] = [
        b"\"",
        b"abc\"",
        b"\\u0061\\n\\/\"",
        b"\\ud83d\\ude42\"",
        b"\\uD83D\\uDE42x\"",
        "é日🙂\"".as_bytes(),
        b"\\ud83d\"",
        b"\\ude42\"",
        b"\\ud83dx\"",
        b"\\ud83d\\u0041\"",
        b"\xC3\"",
        b"\xC0\x80\"",
        b"\xED\xA0\x80\"",
        b"\xF4\x90\x80\x80\"",
        b"\x1f\"",
        b"\\x\"",
    ];
    for text in texts {
        let quoted = [b"\"", text].concat();
        let expected = serde_json::from_slice::<String>(&quoted).ok();
        assert_eq!(
            decode(text, Escapes::Any),
            expected,
            "{}",
            String::from_utf8_lossy(text)
        );
    }
}

/// Every character either stands for itself or has exactly one escape.
#[test]
fn needed_escapes_are_the_only_ones() {
    let letters = (0x20..0x7F).map(|letter| format!("\\{}\"", char::from(letter)));
    let digits = (0..=0xFFFF_u32).map(|unit| format!("\\u{unit:04x}\""));
    let texts: Vec<String> = letters.chain(digits).collect();
    for kind in [Escapes::Needed, Escapes::Printable] {
        let mut escapes = std::collections::BTreeMap::<char, Vec<&String>>::new();
        for text in &texts {
            if let Some(decoded) = decode(text.as_bytes(), kind) {
                let character = decoded.chars().next().unwrap();
                escapes.entry(character).or_default().push(text);
            }
        }
        for character in (0..=0x1_FFFF).filter_map(char::from_u32) {
            let as_it_is = decode(format!("{character}\"").as_bytes(), kind).is_some_and(|text| !text.is_empty());
            let escaped = escapes.get(&character).map_or(0, Vec::len);
            assert_eq!(usize::from(as_it_is) + escaped, 1, "{kind:?} {character:?}");
        }
        let needed: Vec<char> = ('\0'..=' ').filter(|c| *c != ' ').chain(['"', '\\']).collect();
        for character in needed {
            let shortest = serde_json::to_string(&character).unwrap();
            assert_eq!(escapes[&character], [&shortest[1..]]);
        }
        let unprintable = ['\u{7f}', '\u{85}', '\u{2028}', '\u{feff}', '\u{ffff}'];
        let hidden = unprintable.iter().filter(|character| escapes.contains_key(character));
        assert_eq!(hidden.count() == unprintable.len(), kind == Escapes::Printable);
    }
}
