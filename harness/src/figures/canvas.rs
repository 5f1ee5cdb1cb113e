//! [`Canvas`]: a picture as SVG text.

use std::fmt::Write as _;

use crate::terminal::is_control;

/// Size of the text of names and figures, in pixels.
pub const TEXT: f64 = 12.0;
/// Size of the text of titles, in pixels.
pub const TITLE: f64 = 15.0;
/// Width of a character of [`TEXT`] on average, in pixels.
pub const CHARACTER: f64 = 6.7;

/// Colours that colour-blind readers can tell apart too, each with a hatching: angle of its lines in degrees, and their distance in pixels; none is
/// plain.
const FILLS: [(&str, Option<(u32, u32)>); 8] = [
    ("#0072B2", None),
    ("#D55E00", Some((45, 6))),
    ("#009E73", Some((135, 6))),
    ("#CC79A7", Some((90, 5))),
    ("#56B4E9", Some((0, 5))),
    ("#E69F00", Some((45, 3))),
    ("#999999", Some((135, 3))),
    ("#F0E442", Some((0, 3))),
];

/// Alignment of a text to its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The text begins at the point.
    Start,
    /// The text is centred on the point.
    Middle,
    /// The text ends at the point.
    End,
}

/// A picture that is being drawn.
pub struct Canvas {
    width: f64,
    height: f64,
    body: String,
}

impl Canvas {
    /// A white picture of `width` by `height` pixels.
    pub fn new(width: f64, height: f64) -> Self {
        Self {
            width,
            height,
            body: String::new(),
        }
    }

    /// A rectangle in the fill with the number `fill`.
    pub fn bar(&mut self, x: f64, y: f64, width: f64, height: f64, fill: usize) {
        let number = fill % FILLS.len();
        if width <= 0.0 || height <= 0.0 {
            return;
        }
        let _ = writeln!(
            self.body,
            r##"<rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" fill="url(#fill{number})" stroke="#222" stroke-width="0.7"/>"##
        );
    }

    /// A rectangle in a colour.
    pub fn rectangle(&mut self, x: f64, y: f64, width: f64, height: f64, colour: &str) {
        let _ = writeln!(
            self.body,
            r#"<rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" fill="{colour}"/>"#
        );
    }

    /// A filled circle.
    pub fn dot(&mut self, x: f64, y: f64, radius: f64, colour: &str) {
        let _ = writeln!(
            self.body,
            r#"<circle cx="{x:.1}" cy="{y:.1}" r="{radius:.1}" fill="{colour}"/>"#
        );
    }

    /// A line.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: &str, width: f64) {
        let _ = writeln!(
            self.body,
            r#"<line x1="{:.1}" y1="{:.1}" x2="{:.1}" y2="{:.1}" stroke="{colour}" stroke-width="{width}"/>"#,
            from.0, from.1, to.0, to.1
        );
    }

    /// A text whose base line is at `y`.
    pub fn text(&mut self, x: f64, y: f64, anchor: Anchor, text: &str) {
        self.styled(x, y, anchor, text, "");
    }

    /// A title.
    pub fn title(&mut self, x: f64, y: f64, text: &str) {
        self.styled(
            x,
            y,
            Anchor::Start,
            text,
            &format!(r#" font-size="{TITLE}" font-weight="bold""#),
        );
    }

    /// A text in bold.
    pub fn bold(&mut self, x: f64, y: f64, anchor: Anchor, text: &str) {
        self.styled(x, y, anchor, text, r#" font-weight="bold""#);
    }

    /// A text in a colour.
    pub fn coloured(&mut self, x: f64, y: f64, anchor: Anchor, text: &str, colour: &str) {
        self.styled(x, y, anchor, text, &format!(r#" fill="{colour}""#));
    }

    /// A text in letters of one width, with all its spaces.
    pub fn code(&mut self, x: f64, y: f64, text: &str) {
        self.styled(
            x,
            y,
            Anchor::Start,
            text,
            r#" font-family="monospace" xml:space="preserve""#,
        );
    }

    fn styled(&mut self, x: f64, y: f64, anchor: Anchor, text: &str, style: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let _ = writeln!(
            self.body,
            r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}"{style}>{}</text>"#,
            escaped(text)
        );
    }

    /// The picture.
    pub fn finish(self) -> String {
        let (width, height) = (self.width.ceil(), self.height.ceil());
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"sans-serif\" font-size=\"{TEXT}\" fill=\"#222\">\n<defs>\n"
        );
        for (number, (colour, hatching)) in FILLS.iter().enumerate() {
            let (angle, distance) = hatching.unwrap_or((0, 8));
            let lines = match hatching {
                Some(_) => {
                    format!(r##"<line x1="0" y1="0" x2="0" y2="{distance}" stroke="#fff" stroke-width="1.6"/>"##)
                }
                None => String::new(),
            };
            let _ = writeln!(
                svg,
                r#"<pattern id="fill{number}" width="{distance}" height="{distance}" patternUnits="userSpaceOnUse" patternTransform="rotate({angle})"><rect width="{distance}" height="{distance}" fill="{colour}"/>{lines}</pattern>"#
            );
        }
        svg + "</defs>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n" + &self.body + "</svg>\n"
    }
}

/// About the width of a text, in pixels.
pub fn width(text: &str) -> f64 {
    text.chars().count() as f64 * CHARACTER
}

/// A text as XML has it, without the characters that XML does not have, and with those that turn the direction of writing shown.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if !character.is_control() && is_control(character) {
            escaped.extend(character.escape_default());
            continue;
        }
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '\t' => escaped.push(' '),
            character if character.is_control() || matches!(character, '\u{fffe}' | '\u{ffff}') => {
                escaped.push('\u{fffd}')
            }
            character => escaped.push(character),
        }
    }
    escaped
}

/// A text in lines of at most `width` characters, broken between words where there are some.
pub fn lines(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        let mut length = 0;
        for word in paragraph.split_inclusive(' ') {
            let mut word: Vec<char> = word.chars().collect();
            if length > 0 && length + word.len() > width {
                lines.push(std::mem::take(&mut line));
                length = 0;
            }
            while word.len() > width {
                let rest = word.split_off(width);
                lines.push(word.into_iter().collect());
                word = rest;
            }
            length += word.len();
            line.extend(word);
        }
        lines.push(line);
    }
    lines
}
