//! [`Replicas`]: the addresses of one server, of which the one with the least to do is asked next.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long an address is left alone after its first failure; it doubles with each further one.
const FIRST_REST: Duration = Duration::from_secs(1);
/// Longest time that an address is left alone, after which it is tried again: it may have been started anew.
const LONGEST_REST: Duration = Duration::from_secs(60);

/// The addresses below which a server's endpoints are, and what is known of each.
#[derive(Debug)]
pub struct Replicas {
    addresses: Vec<String>,
    states: Mutex<Vec<Replica>>,
}

/// What is known of one address.
#[derive(Clone, Debug, Default)]
struct Replica {
    /// Requests that have not ended.
    in_flight: usize,
    /// Requests so far.
    asked: u64,
    /// Failures since the last answer.
    failures: u32,
    /// When it may be asked again after a failure.
    rests_until: Option<Instant>,
    /// Whether it is not asked at all.
    is_left_out: bool,
}

impl Replicas {
    /// These addresses; there is at least one.
    pub fn new(addresses: Vec<String>) -> Self {
        Self {
            states: Mutex::new(vec![Replica::default(); addresses.len()]),
            addresses,
        }
    }

    /// The address of a replica.
    pub fn address(&self, replica: usize) -> &str {
        self.addresses.get(replica).map_or("", String::as_str)
    }

    /// Begins a request: the replica that works and has the fewest in flight, of several the one that was asked the least. Where none
    /// works, the one that may be asked again first.
    pub fn begin(&self, now: Instant) -> usize {
        let mut states = self.states();
        let order = |replica: &Replica| {
            let rest = replica.rests_until.filter(|until| *until > now);
            (replica.is_left_out, rest, replica.in_flight, replica.asked)
        };
        let next = states.iter().enumerate().min_by_key(|(_, replica)| order(replica));
        let next = next.map_or(0, |(number, _)| number);
        if let Some(replica) = states.get_mut(next) {
            replica.in_flight += 1;
            replica.asked += 1;
        }
        next
    }

    /// Ends a request. A replica that failed rests.
    pub fn end(&self, replica: usize, has_failed: bool, now: Instant) {
        if let Some(replica) = self.states().get_mut(replica) {
            replica.in_flight = replica.in_flight.saturating_sub(1);
            if has_failed {
                let rest = FIRST_REST.saturating_mul(1 << replica.failures.min(10));
                replica.rests_until = Some(now + rest.min(LONGEST_REST));
                replica.failures += 1;
            } else {
                replica.rests_until = None;
                replica.failures = 0;
            }
        }
    }

    /// Whether a replica can be asked at once: after the failure of another one there is nothing to wait for.
    pub fn has_working(&self, now: Instant) -> bool {
        let works = |replica: &Replica| !replica.is_left_out && replica.rests_until.is_none_or(|until| until <= now);
        self.states().iter().any(works)
    }

    /// Asks a replica no more.
    pub fn leave_out(&self, replica: usize) {
        if let Some(replica) = self.states().get_mut(replica) {
            replica.is_left_out = true;
        }
    }

    fn states(&self) -> MutexGuard<'_, Vec<Replica>> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_spread_evenly_and_a_failed_replica_rests() {
        let replicas = Replicas::new(vec!["a".to_owned(), "b".to_owned(), "c".to_owned()]);
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        assert_eq!([0; 6].map(|_| replicas.begin(start)), [0, 1, 2, 0, 1, 2]);
        // The one that is done first gets the next.
        replicas.end(1, false, start);
        assert_eq!(replicas.begin(start), 1);
        for replica in [0, 0, 1, 2, 2] {
            replicas.end(replica, false, start);
        }
        // One fails, and is asked again after its rest, which grows.
        replicas.end(1, true, start);
        assert_eq!([0; 4].map(|_| replicas.begin(start)), [0, 2, 0, 2]);
        assert_eq!(replicas.begin(after(2)), 1);
        replicas.end(1, true, after(2));
        assert_eq!(replicas.begin(after(3)), 0);
        assert!(replicas.has_working(after(3)));
        // Where none works, the one whose rest ends first is asked.
        for replica in [0, 0, 0, 2, 2] {
            replicas.end(replica, true, after(3));
        }
        assert!(!replicas.has_working(after(3)));
        assert_eq!(replicas.begin(after(3)), 1);
        // One that is left out is not asked, be the others silent or not.
        replicas.leave_out(1);
        assert_ne!(replicas.begin(after(3)), 1);
        assert_ne!(replicas.begin(after(1000)), 1);
    }
}
