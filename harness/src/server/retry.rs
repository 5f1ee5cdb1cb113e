//! Retries of failed requests: which are repeated, and after which pause.

use std::time::Duration;

use rand::Rng;
use ureq::http::HeaderMap;

/// Longest pause that the client chooses itself.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// Longest pause that a server may ask for: rate limits count minutes, and who is to wait for longer comes back another day.
pub const LONGEST_ASKED_PAUSE: Duration = Duration::from_secs(15 * 60);
/// Shortest pause that is reported to the user.
pub const LONG_PAUSE: Duration = Duration::from_secs(10);

/// Pauses that double, with half of each left to chance so that clients that failed together do not come back together.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    next: Duration,
}

impl Backoff {
    /// Pauses from `first` on.
    pub fn new(first: Duration) -> Self {
        Self { next: first }
    }

    /// Returns the next pause: a random time from half of the current pause, which is at most [`LONGEST_PAUSE`], to all of it. Doubles the current
    /// pause.
    pub fn pause(&mut self, random: &mut impl Rng) -> Duration {
        let whole = self.next.min(LONGEST_PAUSE);
        self.next = whole * 2;
        whole.mul_f64(random.random_range(0.5..=1.0))
    }
}

/// Returns the pause that the server asks for: `retry-after-ms`, or `retry-after` in seconds or as a date (RFC 9110, section 10.2.3).
pub fn asked_pause(headers: &HeaderMap, now: jiff::Timestamp) -> Option<Duration> {
    let header = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let seconds = |text: &str| match text.parse::<f64>().ok()? {
        // More than a number of seconds holds is a wait all the same.
        large if large >= Duration::MAX.as_secs_f64() => Some(Duration::MAX),
        seconds => Duration::try_from_secs_f64(seconds).ok(),
    };
    if let Some(pause) = header("retry-after-ms").and_then(seconds) {
        return Some(pause / 1000);
    }
    let text = header("retry-after")?;
    seconds(text).or_else(|| {
        let date = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
        Duration::try_from(date.duration_since(now))
            .ok()
            .or(Some(Duration::ZERO))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn pauses_double_up_to_their_bound() {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(0);
        let mut backoff = Backoff::new(Duration::from_secs(1));
        for whole in [1, 2, 4, 8, 16, 32, 60, 60] {
            let pause = backoff.pause(&mut random).as_secs_f64();
            assert!(
                (whole as f64 / 2.0..=whole as f64).contains(&pause),
                "{pause} of {whole}"
            );
        }
    }

    #[test]
    fn servers_ask_in_seconds_milliseconds_or_by_a_date() {
        let now: jiff::Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
        let asked = |name: &'static str, value: &'static str| {
            let headers = HeaderMap::from_iter([(name.parse().unwrap(), value.parse().unwrap())]);
            asked_pause(&headers, now)
        };
        assert_eq!(asked("retry-after", "7"), Some(Duration::from_secs(7)));
        assert_eq!(asked("retry-after-ms", "250"), Some(Duration::from_millis(250)));
        assert_eq!(
            asked("retry-after", "Fri, 02 Jan 2026 03:04:15 GMT"),
            Some(Duration::from_secs(10))
        );
        assert_eq!(
            asked("retry-after", "Fri, 02 Jan 2026 03:00:00 GMT"),
            Some(Duration::ZERO)
        );
        assert_eq!(asked("retry-after", "99999999999999999999999"), Some(Duration::MAX));
        assert_eq!(asked("retry-after", "soon"), None);
        assert_eq!(asked("retry-after", "-3"), None);
    }
}
