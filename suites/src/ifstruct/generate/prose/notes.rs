//! Sentences on strings that need escaping.

use crate::ifstruct::draw::Draw;
use crate::ifstruct::generate::phrase::{say, words};
use crate::ifstruct::generate::spec::Spec;
use crate::ifstruct::generate::taxonomy::{FieldKind, Flavour, Item};

/// Sentences about at most two of the fields.
pub(in crate::ifstruct::generate) fn sentences(spec: &Spec<'_>, draw: &mut Draw) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for field in spec.all_fields() {
        let (FieldKind::Text(flavour)
        | FieldKind::List {
            item: Item::Text(flavour),
            ..
        }) = field.kind
        else {
            continue;
        };
        let templates = templates(flavour);
        // Plain prose speaks for itself; escaping is what some requests are about.
        let percent = if spec.entity.escaping { 75 } else { 30 };
        if notes.len() < 2 && !templates.is_empty() && draw.chance(percent) {
            notes.push(say(draw, templates, &[("words", &words(&field.name))]));
        }
    }
    notes
}

fn templates(flavour: Flavour) -> &'static [&'static str] {
    match flavour {
        Flavour::String => &[],
        Flavour::Prose => &[
            "Write the {words} as a few full sentences, with a line break where a new thought begins.",
            "Let the {words} run over several lines.",
        ],
        Flavour::Quoted => &[
            "Somewhere in the {words}, quote somebody in double quotation marks.",
            "The {words} should contain speech in quotation marks, and apostrophes where English has them.",
        ],
        Flavour::Verse => &[
            "Keep the line breaks, the indentation and the blank lines of the {words} exactly as the author set them.",
            "The {words} must preserve its line breaks and blank lines.",
        ],
        Flavour::Dialogue => &[
            "In the {words}, give every message its own line, with the speaker's name and the words in quotation marks.",
        ],
        Flavour::Markdown => &[
            "Use real Markdown in the {words}: headings, bullet points, a link, some inline code.",
            "The {words} should survive a Markdown renderer, blank lines included.",
        ],
        Flavour::LogLines => &[
            "Give the {words} realistic log lines, each beginning with a time in square brackets.",
            "Preserve the line structure of the {words}, as a log viewer would show it.",
        ],
        Flavour::Code => &[
            "Keep the indentation and the line breaks of the {words} so that it would still run.",
            "The {words} must contain real code over several lines, with quoted literals and at the very least a backslash.",
        ],
        Flavour::Diff => {
            &["Write the {words} as a unified diff, with its plus and minus signs at the start of the lines."]
        }
        Flavour::Shell => &[
            "The {words} should contain single and double quotes as a shell needs them.",
            "Use a pipe, a variable and quoted arguments in the {words}.",
        ],
        Flavour::Sql => &["Spread the {words} over several indented lines and quote some identifiers."],
        Flavour::Html => &["Indent the {words} and keep the double quotes around attributes."],
        Flavour::Config => &["Keep the {words} line by line, comments and blank lines included."],
        Flavour::Regex => &[
            "Use backslashes, brackets and anchors in the {words}, as real patterns do.",
            "The {words} should be a working regular expression with a few backslash escapes.",
        ],
        Flavour::Trace => &[
            "The {words} must keep its line breaks and the indentation of its frames.",
            "Make the {words} look like the real thing: file paths, line positions, quoted messages.",
        ],
        Flavour::JsonText => {
            &["The {words} should itself be a serialized document, braces and double quotes included."]
        }
        Flavour::Tabbed => &["Separate the columns of the {words} by real tab characters."],
        Flavour::WindowsPath => {
            &["Use backslashes and a drive letter in the {words}, and put a space in some folder's name."]
        }
        Flavour::PosixPath => &["Use forward slashes in the {words}, with a dot somewhere in a folder's name."],
    }
}
