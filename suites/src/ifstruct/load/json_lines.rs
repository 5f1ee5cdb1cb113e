//! [`JsonLines`]: objects read line by line.

use std::io::{self, BufRead};

use serde_json::{Map, Value};

use super::error::{MAX_LINE_BYTES, RowProblem};

/// Number of bytes after which a line counts as endless: a file with such a line is no JSON Lines.
const ENDLESS_BYTES: usize = 4 * MAX_LINE_BYTES;

/// The objects of a file of JSON Lines, each with its line from 1. Empty lines are passed over.
pub struct JsonLines<R> {
    input: R,
    number: usize,
    line: Vec<u8>,
}

impl<R: BufRead> JsonLines<R> {
    /// Reads from `input`.
    pub fn new(input: R) -> Self {
        Self {
            input,
            number: 0,
            line: Vec::new(),
        }
    }

    /// Reads one line into `self.line`, at most one byte more than the limit; false at the end.
    fn advance(&mut self) -> io::Result<bool> {
        self.line.clear();
        self.number += 1;
        let mut passed = 0;
        loop {
            let available = match self.input.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                available => available?,
            };
            if available.is_empty() {
                return Ok(passed > 0);
            }
            let end = available.iter().position(|&byte| byte == b'\n');
            let part = &available[..end.unwrap_or(available.len())];
            let room = (MAX_LINE_BYTES + 1).saturating_sub(self.line.len());
            self.line.extend_from_slice(&part[..part.len().min(room)]);
            let used = part.len() + usize::from(end.is_some());
            self.input.consume(used);
            passed += used;
            if passed > ENDLESS_BYTES {
                let message = format!("line {} has no end within {} MiB", self.number, ENDLESS_BYTES >> 20);
                return Err(io::Error::new(io::ErrorKind::InvalidData, message));
            }
            if end.is_some() {
                return Ok(true);
            }
        }
    }

    fn row(&self) -> Fields {
        if self.line.len() > MAX_LINE_BYTES {
            return Err(RowProblem::TooLong);
        }
        let text = std::str::from_utf8(&self.line).map_err(|error| RowProblem::NotUtf8 {
            offset: error.valid_up_to(),
        })?;
        serde_json::from_str(text).map_err(|error| RowProblem::NotAnObject(error.to_string()))
    }
}

impl<R: BufRead> Iterator for JsonLines<R> {
    type Item = io::Result<(usize, Result<Map<String, Value>, RowProblem>)>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.advance() {
                Ok(false) => return None,
                Ok(true) if self.line.iter().all(u8::is_ascii_whitespace) => {}
                Ok(true) => return Some(Ok((self.number, self.row()))),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// The fields of a line or row by name, or why it has none.
pub(super) type Fields = Result<Map<String, Value>, RowProblem>;
