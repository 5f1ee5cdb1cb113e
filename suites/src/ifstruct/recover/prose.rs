//! Reads fields from sentences.
//!
//! Within a sentence all types stand behind the names they belong to, or all before. What limits a value and whether it may be left
//! out belongs to the name or type it stands behind. Fields named behind a list of objects or an object are within it.

use super::lexer::{Limits, Token, Type, lex, regex};
use super::recovered::Field;

/// The fields read so far.
#[derive(Default)]
pub(super) struct Reader {
    fields: Vec<Field>,
    /// The fields last named, for "it may be left out".
    last: Vec<String>,
}

impl Reader {
    pub(super) fn into_fields(self) -> Vec<Field> {
        self.fields
    }

    fn find(&mut self, name: &str) -> Option<&mut Field> {
        self.fields.iter_mut().find_map(|field| match field.name == name {
            true => Some(field),
            false => field.fields.iter_mut().find(|inner| inner.name == name),
        })
    }

    fn is_container(&mut self, name: &str) -> bool {
        self.find(name)
            .is_some_and(|field| matches!(field.kind, Type::Object | Type::Objects(_)))
    }

    /// Reads one sentence.
    pub(super) fn read(&mut self, sentence: &str) {
        if self.change(sentence) {
            return;
        }
        let mut tokens = lex(sentence);
        // "It is an object, ... an object of its own": said twice is said once.
        tokens.dedup_by(|second, first| {
            *second == Token::Type(Type::Object) && matches!(first, Token::Type(Type::Object | Type::Objects(_)))
        });
        let mut scope: Option<String> = None;
        let first = tokens.iter().find_map(|token| match token {
            Token::Name(name) if self.is_container(name) => None,
            Token::Name(_) => Some(true),
            Token::Type(_) => Some(false),
            _ => None,
        });
        let names_anything = tokens.iter().any(|token| matches!(token, Token::Name(_)));
        // Behind a container's definition it is decided anew.
        let mut names_first = first.or(Some(true));
        let mut group: Vec<String> = Vec::new();
        let mut kind: Option<(Type, Limits)> = None;
        let mut group_is_done = false;
        for token in tokens {
            if matches!(token, Token::Name(_) | Token::Type(_)) && names_first.is_none() {
                names_first = Some(matches!(token, Token::Name(_)));
            }
            match token {
                Token::Type(_) | Token::Bounds(_) | Token::Length(_) if !names_anything => {}
                Token::Name(name) if self.is_container(&name) => {
                    scope = Some(name.clone());
                    self.last = vec![name];
                    group.clear();
                }
                Token::Name(name) => {
                    if group_is_done {
                        group.clear();
                        group_is_done = false;
                    }
                    if let (Some(false), Some((kind, bounds))) = (names_first, &kind) {
                        self.define(&name, kind.clone(), bounds.clone(), scope.as_deref());
                    }
                    group.push(name);
                    self.last.clone_from(&group);
                }
                Token::Type(found) if names_first != Some(false) => {
                    // Of several types in a row the first is the field's.
                    if group_is_done {
                        continue;
                    }
                    for name in group.clone() {
                        self.define(&name, found.clone(), Limits::default(), scope.as_deref());
                    }
                    if let (Type::Object | Type::Objects(_), [name]) = (&found, group.as_slice()) {
                        scope = Some(name.clone());
                        names_first = None;
                    }
                    group_is_done = true;
                }
                Token::Type(found) => {
                    kind = Some((found, Limits::default()));
                    group.clear();
                }
                Token::Bounds(limits) => match (&mut kind, group.is_empty()) {
                    (Some((_, bounds)), true) => *bounds = limits,
                    _ => self.each_last(|field| field.bounds = limits.clone()),
                },
                Token::Length(limits) => self.each_last(|field| {
                    if let Type::List(_, length) | Type::Objects(length) = &mut field.kind {
                        *length = limits.clone();
                    }
                }),
                Token::Optional => self.each_last(|field| field.optional = true),
                Token::Required => self.each_last(|field| field.optional = false),
                Token::Null => self.each_last(|field| field.nullable = true),
            }
        }
    }

    fn each_last(&mut self, change: impl Fn(&mut Field)) {
        for name in self.last.clone() {
            if let Some(field) = self.find(&name) {
                change(field);
            }
        }
    }

    fn define(&mut self, name: &str, kind: Type, bounds: Limits, scope: Option<&str>) {
        if let Some(field) = self.find(name) {
            let fields = std::mem::take(&mut field.fields);
            *field = Field {
                bounds,
                fields,
                // A change of type is no change of presence.
                optional: field.optional,
                ..Field::new(name, kind)
            };
            return;
        }
        let field = Field {
            bounds,
            ..Field::new(name, kind)
        };
        match scope.and_then(|scope| self.find(scope)) {
            Some(container) => container.fields.push(field),
            None => self.fields.push(field),
        }
    }

    /// Whether the sentence changes an earlier requirement; if so, the change is made.
    fn change(&mut self, sentence: &str) -> bool {
        let tokens = lex(sentence);
        let names: Vec<String> = regex!(r#"[`"](\w+)[`"]|\b[a-z0-9]+(?:_[a-z0-9]+)+"#)
            .captures_iter(sentence)
            .map(|found| found.get(1).map_or(&found[0], |name| name.as_str()).to_owned())
            .collect();
        if tokens.iter().any(|token| matches!(token, Token::Type(_)))
            && !regex!(r"\b(?:swap|replace) \S+ (?:for|with) ").is_match(sentence)
        {
            return false;
        }
        if let ([field, others @ ..], true) = (
            names.as_slice(),
            regex!(r"\b(?:swap|replace) \S+ (?:for|with) ").is_match(sentence),
        ) {
            let [.., old, new] = others else { return false };
            if let Some(Field {
                kind: Type::Enum(values),
                ..
            }) = self.find(field)
            {
                for value in values.iter_mut().filter(|value| *value == old) {
                    value.clone_from(new);
                }
            }
            return true;
        }
        if regex!(r"rename|so call it|should be called").is_match(sentence) {
            let [old, new] = names.as_slice() else { return false };
            if let Some(field) = self.find(old) {
                field.name.clone_from(new);
            }
            return true;
        }
        if regex!(r"\b(?:scratch|drop|forget|cut) [`\x22a-z]").is_match(sentence)
            && let [name] = names.as_slice()
        {
            self.fields.retain(|field| field.name != *name);
            return true;
        }
        false
    }
}
