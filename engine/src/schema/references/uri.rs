//! URI references (RFC 3986): resolution against a base, fragments.
//!
//! References in schemas in the wild hold characters that RFC 3986 forbids (`#/definitions/a b`), so nothing is
//! validated: a reference is split as appendix B says, and URIs are compared as texts after resolution.

use std::borrow::Cow;

/// A URI reference without fragment, in its parts.
struct UriParts<'a> {
    scheme: Option<&'a str>,
    authority: Option<&'a str>,
    path: &'a str,
    query: Option<&'a str>,
}

impl<'a> UriParts<'a> {
    fn split(text: &'a str) -> Self {
        let (scheme, rest) = match text.split_once(':') {
            Some((scheme, rest)) if is_scheme(scheme) => (Some(scheme), rest),
            _ => (None, text),
        };
        let (rest, query) = match rest.split_once('?') {
            Some((rest, query)) => (rest, Some(query)),
            None => (rest, None),
        };
        let (authority, path) = match rest.strip_prefix("//") {
            Some(rest) => {
                let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
                (Some(authority), path)
            }
            None => (None, rest),
        };
        Self {
            scheme,
            authority,
            path,
            query,
        }
    }

    /// The URI with these parts, but for the path.
    fn join(&self, path: &str) -> String {
        let optional = |before: &str, part: Option<&str>, after: &str| match part {
            Some(part) => [before, part, after].concat(),
            None => String::new(),
        };
        let (scheme, authority) = (optional("", self.scheme, ":"), optional("//", self.authority, ""));
        [&scheme, &authority, path, &optional("?", self.query, "")].concat()
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// Splits a URI reference from its fragment; no fragment and an empty one are the same.
pub(crate) fn split_fragment(reference: &str) -> (&str, &str) {
    reference.split_once('#').unwrap_or((reference, ""))
}

/// The URI that `reference`, which has no fragment, names in a document whose URI is `base` (RFC 3986, section 5.2.2).
pub(crate) fn resolve(base: &str, reference: &str) -> String {
    if reference.is_empty() {
        return base.to_owned();
    }
    let mut target = UriParts::split(reference);
    if target.scheme.is_some() {
        // The path of a `urn:` is opaque: only hierarchical ones have segments.
        return match target.path.starts_with('/') {
            true => target.join(&remove_dot_segments(target.path)),
            false => target.join(target.path),
        };
    }
    let base = UriParts::split(base);
    target.scheme = base.scheme;
    if target.authority.is_some() {
        return target.join(&remove_dot_segments(target.path));
    }
    target.authority = base.authority;
    if target.path.is_empty() {
        target.query = target.query.or(base.query);
        return target.join(base.path);
    }
    let directory = match base.path.rfind('/') {
        _ if target.path.starts_with('/') => "",
        Some(slash) => &base.path[..=slash],
        None if base.authority.is_some() && base.path.is_empty() => "/",
        None => "",
    };
    target.join(&remove_dot_segments(&[directory, target.path].concat()))
}

/// RFC 3986, section 5.2.4. A path that does not start with `/` stays so.
fn remove_dot_segments(path: &str) -> String {
    if !path.contains('.') {
        return path.to_owned();
    }
    let (root, relative) = path.strip_prefix('/').map_or(("", path), |rest| ("/", rest));
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = relative.split('/').peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            "." => {}
            ".." => {
                kept.pop();
            }
            other => {
                kept.push(other);
                continue;
            }
        }
        if is_last {
            kept.push("");
        }
    }
    [root, &kept.join("/")].concat()
}

/// Whether a fragment is the name of an anchor, rather than a JSON Pointer or nothing.
pub(super) fn is_plain_name(fragment: &str) -> bool {
    !fragment.is_empty() && !fragment.starts_with('/')
}

/// `text` with `%XX` decoded. Percent signs that encode no UTF-8 are left as they are.
pub(crate) fn percent_decode(text: &str) -> Cow<'_, str> {
    let decoded = percent_encoding::percent_decode_str(text).decode_utf8();
    decoded.unwrap_or(Cow::Borrowed(text))
}
