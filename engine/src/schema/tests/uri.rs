//! URI references as RFC 3986 resolves them.

use crate::schema::references::uri::{percent_decode, resolve, split_fragment};

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
