//! Phases: an automaton of the texts that can stand between the strings of any JSON document, wherever they begin.
//!
//! A vocabulary has many tokens of punctuation that occur in no document (`::`, `...`, `+=`, `--`). They are left out when the index is made,
//! so that walks over states need not reject each of them again.

/// Phases of the grammar of JSON, as bits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Phases(u16);

impl Phases {
    /// Before a value.
    pub(crate) const VALUE: Self = Self(1);
    /// Behind `[`.
    const ARRAY_START: Self = Self(1 << 1);
    /// Behind `{`.
    const OBJECT_START: Self = Self(1 << 2);
    /// Before a name, behind a comma.
    const NAME: Self = Self(1 << 3);
    /// Behind a name.
    pub(crate) const COLON: Self = Self(1 << 4);
    /// Behind a value.
    pub(crate) const AFTER: Self = Self(1 << 5);
    /// In a number: behind a minus, in the integer part, behind the point, in the fraction, behind the letter of the
    /// exponent, behind its sign, in it.
    const MINUS: Self = Self(1 << 6);
    const INTEGER: Self = Self(1 << 7);
    const POINT: Self = Self(1 << 8);
    const FRACTION: Self = Self(1 << 9);
    const LETTER: Self = Self(1 << 10);
    const SIGN: Self = Self(1 << 11);
    const EXPONENT: Self = Self(1 << 12);
    /// All phases.
    pub(crate) const ALL: Self = Self((1 << 13) - 1);
    const NONE: Self = Self(0);

    /// Returns the union of two sets of phases.
    pub(crate) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn is(self, one: Self) -> bool {
        self.0 & one.0 != 0
    }

    /// The phases that some of these lead to.
    fn lead(self, ways: &[(Self, Self)]) -> Self {
        let lead = ways.iter().filter(|(from, _)| self.is(*from));
        lead.fold(Self::NONE, |to, (_, one)| to.or(*one))
    }

    fn after(self, byte: u8) -> Self {
        const BEGIN: Phases = Phases::VALUE.or(Phases::ARRAY_START);
        const NUMBER: Phases = Phases::INTEGER.or(Phases::FRACTION).or(Phases::EXPONENT);
        const ENDED: Phases = Phases::AFTER.or(NUMBER);
        match byte {
            b'{' => self.lead(&[(BEGIN, Self::OBJECT_START)]),
            b'[' => self.lead(&[(BEGIN, Self::ARRAY_START)]),
            b'}' => self.lead(&[(ENDED.or(Self::OBJECT_START), Self::AFTER)]),
            b']' => self.lead(&[(ENDED.or(Self::ARRAY_START), Self::AFTER)]),
            b',' => self.lead(&[(ENDED, Self::VALUE.or(Self::NAME))]),
            b':' => self.lead(&[(Self::COLON, Self::VALUE)]),
            b'0'..=b'9' => self.lead(&[
                (BEGIN.or(Self::MINUS).or(Self::INTEGER), Self::INTEGER),
                (Self::POINT.or(Self::FRACTION), Self::FRACTION),
                (Self::LETTER.or(Self::SIGN).or(Self::EXPONENT), Self::EXPONENT),
            ]),
            b'-' => self.lead(&[(BEGIN, Self::MINUS), (Self::LETTER, Self::SIGN)]),
            b'+' => self.lead(&[(Self::LETTER, Self::SIGN)]),
            b'.' => self.lead(&[(Self::INTEGER, Self::POINT)]),
            b'e' | b'E' => self.lead(&[(Self::INTEGER.or(Self::FRACTION), Self::LETTER)]),
            b' ' | b'\t' | b'\n' | b'\r' => {
                let stay = BEGIN
                    .or(Self::OBJECT_START)
                    .or(Self::NAME)
                    .or(Self::COLON)
                    .or(Self::AFTER);
                Self(self.0 & stay.0).or(self.lead(&[(NUMBER, Self::AFTER)]))
            }
            _ => Self::NONE,
        }
    }

    /// Whether a text that begins in one of these phases may come, as far as its first quote. The letters of `true`,
    /// `false` and `null` are taken to be right.
    pub(crate) fn admit(self, text: &[u8]) -> bool {
        let (mut phases, mut at) = (self, 0);
        while let Some(&byte) = text.get(at) {
            let word = match byte {
                b'"' => return phases.is(Self::VALUE.or(Self::ARRAY_START).or(Self::OBJECT_START).or(Self::NAME)),
                b't' | b'n' => 4,
                b'f' => 5,
                _ => 1,
            };
            phases = match word {
                1 => phases.after(byte),
                _ => phases.lead(&[(Self::VALUE.or(Self::ARRAY_START), Self::AFTER)]),
            };
            if phases == Self::NONE {
                return false;
            }
            at += word;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Any text between two quotes of documents, and any part of it, is admitted.
    #[test]
    fn all_parts_of_documents_are_admitted() {
        let documents = [
            r#"{"a": [1, -2.5e+10, {"b": {}}, [], true], "c": null, "d": "x"}"#,
            r#"[[[0.125E-3,12e5] , [false,"",{"a":1}]],{ "b" : [ ] } ]"#,
        ];
        for document in documents {
            let parts: Vec<&str> = document.split('"').step_by(2).collect();
            for (place, part) in parts.iter().enumerate() {
                for from in (0..part.len()).filter(|from| !is_in_word(part, *from)) {
                    for to in from..=part.len() {
                        assert!(Phases::ALL.admit(&part.as_bytes()[from..to]), "{}", &part[from..to]);
                    }
                    let quoted = format!("{}\"anything", &part[from..]);
                    assert!(
                        place + 1 == parts.len() || Phases::ALL.admit(quoted.as_bytes()),
                        "{quoted}"
                    );
                }
            }
        }
        for text in [
            "::", "...", "--", "}{", "][", ",}", "[,", "1.e", "{1", "{[", ":]", "+1.", ". ", "e,",
        ] {
            assert!(!Phases::ALL.admit(text.as_bytes()), "{text}");
        }
        assert!(!Phases::VALUE.admit(b"]") && Phases::AFTER.admit(b"]") && Phases::COLON.admit(b":[{\""));
    }

    /// Whether a place is between two letters of a word.
    fn is_in_word(part: &str, at: usize) -> bool {
        ["true", "false", "null"].iter().any(|word| {
            let mut places = part.match_indices(word);
            places.any(|(start, _)| (start + 1..start + word.len()).contains(&at))
        })
    }
}
