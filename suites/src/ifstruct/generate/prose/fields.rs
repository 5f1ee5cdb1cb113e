//! The fields, sentence by sentence.

use super::types::{Diction, with_article};
use crate::ifstruct::draw::Draw;
use crate::ifstruct::generate::phrase::{self, fill};
use crate::ifstruct::generate::spec::Spec;
use crate::ifstruct::generate::taxonomy::{Bounds, Field, FieldKind};

/// A sentence or two that belong together, and the fields they define.
pub(super) struct Statement {
    pub text: String,
    pub defines: Vec<String>,
}

/// Describes the fields of `spec`, those within objects and lists with them.
pub(super) fn describe(spec: &Spec<'_>, diction: &Diction, draw: &mut Draw) -> Vec<Statement> {
    let mut writer = FieldWriter {
        spec,
        diction,
        draw,
        statements: Vec::new(),
        used: Vec::new(),
        clause: None,
    };
    if writer.draw.chance(40) {
        // Some put everything in the same way.
        writer.clause = Some(writer.draw.pick(diction.voice.clauses));
    }
    let mut rest: &[Field] = &spec.fields;
    while let Some(first) = rest.first() {
        if first.kind.fields().is_some() {
            writer.nested(first);
            rest = &rest[1..];
            continue;
        }
        let leaves = rest.iter().take_while(|field| field.kind.fields().is_none()).count();
        let opens = writer.statements.is_empty();
        let alike = writer.alike(&rest[..leaves]);
        let taken = if !opens && alike > 1 {
            writer.group(&rest[..alike]);
            alike
        } else {
            // Leaving a single field behind reads as an afterthought.
            let most = if opens { 3 } else { 4 };
            let taken = match leaves {
                0..=2 => leaves,
                _ => usize::try_from(writer.draw.between(1, most)).unwrap_or(1).min(leaves),
            };
            match taken {
                1 if !opens => writer.single(first),
                _ => writer.list(&rest[..taken], opens),
            }
            taken
        };
        rest = &rest[taken..];
    }
    writer.statements
}

struct FieldWriter<'a> {
    spec: &'a Spec<'a>,
    diction: &'a Diction,
    draw: &'a mut Draw,
    statements: Vec<Statement>,
    /// The templates used so far.
    used: Vec<&'static str>,
    /// The template of all clauses that give a field's meaning, where they are alike.
    clause: Option<&'static str>,
}

