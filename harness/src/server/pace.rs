//! [`Pace`]: a rate limiter that keeps to a provider's limits on requests and tokens per minute, so that the provider need not refuse.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

const MINUTE: Duration = Duration::from_secs(60);

/// The requests of the last minute and their tokens.
#[derive(Debug)]
pub struct Pace {
    requests_per_minute: Option<u32>,
    tokens_per_minute: Option<u64>,
    recent: VecDeque<Sent>,
    next_ticket: u64,
}

#[derive(Debug)]
struct Sent {
    at: Instant,
    tokens: u64,
    ticket: u64,
}

/// Decision of the rate limiter on a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The request may be sent; the ticket is for [`Pace::correct`].
    Now(u64),
    /// The request has to ask again after this time.
    After(Duration),
}

impl Pace {
    /// A pace of at most so many requests and tokens within any minute; `None` is without a limit.
    pub fn new(requests_per_minute: Option<u32>, tokens_per_minute: Option<u64>) -> Self {
        Self {
            requests_per_minute,
            tokens_per_minute,
            recent: VecDeque::new(),
            next_ticket: 0,
        }
    }

    /// Whether a request of about `tokens` tokens may be sent. One that is larger than the whole limit is sent when
    /// nothing else was within a minute.
    pub fn admit(&mut self, now: Instant, tokens: u64) -> Admission {
        if self.requests_per_minute.is_none() && self.tokens_per_minute.is_none() {
            return Admission::Now(0);
        }
        while self
            .recent
            .front()
            .is_some_and(|sent| now.saturating_duration_since(sent.at) >= MINUTE)
        {
            self.recent.pop_front();
        }
        let used: u64 = self.recent.iter().map(|sent| sent.tokens).sum();
        let requests_fit = self
            .requests_per_minute
            .is_none_or(|limit| self.recent.len() < limit as usize);
        let tokens_fit = self
            .tokens_per_minute
            .is_none_or(|limit| used.saturating_add(tokens) <= limit);
        match self.recent.front() {
            Some(oldest) if !(requests_fit && tokens_fit) => {
                Admission::After((oldest.at + MINUTE).saturating_duration_since(now))
            }
            _ => {
                self.next_ticket += 1;
                self.recent.push_back(Sent {
                    at: now,
                    tokens,
                    ticket: self.next_ticket,
                });
                Admission::Now(self.next_ticket)
            }
        }
    }

    /// Replaces the estimate of a request's tokens by their number.
    pub fn correct(&mut self, ticket: u64, tokens: u64) {
        if let Some(sent) = self.recent.iter_mut().find(|sent| sent.ticket == ticket) {
            sent.tokens = tokens;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_minute_has_more_requests_or_tokens_than_allowed() {
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let mut pace = Pace::new(Some(2), Some(100));
        assert_eq!(
            pace.admit(at(0), 300),
            Admission::Now(1),
            "larger than the limit, but alone"
        );
        assert_eq!(pace.admit(at(10), 1), Admission::After(Duration::from_secs(50)));
        pace.correct(1, 60);
        assert_eq!(pace.admit(at(10), 40), Admission::Now(2));
        assert_eq!(
            pace.admit(at(20), 0),
            Admission::After(Duration::from_secs(40)),
            "two requests"
        );
        assert_eq!(
            pace.admit(at(60), 61),
            Admission::After(Duration::from_secs(10)),
            "40 + 61 tokens"
        );
        assert_eq!(pace.admit(at(60), 60), Admission::Now(3));
        assert_eq!(Pace::new(None, None).admit(at(0), u64::MAX), Admission::Now(0));
    }
}
