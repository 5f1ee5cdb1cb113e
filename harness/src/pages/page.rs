//! [`Page`]: the embedded template, filled.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use super::data::FailureData;
use super::html::{escape, json_in_element};

const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Content of a page.
pub struct Page<'a> {
    /// The title.
    pub title: &'a str,
    /// Links to other pages below the title, as HTML.
    pub lead: String,
    /// Links to the sections: identifiers and titles.
    pub contents: Vec<(&'a str, &'a str)>,
    /// The sections, as HTML.
    pub body: String,
    /// The failures, where the page has a list of them.
    pub failures: Option<FailureData>,
}

impl Page<'_> {
    /// The page as one file.
    pub fn html(&self) -> String {
        let contents = self
            .contents
            .iter()
            .map(|(id, title)| format!("<li><a href=\"#{id}\">{}</a></li>", escape(title)));
        let data = self.failures.as_ref().map_or_else(String::new, |data| {
            format!(
                "<script type=\"application/json\" id=\"failures-data\">{}</script>\n<script type=\"application/json\" id=\"failures-details\">{}</script>",
                json_in_element(&data.list()),
                json_in_element(&data.details())
            )
        });
        // Nothing but this script runs, whatever a text of a record has brought with it.
        let hash = STANDARD.encode(Sha256::digest(SCRIPT));
        let policy = format!("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{hash}'");
        fill(
            TEMPLATE,
            &[
                ("{{policy}}", &policy),
                ("{{title}}", &escape(self.title)),
                ("{{style}}", STYLE),
                ("{{heading}}", &escape(self.title)),
                ("{{lead}}", &self.lead),
                ("{{contents}}", &contents.collect::<String>()),
                ("{{body}}", &self.body),
                ("{{data}}", &data),
                ("{{script}}", SCRIPT),
            ],
        )
    }
}

/// The template with each mark, in order, replaced once. What takes its place may hold marks: they stay text.
fn fill(template: &str, parts: &[(&str, &str)]) -> String {
    let (mut filled, mut rest) = (String::new(), template);
    for (mark, content) in parts {
        let Some((before, after)) = rest.split_once(mark) else {
            continue;
        };
        filled.push_str(before);
        filled.push_str(content);
        rest = after;
    }
    filled + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mark_of_the_template_is_replaced() {
        let page = Page {
            title: "a {{body}} <title>",
            lead: String::new(),
            contents: vec![("x", "X")],
            body: "<p>{{script}}</p>".to_owned(),
            failures: None,
        };
        let html = page.html();
        assert!(html.contains("<title>a {{body}} &lt;title&gt;</title>"), "{html}");
        assert!(html.contains("<p>{{script}}</p>") && html.contains("href=\"#x\""));
        assert_eq!(html.matches("{{").count(), 3, "two titles and the body");
    }
}
