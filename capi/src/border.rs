//! [`Error`]: the errors that callers in C are told; and the conversions of the pointers that they pass.

use std::any::Any;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use maskwright::{CompileError, TokenId, VocabularyError};
use maskwright_serving::MatcherError;

/// The error of a call from C that could not do as asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A pointer is null that must not be.
    #[error("{0} is null")]
    Null(&'static str),
    /// A pointer does not have the alignment of its type.
    #[error("{0} is not aligned")]
    Unaligned(&'static str),
    /// A length is beyond what one object in memory can have.
    #[error("{0} is too large")]
    TooLarge(&'static str),
    /// A text is not UTF-8.
    #[error("{name} is not UTF-8 behind byte {at}")]
    NotUtf8 {
        /// The text.
        name: &'static str,
        /// Number of bytes before the first that is not.
        at: usize,
    },
    /// A struct was not set to its defaults first.
    #[error(
        "struct_size of {name} is {found}, not {} to {known}: set the struct to its defaults first ({setter}), with a header no newer than the library",
        size_of::<usize>()
    )]
    StructSize {
        /// Name of the struct.
        name: &'static str,
        /// Function that sets the defaults of the options.
        setter: &'static str,
        /// The size found, in bytes.
        found: usize,
        /// The size that the library knows, in bytes.
        known: usize,
    },
    /// A tokenizer has neither tokens nor a file.
    #[error("a tokenizer takes token_lens with token_bytes, or tokenizer_json")]
    NoTokens,
    /// A tokenizer's data does not make a vocabulary.
    #[error("the vocabulary: {0}")]
    Vocabulary(#[from] VocabularyError),
    /// A style is not known.
    #[error("the style is \"generation\", \"rfc8259\" or a JSON object of changes: {0}")]
    Style(String),
    /// A dialect of regular expressions is not known.
    #[error("patterns {0:?} is not known; one of: common, ecma, rust, python")]
    UnknownPatterns(String),
    /// A kind of constraint is not known.
    #[error(
        "kind {0:?} is not known; one of: json_schema (or json), regex, choice, grammar, ebnf (or gbnf), lark, json_object"
    )]
    UnknownKind(String),
    /// The data of a choice are not a list of texts.
    #[error("the data of a choice is a JSON array of strings: {0}")]
    Choices(serde_json::Error),
    /// A schema, an expression or a choice cannot be compiled.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The matcher could not do as asked.
    #[error(transparent)]
    Matcher(#[from] MatcherError),
    /// A token is not allowed.
    #[error("token {token}, number {number} of those given, is not allowed; the matcher stays where it was")]
    NotAllowed {
        /// The token.
        token: TokenId,
        /// The place of the token among those given, counted from 0.
        number: usize,
    },
    /// The memory for a mask has a wrong length.
    #[error("a mask of {given} bytes: it takes a multiple of 4, and {needed} at least")]
    MaskBytes {
        /// The length given.
        given: usize,
        /// The length needed.
        needed: usize,
    },
    /// A matcher stands in several steps of one call.
    #[error("the matcher stands in several steps")]
    RepeatedMatcher,
    /// Masks of several steps would be written over one another.
    #[error("mask_dest lies over that of another step")]
    Overlap,
    /// The library is at fault.
    #[error("internal error, please report it: {0}")]
    Panic(String),
}

/// Does `work`; a panic becomes an error.
///
/// # Errors
///
/// The error of `work`, or [`Error::Panic`].
pub fn guarded<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(Error::Panic(panic_text(&*panic))))
}

/// Drops a value. A panic on the way leaves memory unfreed, and nothing else.
pub fn discard<T>(value: T) {
    let _ = catch_unwind(AssertUnwindSafe(|| drop(value)));
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic without a text").to_owned()
}

/// A text as C reads it. Bytes of zero, which would end it, are written as `\0`.
pub fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', "\\0")).unwrap_or_default()
}

/// Writes a text and a zero byte into a buffer of `len` bytes, shortened where it is too small for it. A null buffer takes nothing.
///
/// # Safety
///
/// `buffer` is null, or the address of `len` bytes that may be written.
pub unsafe fn write_text(text: &str, buffer: *mut c_char, len: usize) {
    let Some(most) = len.checked_sub(1).filter(|_| !buffer.is_null()) else {
        return;
    };
    let text = c_text(text);
    let text = text.to_string_lossy();
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    // SAFETY: `end` is less than `len`, of which many bytes may be written; texts of ours do not lie in the caller's buffer.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr().cast(), buffer, end);
        *buffer.add(end) = 0;
    }
}

/// The text at an address.
///
/// # Safety
///
/// `text` is null, or the address of bytes that end with a zero byte and stay as they are for `'a`.
///
/// # Errors
///
/// [`Error::Null`], [`Error::NotUtf8`].
pub unsafe fn read_text<'a>(text: *const c_char, name: &'static str) -> Result<&'a str, Error> {
    if text.is_null() {
        return Err(Error::Null(name));
    }
    // SAFETY: as the caller says.
    let text = unsafe { CStr::from_ptr(text) }.to_str();
    text.map_err(|error| Error::NotUtf8 {
        name,
        at: error.valid_up_to(),
    })
}

/// `len` items at an address, which may be null where there are none.
///
/// # Safety
///
/// `items` is null or unaligned, or the address of `len` items that stay as they are for `'a`.
///
/// # Errors
///
/// [`Error::Null`], [`Error::Unaligned`], [`Error::TooLarge`].
pub unsafe fn read_items<'a, T>(items: *const T, len: usize, name: &'static str) -> Result<&'a [T], Error> {
    if len == 0 {
        return Ok(&[]);
    }
    check_items(items, len, name)?;
    // SAFETY: as the caller says; null, alignment and length were checked.
    Ok(unsafe { std::slice::from_raw_parts(items, len) })
}

