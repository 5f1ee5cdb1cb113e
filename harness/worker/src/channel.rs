//! [`Channel`]: the worker's end of the pipes.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Stdin, Write};

use serde::Serialize;

/// Reads requests, writes replies.
pub(crate) struct Channel {
    input: BufReader<Stdin>,
    output: File,
    line: Vec<u8>,
}

impl Channel {
    /// Takes over standard input and output. Any other writer to standard output, such as a C++ library, writes to standard error from now on, so
    /// that it cannot garble replies.
    pub(crate) fn open() -> io::Result<Self> {
        let output = rustix::io::dup(rustix::stdio::stdout())?;
        rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
        Ok(Self {
            input: BufReader::with_capacity(1 << 16, io::stdin()),
            output: File::from(output),
            line: Vec::new(),
        })
    }

    /// The next request's text; `None` at the end of input.
    pub(crate) fn receive(&mut self) -> io::Result<Option<&[u8]>> {
        self.line.clear();
        let read = self.input.read_until(b'\n', &mut self.line)?;
        Ok((read > 0).then_some(self.line.as_slice()))
    }

    /// Sends a reply, and the raw bytes that belong to it, in one write.
    pub(crate) fn send(&mut self, reply: &impl Serialize, bytes: &[u8]) -> io::Result<()> {
        let mut message = serde_json::to_vec(reply)?;
        message.push(b'\n');
        message.extend_from_slice(bytes);
        self.output.write_all(&message)
    }
}
