//! [`EventDecoder`]: server-sent events (HTML standard, section 9.2.6) out of pieces of bytes.

/// Decoder of server-sent events: reads bytes as they arrive and returns the data of whole events. Lines may end in CR, LF or both, wherever the
/// pieces are cut; comments and fields other than `data` are skipped.
#[derive(Debug, Default)]
pub struct EventDecoder {
    line: Vec<u8>,
    data: Option<Vec<u8>>,
    after_cr: bool,
    started: bool,
}

impl EventDecoder {
    /// The data of the events that `bytes` complete.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut events = Vec::new();
        for &byte in bytes {
            let line_feed_of_crlf = self.after_cr && byte == b'\n';
            self.after_cr = byte == b'\r';
            match byte {
                b'\n' if line_feed_of_crlf => {}
                b'\n' | b'\r' => events.extend(self.end_line()),
                _ => self.line.push(byte),
            }
        }
        events
    }

    /// The data of an event that the end of the stream left without its empty line. The standard drops it; servers that
    /// send no empty line after their last event are common.
    pub fn finish(&mut self) -> Option<Vec<u8>> {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.data.take()
    }

    fn end_line(&mut self) -> Option<Vec<u8>> {
        let line = std::mem::take(&mut self.line);
        let mut line = line.as_slice();
        if !std::mem::replace(&mut self.started, true) {
            line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
        }
        if line.is_empty() {
            return self.data.take();
        }
        let (field, value) = match line.iter().position(|&byte| byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &[][..]),
        };
        if field == b"data" {
            let value = value.strip_prefix(b" ").unwrap_or(value);
            match &mut self.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => self.data = Some(value.to_vec()),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str =
        "\u{feff}: hello\r\ndata: {\"a\":1}\r\n\r\nevent: x\ndata:grün\ndata: €\n\n:\n\rdata\r\rid: 7\n\ndata: [DONE]";

    fn decode(pieces: &[&[u8]]) -> Vec<String> {
        let mut decoder = EventDecoder::default();
        let mut events: Vec<Vec<u8>> = pieces.iter().flat_map(|piece| decoder.feed(piece)).collect();
        events.extend(decoder.finish());
        assert_eq!(decoder.finish(), None);
        events
            .into_iter()
            .map(|event| String::from_utf8(event).unwrap())
            .collect()
    }

    #[test]
    fn events_are_the_same_wherever_the_bytes_are_cut() {
        let whole = decode(&[STREAM.as_bytes()]);
        assert_eq!(whole, ["{\"a\":1}", "grün\n€", "", "[DONE]"]);
        for at in 0..STREAM.len() {
            let (before, after) = STREAM.as_bytes().split_at(at);
            assert_eq!(decode(&[before, after]), whole, "cut at {at}");
        }
        let bytes: Vec<&[u8]> = STREAM.as_bytes().chunks(1).collect();
        assert_eq!(decode(&bytes), whole);
    }
}
