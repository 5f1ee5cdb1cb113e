//! Patterns of the Rust crate `regex`: its own parser's syntax tree, in which flags are resolved, is translated to [`ast`](super::ast).

use std::sync::OnceLock;

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{self, Class, Hir, HirKind, Look, Repetition};

use crate::strings::charset::CharSet;
use crate::strings::language_id::UNBOUNDED;
use crate::strings::limits::LanguageLimits;
use crate::strings::pattern::assertions::WordSides;
use crate::strings::pattern::ast::{Ast, AstForm, AstId};
use crate::strings::pattern::error::PatternError;
use crate::strings::unicode_properties::{class_of, word};

/// Maximal number of syntax nodes that one group puts around its content: the group, alternatives, a sequence, a repetition.
const FORMS_OF_GROUP: usize = 4;

/// Parses `source`; the second is the whole expression.
pub(super) fn parse(source: &str, limits: &LanguageLimits) -> Result<(Ast, AstId), PatternError> {
    let depth = u32::try_from(limits.pattern_nesting.saturating_mul(FORMS_OF_GROUP)).unwrap_or(u32::MAX);
    let parsed = ParserBuilder::new().nest_limit(depth).build().parse(source);
    let parsed = parsed.map_err(|error| error_of(&error, limits))?;
    hir::visit(&parsed, Translator::default())
}

/// Whether a comment, which the flag `x` allows, reaches to the end of `source`, which can be read.
pub(super) fn ends_in_comment(source: &str) -> bool {
    let grouped = regex_syntax::ast::parse::Parser::new().parse(&format!("(?:{source})"));
    grouped.is_err_and(|error| matches!(error.kind(), regex_syntax::ast::ErrorKind::GroupUnclosed))
}

fn error_of(error: &regex_syntax::Error, limits: &LanguageLimits) -> PatternError {
    let (offset, message) = match error {
        regex_syntax::Error::Parse(error) => match error.kind() {
            regex_syntax::ast::ErrorKind::NestLimitExceeded(_) => {
                return PatternError::TooLarge {
                    what: "groups inside one another",
                    allowed: limits.pattern_nesting,
                };
            }
            kind => (error.span().start.offset, kind.to_string()),
        },
        regex_syntax::Error::Translate(error) => (error.span().start.offset, error.kind().to_string()),
        other => (0, other.to_string()),
    };
    PatternError::Dialect { offset, message }
}

/// `\w` of Unicode.
fn unicode_word() -> &'static CharSet {
    static WORD: OnceLock<CharSet> = OnceLock::new();
    WORD.get_or_init(|| class_of(r"\w").unwrap_or_default())
}

/// Makes our form of a pattern, from the innermost parts outwards.
#[derive(Default)]
struct Translator {
    ast: Ast,
    /// The parts whose parent is still to come.
    done: Vec<AstId>,
    ascii: Option<WordSides>,
    unicode: Option<WordSides>,
}

impl hir::Visitor for Translator {
    type Output = (Ast, AstId);
    type Err = PatternError;

    fn finish(mut self) -> Result<Self::Output, Self::Err> {
        let whole = match self.done.pop() {
            Some(whole) => whole,
            None => self.ast.add(AstForm::Empty),
        };
        Ok((self.ast, whole))
    }

    fn visit_post(&mut self, part: &Hir) -> Result<(), Self::Err> {
        let id = match part.kind() {
            // A group is what it holds.
            HirKind::Capture(_) => return Ok(()),
            HirKind::Empty => self.ast.add(AstForm::Empty),
            HirKind::Literal(literal) => self.literal(&literal.0)?,
            HirKind::Class(class) => self.ast.add(AstForm::Class(characters(class))),
            HirKind::Look(look) => self.look(*look),
            HirKind::Repetition(repetition) => self.repetition(repetition),
            HirKind::Concat(parts) => {
                let parts = self.last(parts.len());
                self.ast.add(AstForm::Concat(parts))
            }
            HirKind::Alternation(parts) => {
                let parts = self.last(parts.len());
                self.ast.add(AstForm::Alternatives(parts))
            }
        };
        self.done.push(id);
        Ok(())
    }
}

