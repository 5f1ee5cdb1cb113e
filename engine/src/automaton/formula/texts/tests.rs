use super::*;

/// Texts that share beginnings of several chunks and go on with characters of several lengths.
fn some_texts() -> Vec<String> {
    let long = "héllo wörld ".repeat(3 * CHUNK_BYTES / 12);
    let mut texts = vec![String::new(), "a".to_owned(), long.clone()];
    for length in [1, 2, 100, 253, 254, 255, 256, 257, 509, 510, 511, 512, 513, 700] {
        let mut end = length;
        while !long.is_char_boundary(end) {
            end -= 1;
        }
        for more in ["", "x", "é", "\u{10FFFF}", "\u{FFFF}y"] {
            texts.push(format!("{}{more}", &long[..end]));
            texts.push(format!("{}{more}", "z".repeat(length)));
        }
    }
    texts
}

#[test]
fn texts_are_stored_once_however_they_are_read() {
    let mut table = TextTable::default();
    for text in some_texts() {
        let whole = table.intern(&text);
        let singly = text.chars().fold(TextId::EMPTY, |id, next| table.longer(id, next));
        let half = (0..=text.len() / 2)
            .rev()
            .find(|at| text.is_char_boundary(*at))
            .unwrap_or(0);
        let first = table.intern(&text[..half]);
        assert_eq!(whole, singly, "{text}");
        assert_eq!(table.extended(first, &text[half..]), whole, "{text}");
        assert_eq!(table.find_extended(first, &text[half..]), Some(whole), "{text}");
        assert_eq!((table.get(whole), table.length(whole)), (&*text, text.len()));
    }
}

#[test]
fn texts_are_compared_by_their_characters() {
    let mut table = TextTable::default();
    let texts = some_texts();
    let ids: Vec<TextId> = texts.iter().map(|text| table.intern(text)).collect();
    for (one, text) in ids.iter().zip(&texts) {
        for (other, second) in ids.iter().zip(&texts) {
            assert_eq!(table.compare(*one, *other), text.cmp(second), "{text} {second}");
            assert_eq!(
                table.begins_with(*one, *other),
                text.starts_with(&**second),
                "{text} {second}"
            );
        }
    }
}

/// The memory of all beginnings of a text is proportional to its length.
#[test]
fn long_texts_take_linear_memory() {
    let mut table = TextTable::default();
    let (mut text, mut memory) = (TextId::EMPTY, Vec::new());
    for _ in 0..2 {
        for _ in 0..20_000 {
            text = table.extended(text, "some");
            // Other continuations are looked at as well.
            table.longer(text, '?');
        }
        memory.push(table.memory());
    }
    assert!(memory[1] < 300 * 2 * 40_000, "{memory:?}");
    assert!(memory[1] <= 2 * memory[0] + memory[0] / 4, "{memory:?}");
}