impl FieldWriter<'_> {
    fn state(&mut self, text: String, fields: &[Field]) {
        let mut defines = Vec::new();
        for field in fields {
            defines.push(field.name.clone());
            defines.extend(
                field
                    .kind
                    .fields()
                    .unwrap_or_default()
                    .iter()
                    .map(|inner| inner.name.clone()),
            );
        }
        self.statements.push(Statement { text, defines });
    }

    /// One of `templates`, none that was used before where there is another.
    fn fresh(&mut self, templates: &'static [&'static str]) -> &'static str {
        let fresh: Vec<&'static str> = templates
            .iter()
            .copied()
            .filter(|template| !self.used.contains(template))
            .collect();
        let template = match fresh.is_empty() {
            true => self.draw.pick(templates),
            false => self.draw.pick(&fresh),
        };
        self.used.push(template);
        template
    }

    /// Counts the first fields that can be said to have the same type in one sentence.
    fn alike(&mut self, fields: &[Field]) -> usize {
        let plain = |field: &Field| field.required && !field.nullable;
        let Some(first) = fields.first().filter(|field| plain(field)) else {
            return 0;
        };
        let Some(plural) = self.diction.plural(&first.kind) else {
            return 0;
        };
        let same =
            |field: &&Field| plain(field) && field.about.is_none() && self.diction.plural(&field.kind) == Some(plural);
        fields.iter().take_while(same).count()
    }

    fn group(&mut self, fields: &[Field]) {
        let names: Vec<String> = fields.iter().map(|field| self.diction.name(&field.name)).collect();
        let types = self.diction.plural(&fields[0].kind).unwrap_or_default();
        let template = self.fresh(self.diction.voice.groups);
        let text = fill(template, &[("names", &phrase::join(&names, "and")), ("types", types)]);
        self.state(self.sentence(&text), fields);
    }

    fn single(&mut self, field: &Field) {
        let voice = self.diction.voice;
        // An optional field says so in its own sentence or in the next.
        let apart = !field.required && self.draw.chance(50);
        let mut shown = field.clone();
        shown.required |= apart;
        let template = match shown.about {
            Some(_) => self.fresh(voice.sentences),
            None => self.fresh(voice.bare_sentences),
        };
        let clause = self.filled_clause(template, &shown);
        let mut text = self.sentence(&clause);
        if apart {
            let more = self.fresh(voice.optional_sentences);
            text = format!("{text}{}{more}", if voice.casual { ", " } else { " " });
        }
        self.state(text, std::slice::from_ref(field));
    }

    fn list(&mut self, fields: &[Field], opens: bool) {
        let voice = self.diction.voice;
        let template = self.fresh(if opens { voice.lists } else { voice.more });
        let clauses = self.clauses(fields);
        let text = self.around(template, &clauses);
        self.state(text, fields);
    }

    /// A list of objects or an object: its first fields in the sentence that defines it, more of them behind.
    fn nested(&mut self, field: &Field) {
        let voice = self.diction.voice;
        let inner = field.kind.fields().unwrap_or_default();
        let first = match inner.len() {
            0..=3 => inner.len(),
            _ => usize::try_from(self.draw.between(2, 3)).unwrap_or(2),
        };
        let (templates, word) = match &field.kind {
            FieldKind::Objects { one, .. } => (voice.nested_lists, one.as_str()),
            _ => (voice.nested_objects, ""),
        };
        let template = fill(self.fresh(templates), &[("inner", word)]);
        let mut shown = field.clone();
        // "An object, optional, that has" is nobody's English.
        shown.required = true;
        let clauses = self.clauses(&inner[..first]);
        let opening = self.filled_clause(&template, &shown);
        let mut text = self.around(&opening, &clauses);
        if first < inner.len() {
            let clauses = self.clauses(&inner[first..]);
            let template = fill(self.fresh(voice.nested_more), &[("N", &self.diction.name(&field.name))]);
            let more = self.around(&template, &clauses);
            text = format!("{text}{}{more}", if voice.casual { "\n" } else { " " });
        }
        if shown.required != field.required {
            let name = self.diction.name(&field.name);
            let sentence = match voice.casual {
                true => format!(", and {name} is optional"),
                false => format!(" {name} as a whole is optional."),
            };
            text.push_str(&sentence);
        }
        self.state(text, std::slice::from_ref(field));
    }

    /// Fills `template` with clauses and the name of the item, as a sentence.
    fn around(&self, template: &str, clauses: &str) -> String {
        let one = &self.spec.entity.one;
        let a_one = phrase::with_article(one);
        let values = [
            ("one", one.as_str()),
            ("a_one", &a_one),
            ("A_one", &phrase::capitalise(&a_one)),
            ("clauses", clauses),
        ];
        self.sentence(&fill(template, &values))
    }

    fn sentence(&self, text: &str) -> String {
        // A name in quotation marks or backticks stays as it is; so does a bare one, which a capital would change.
        match self.diction.voice.casual || text.split(' ').next().is_some_and(|word| word.contains('_')) {
            true => text.to_owned(),
            false => phrase::capitalise(text),
        }
    }

    /// Clauses for all of `fields`, joined: the type behind the name in each, or before it in each.
    fn clauses(&mut self, fields: &[Field]) -> String {
        let voice = self.diction.voice;
        let typed_first =
            !voice.typed_first.is_empty() && self.draw.chance(30) && fields.iter().all(can_be_typed_first);
        let named = if fields.iter().any(|field| bounds(&field.kind) != Bounds::default()) {
            1
        } else {
            2
        };
        let typed = self.draw.below(named.min(voice.typed_first.len()));
        let mut clauses = Vec::new();
        let mut last = "";
        for field in fields {
            let template = match (&field.about, typed_first) {
                (_, true) => voice.typed_first[typed],
                (Some(_), false) => match self.clause {
                    Some(clause) => clause,
                    None => {
                        let others: Vec<&str> =
                            voice.clauses.iter().copied().filter(|clause| *clause != last).collect();
                        self.draw.pick(&others)
                    }
                },
                (None, false) => self.draw.pick(voice.bare_clauses),
            };
            last = template;
            clauses.push(self.filled_clause(template, field));
        }
        let has_commas = clauses.iter().any(|clause| outside_parentheses(clause).contains(','));
        match (has_commas, clauses.len()) {
            (true, 3..) if !voice.casual => {
                let last = clauses.pop().unwrap_or_default();
                format!("{}; and {last}", clauses.join("; "))
            }
            (true, 2) => clauses.join(", and "),
            _ => phrase::join(&clauses, "and"),
        }
    }

    fn filled_clause(&mut self, template: &str, field: &Field) -> String {
        let kind = self.diction.type_of(field, template.contains("({T}"), self.draw);
        let about = field.about.as_deref().unwrap_or_default();
        let values = [
            ("N", self.diction.name(&field.name)),
            ("aT", with_article(&kind)),
            ("T", kind),
            ("about", about.to_owned()),
            ("About", phrase::capitalise(about)),
        ];
        let values = values.each_ref().map(|(name, value)| (*name, value.as_str()));
        fill(template, &values)
    }
}

fn can_be_typed_first(field: &Field) -> bool {
    let simple = matches!(
        field.kind,
        FieldKind::Text(_) | FieldKind::Boolean | FieldKind::Integer(_) | FieldKind::Number(_)
    );
    simple && field.required && !field.nullable && field.about.is_none()
}

fn bounds(kind: &FieldKind) -> Bounds {
    match kind {
        FieldKind::Integer(bounds) | FieldKind::Number(bounds) => *bounds,
        _ => Bounds::default(),
    }
}

/// Returns the parts of `text` outside of parentheses.
fn outside_parentheses(text: &str) -> String {
    let mut depth = 0_usize;
    let outside = text.chars().filter(|character| {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => return depth == 0,
        }
        false
    });
    outside.collect()
}