impl Translator {
    /// The last `n` parts that are done.
    fn last(&mut self, n: usize) -> Vec<AstId> {
        self.done.split_off(self.done.len().saturating_sub(n))
    }

    fn literal(&mut self, bytes: &[u8]) -> Result<AstId, PatternError> {
        let Ok(text) = std::str::from_utf8(bytes) else {
            return Err(PatternError::Unsupported {
                offset: 0,
                what: "a part of a character",
            });
        };
        let class = |c| AstForm::Class(CharSet::range(c, c));
        let parts: Vec<_> = text.chars().map(|c| self.ast.add(class(c))).collect();
        Ok(match parts[..] {
            [one] => one,
            _ => self.ast.add(AstForm::Concat(parts)),
        })
    }

    fn repetition(&mut self, repetition: &Repetition) -> AstId {
        let inner = match self.done.pop() {
            Some(inner) => inner,
            None => self.ast.add(AstForm::Empty),
        };
        let (min, max) = (repetition.min.into(), repetition.max.map_or(UNBOUNDED, u64::from));
        self.ast.add(AstForm::Repeat { inner, min, max })
    }

    fn look(&mut self, look: Look) -> AstId {
        let [line_feed, return_] = ["\n", "\r"].map(CharSet::of);
        match look {
            Look::Start => self.ast.add(AstForm::Start),
            Look::End => self.ast.add(AstForm::End),
            Look::StartLF => self.ast.look(true, true, line_feed.complement()),
            Look::EndLF => self.ast.look(false, true, line_feed.complement()),
            Look::StartCRLF => {
                // Never between the two characters of one line end.
                let start = self.ast.add(AstForm::Start);
                let behind_feed = self.ast.look(true, false, line_feed.clone());
                let behind_return = self.ast.look(true, false, return_);
                let no_feed = self.ast.look(false, true, line_feed);
                let behind_return = self.ast.add(AstForm::Concat(vec![behind_return, no_feed]));
                self.ast
                    .add(AstForm::Alternatives(vec![start, behind_feed, behind_return]))
            }
            Look::EndCRLF => {
                let end = self.ast.add(AstForm::End);
                let before_return = self.ast.look(false, false, return_.clone());
                let before_feed = self.ast.look(false, false, line_feed);
                let no_return = self.ast.look(true, true, return_);
                let before_feed = self.ast.add(AstForm::Concat(vec![no_return, before_feed]));
                self.ast
                    .add(AstForm::Alternatives(vec![end, before_return, before_feed]))
            }
            Look::WordAscii => self.ascii().boundary(&mut self.ast, false),
            Look::WordAsciiNegate => self.ascii().boundary(&mut self.ast, true),
            Look::WordUnicode => self.unicode().boundary(&mut self.ast, false),
            Look::WordUnicodeNegate => self.unicode().boundary(&mut self.ast, true),
            Look::WordStartAscii => self.ascii().start(&mut self.ast),
            Look::WordEndAscii => self.ascii().end(&mut self.ast),
            Look::WordStartUnicode => self.unicode().start(&mut self.ast),
            Look::WordEndUnicode => self.unicode().end(&mut self.ast),
            Look::WordStartHalfAscii => self.ascii().not_before,
            Look::WordEndHalfAscii => self.ascii().not_behind,
            Look::WordStartHalfUnicode => self.unicode().not_before,
            Look::WordEndHalfUnicode => self.unicode().not_behind,
        }
    }

    fn ascii(&mut self) -> WordSides {
        let ast = &mut self.ast;
        *self.ascii.get_or_insert_with(|| WordSides::new(ast, &word()))
    }

    fn unicode(&mut self) -> WordSides {
        let ast = &mut self.ast;
        *self.unicode.get_or_insert_with(|| WordSides::new(ast, unicode_word()))
    }
}

fn characters(class: &Class) -> CharSet {
    match class {
        Class::Unicode(class) => CharSet::from_ranges(class.iter().map(|range| (range.start(), range.end()))),
        // Of ASCII alone: other bytes are no characters, and the parser refuses them.
        Class::Bytes(class) => {
            let range = |range: &hir::ClassBytesRange| (char::from(range.start()), char::from(range.end()));
            CharSet::from_ranges(class.iter().map(range))
        }
    }
}
