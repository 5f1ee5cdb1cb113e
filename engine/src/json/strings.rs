//! Parsing and writing of JSON strings.

/// The result of scanning a string between its quotes.
pub(super) struct Scanned {
    /// Bytes up to the closing quote.
    pub len: usize,
    /// Whether there were escapes; the characters are then in the buffer.
    pub escaped: bool,
}

/// The reason for which a string cannot be read, and the byte of its body.
pub(super) struct Defect {
    pub offset: usize,
    pub message: &'static str,
}

/// Reads the string whose body `text` starts with. Where it has escapes, its characters are appended to `decoded`.
pub(super) fn scan_string(text: &str, decoded: &mut String) -> Result<Scanned, Defect> {
    let bytes = text.as_bytes();
    let mut escaped = false;
    // Start of what was not appended yet.
    let mut copied = 0;
    let mut at = 0;
    loop {
        match bytes.get(at) {
            Some(b'"') => {
                if escaped {
                    decoded.push_str(&text[copied..at]);
                }
                return Ok(Scanned { len: at, escaped });
            }
            Some(b'\\') => {
                decoded.push_str(&text[copied..at]);
                let (character, len) = read_escape(&bytes[at..]).map_err(|message| Defect { offset: at, message })?;
                decoded.push(character);
                escaped = true;
                at += len;
                copied = at;
            }
            Some(0..=0x1F) => {
                let message = "a control character in a string: write it as an escape";
                return Err(Defect { offset: at, message });
            }
            Some(_) => at += 1,
            None => {
                let message = "the text ends in a string";
                return Err(Defect { offset: at, message });
            }
        }
    }
}

/// The characters of a JSON string that stands in its quotes; none where `text` is not exactly that.
pub(crate) fn unquoted(text: &str) -> Option<String> {
    let body = text.strip_prefix('"')?;
    let mut decoded = String::new();
    let scanned = scan_string(body, &mut decoded).ok()?;
    if scanned.len + 1 != body.len() {
        return None;
    }
    Some(if scanned.escaped {
        decoded
    } else {
        body[..scanned.len].to_owned()
    })
}

/// Appends `character` as it stands in a JSON string, with an escape where RFC 8259 demands one, in its shortest form.
pub(crate) fn push_escaped(text: &mut String, character: char) {
    match character {
        '"' => text.push_str("\\\""),
        '\\' => text.push_str("\\\\"),
        '\u{8}' => text.push_str("\\b"),
        '\u{C}' => text.push_str("\\f"),
        '\n' => text.push_str("\\n"),
        '\r' => text.push_str("\\r"),
        '\t' => text.push_str("\\t"),
        '\0'..='\u{1F}' => text.push_str(&format!("\\u{:04x}", u32::from(character))),
        other => text.push(other),
    }
}

/// The character that the escape at the start of `bytes` spells, and the bytes it takes.
fn read_escape(bytes: &[u8]) -> Result<(char, usize), &'static str> {
    const LONE: &str = "a lone surrogate: no character is spelled so";
    let simple = match bytes.get(1) {
        Some(b'"') => '"',
        Some(b'\\') => '\\',
        Some(b'/') => '/',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{C}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => {
            let first = read_hex(bytes)?;
            if let Some(character) = char::from_u32(first) {
                return Ok((character, 6));
            }
            let rest = bytes.get(6..).unwrap_or_default();
            if first >= 0xDC00 || !rest.starts_with(b"\\u") {
                return Err(LONE);
            }
            let second = read_hex(rest)?;
            if !(0xDC00..0xE000).contains(&second) {
                return Err(LONE);
            }
            let code = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
            return char::from_u32(code).map(|character| (character, 12)).ok_or(LONE);
        }
        _ => return Err("an escape that JSON does not have"),
    };
    Ok((simple, 2))
}

/// The code unit of the `\uXXXX` that `bytes` starts with.
fn read_hex(bytes: &[u8]) -> Result<u32, &'static str> {
    let digits = bytes.get(2..6).unwrap_or_default();
    let unit = digits
        .iter()
        .try_fold(0, |unit, &digit| Some(unit * 16 + char::from(digit).to_digit(16)?));
    unit.filter(|_| digits.len() == 4)
        .ok_or("`\\u` needs four hexadecimal digits")
}