/// `len` items at an address, to be written.
///
/// # Safety
///
/// `items` is null or unaligned, or the address of `len` items that nothing else reads or writes for `'a`.
///
/// # Errors
///
/// [`Error::Null`], [`Error::Unaligned`], [`Error::TooLarge`].
pub unsafe fn write_items<'a, T>(items: *mut T, len: usize, name: &'static str) -> Result<&'a mut [T], Error> {
    if len == 0 {
        return Ok(&mut []);
    }
    check_items(items, len, name)?;
    // SAFETY: as the caller says; null, alignment and length were checked.
    Ok(unsafe { std::slice::from_raw_parts_mut(items, len) })
}

fn check_items<T>(items: *const T, len: usize, name: &'static str) -> Result<(), Error> {
    if items.is_null() {
        return Err(Error::Null(name));
    }
    if !items.is_aligned() {
        return Err(Error::Unaligned(name));
    }
    match len.checked_mul(size_of::<T>()) {
        Some(bytes) if isize::try_from(bytes).is_ok() => Ok(()),
        _ => Err(Error::TooLarge(name)),
    }
}

/// Writes the first `struct_size` bytes of the default options, or all that the library knows where that is fewer. A null or unaligned
/// address, or a size without the first member, takes nothing.
///
/// # Safety
///
/// `init` is null, or the address of `struct_size` bytes that may be written.
pub unsafe fn write_options<T>(init: *mut T, struct_size: usize, defaults: T) {
    if init.is_null() || !init.is_aligned() || struct_size < size_of::<usize>() {
        return;
    }
    // SAFETY: no more bytes are written than there are, nor read than `defaults` has, which is no place of the caller's.
    unsafe {
        let bytes = struct_size.min(size_of::<T>());
        std::ptr::copy_nonoverlapping((&raw const defaults).cast::<u8>(), init.cast::<u8>(), bytes);
    }
}

/// Reads a struct of options, whose first member is its size as the caller's header has it. Members that an older header lacks keep their
/// defaults.
///
/// # Safety
///
/// `init` is null, or the address of a struct `T` whose first member, a `usize`, says how many of its bytes are there.
///
/// # Errors
///
/// [`Error::Null`], [`Error::Unaligned`], [`Error::StructSize`].
pub unsafe fn read_options<T: Default>(init: *const T, name: &'static str, setter: &'static str) -> Result<T, Error> {
    check_items(init, 1, name)?;
    // SAFETY: the struct is there, and begins with its size.
    let found = unsafe { *init.cast::<usize>() };
    let known = size_of::<T>();
    if !(size_of::<usize>()..=known).contains(&found) {
        return Err(Error::StructSize {
            name,
            setter,
            found,
            known,
        });
    }
    let mut options = T::default();
    // SAFETY: `found` bytes are there, and no more than `options` has. Members that begin within them end within them, because
    // headers add members and do not cut them.
    unsafe {
        std::ptr::copy_nonoverlapping(init.cast::<u8>(), (&raw mut options).cast::<u8>(), found);
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error() {
        let failed: Result<(), Error> = guarded(|| panic!("the {} of it", "text"));
        assert_eq!(
            failed.unwrap_err().to_string(),
            "internal error, please report it: the text of it"
        );
    }

    #[test]
    fn a_text_is_shortened_between_characters() {
        let mut buffer = [7_u8; 6];
        let start: *mut c_char = buffer.as_mut_ptr().cast();
        // SAFETY: the buffer has six bytes, of which three are offered and then none; null takes nothing.
        unsafe {
            write_text("a\u{e4}b", start, 3);
            write_text("text", start, 0);
            write_text("text", std::ptr::null_mut(), 10);
        }
        assert_eq!(buffer, *b"a\0\x07\x07\x07\x07");
    }

    #[test]
    fn no_more_options_are_written_than_the_caller_has() {
        let mut memory = [7_usize; 3];
        let word = size_of::<usize>();
        // SAFETY: the memory has three words, of which two are offered, then one byte; null takes nothing.
        unsafe {
            write_options(memory.as_mut_ptr().cast::<[usize; 3]>(), 2 * word, [2 * word, 1, 2]);
            write_options(memory.as_mut_ptr().cast::<[usize; 3]>(), 1, [0, 0, 0]);
            write_options(std::ptr::null_mut::<[usize; 3]>(), 3 * word, [0, 0, 0]);
        }
        assert_eq!(memory, [2 * word, 1, 7]);
    }

    #[test]
    fn options_of_an_older_header_keep_the_defaults_of_what_it_lacks() {
        #[repr(C)]
        struct Options {
            struct_size: usize,
            old: usize,
            new: usize,
        }
        impl Default for Options {
            fn default() -> Self {
                let struct_size = size_of::<Self>();
                Self {
                    struct_size,
                    old: 1,
                    new: 2,
                }
            }
        }
        let read = |struct_size| {
            let options = Options {
                struct_size,
                old: 10,
                new: 20,
            };
            // SAFETY: the options are there whole.
            let read = unsafe { read_options(&raw const options, "Options", "set") };
            read.map(|options: Options| (options.old, options.new))
        };
        let word = size_of::<usize>();
        assert_eq!(read(2 * word).unwrap(), (10, 2));
        assert_eq!(read(3 * word).unwrap(), (10, 20));
        for wrong in [0, 4 * word] {
            assert!(matches!(read(wrong), Err(Error::StructSize { found, .. }) if found == wrong));
        }
    }
}
