//! URI references (RFC 3986): resolution against a base, fragments.
//!
//! References in schemas in the wild hold characters that RFC 3986 forbids (`#/definitions/a b`), so nothing is
//! validated: a reference is split as appendix B says, and URIs are compared as texts after resolution.

use std::borrow::Cow;

/// A URI reference without fragment, in its parts.
struct Parts<'a> {
    scheme: Option<&'a str>,
    authority: Option<&'a str>,
    path: &'a str,
    query: Option<&'a str>,
}

impl<'a> Parts<'a> {
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

    fn join(&self, path: &str) -> String {
        let mut uri = String::new();
        if let Some(scheme) = self.scheme {
            uri.push_str(scheme);
            uri.push(':');
        }
        if let Some(authority) = self.authority {
            uri.push_str("//");
            uri.push_str(authority);
        }
        uri.push_str(path);
        if let Some(query) = self.query {
            uri.push('?');
            uri.push_str(query);
        }
        uri
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// A URI reference and its fragment; no fragment and an empty one are the same.
pub(super) fn split_fragment(reference: &str) -> (&str, &str) {
    reference.split_once('#').unwrap_or((reference, ""))
}

/// The URI that `reference`, which has no fragment, names in a document whose URI is `base` (RFC 3986, section 5.2.2).
pub(super) fn resolve(base: &str, reference: &str) -> String {
    if reference.is_empty() {
        return base.to_owned();
    }
    let parts = Parts::split(reference);
    if parts.scheme.is_some() {
        // The path of a `urn:` is opaque: only hierarchical ones have segments.
        return if parts.path.starts_with('/') {
            parts.join(&remove_dot_segments(parts.path))
        } else {
            parts.join(parts.path)
        };
    }
    let base = Parts::split(base);
    let resolved = Parts {
        scheme: base.scheme,
        authority: parts.authority.or(base.authority),
        path: "",
        query: parts.query,
    };
    if parts.authority.is_some() || parts.path.starts_with('/') {
        return resolved.join(&remove_dot_segments(parts.path));
    }
    if parts.path.is_empty() {
        let query = parts.query.or(base.query);
        return Parts { query, ..resolved }.join(base.path);
    }
    let merged = if base.authority.is_some() && base.path.is_empty() {
        format!("/{}", parts.path)
    } else {
        let directory = base.path.rfind('/').map_or("", |slash| &base.path[..=slash]);
        format!("{directory}{}", parts.path)
    };
    resolved.join(&remove_dot_segments(&merged))
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

/// `text` with `%XX` decoded. What is no percent-encoded UTF-8 is left as it is.
pub(super) fn percent_decode(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let hex = |byte: Option<&u8>| byte.and_then(|&byte| char::from(byte).to_digit(16));
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        match (bytes[at], hex(bytes.get(at + 1)), hex(bytes.get(at + 2))) {
            (b'%', Some(high), Some(low)) => {
                decoded.push((high * 16 + low) as u8);
                at += 3;
            }
            (byte, ..) => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8(decoded).map_or(Cow::Borrowed(text), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_resolve_as_the_rfc_shows() {
        // RFC 3986, section 5.4, without fragments.
        for (reference, resolved) in [
            ("g:h", "g:h"),
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            (";x", "http://a/b/c/;x"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("./", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../..", "http://a/"),
            ("../../g", "http://a/g"),
            ("../../../g", "http://a/g"),
            ("/./g", "http://a/g"),
            ("/../g", "http://a/g"),
            ("g.", "http://a/b/c/g."),
            ("..g", "http://a/b/c/..g"),
            ("./../g", "http://a/b/g"),
            ("g/./h", "http://a/b/c/g/h"),
            ("g/../h", "http://a/b/c/h"),
            ("g;x=1/../y", "http://a/b/c/y"),
            ("http:g", "http:g"),
        ] {
            assert_eq!(resolve("http://a/b/c/d;p?q", reference), resolved, "{reference}");
        }
    }

    #[test]
    fn unusual_bases() {
        assert_eq!(resolve("", "foo.json"), "foo.json");
        assert_eq!(resolve("dir/a.json", "b.json"), "dir/b.json");
        assert_eq!(resolve("http://a", "b"), "http://a/b");
        assert_eq!(resolve("http://a/b", "urn:uuid:1-2.3"), "urn:uuid:1-2.3");
        assert_eq!(resolve("urn:uuid:1", ""), "urn:uuid:1");
        assert_eq!(resolve("file:///x/y", "z"), "file:///x/z");
    }

    #[test]
    fn fragments() {
        assert_eq!(split_fragment("a#b"), ("a", "b"));
        assert_eq!(split_fragment("a#"), ("a", ""));
        assert_eq!(split_fragment("#/x"), ("", "/x"));
        assert_eq!(percent_decode("a%20b%C3%A9%zz%"), "a bé%zz%");
        assert_eq!(percent_decode("%FF"), "%FF");
    }
}
