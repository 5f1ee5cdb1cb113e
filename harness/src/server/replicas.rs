//! [`Replicas`]: the addresses of one server, of which the one with the least to do is asked next.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::retry::LONGEST_ASKED_PAUSE;

/// Pause for an address after its first failure; the pause doubles with each further failure.
const FIRST_REST: Duration = Duration::from_secs(1);
/// Longest time that an address is left alone, after which it is tried again: it may have been started anew.
const LONGEST_REST: Duration = Duration::from_secs(60);

/// The addresses of one server, each with its counts of requests and failures.
#[derive(Debug)]
pub struct Replicas {
    addresses: Vec<String>,
    /// Requests that each address may have in flight; 0 for any number.
    most_in_flight: AtomicUsize,
    states: Mutex<Vec<Replica>>,
}

/// Requests and failures of one address.
#[derive(Clone, Debug, Default)]
struct Replica {
    /// Requests that have not ended.
    in_flight: usize,
    /// Requests so far.
    asked: u64,
    /// Failures since the last answer.
    failures: u32,
    /// Time from which the address may be asked again after a failure.
    rests_until: Option<Instant>,
    /// Whether the address is not asked at all.
    is_left_out: bool,
}

impl Replicas {
    /// Replicas at `addresses`, of which there is at least one.
    pub fn new(addresses: Vec<String>) -> Self {
        Self {
            states: Mutex::new(vec![Replica::default(); addresses.len()]),
            addresses,
            most_in_flight: AtomicUsize::new(0),
        }
    }

    /// Sets the largest number of requests that each address may have in flight. Returns the sum over all addresses that are asked.
    pub fn allow(&self, each: usize) -> usize {
        self.most_in_flight.store(each, Ordering::Relaxed);
        let asked = self.states().iter().filter(|replica| !replica.is_left_out).count();
        each.saturating_mul(asked.max(1))
    }

    /// The address of a replica.
    pub fn address(&self, replica: usize) -> &str {
        self.addresses.get(replica).map_or("", String::as_str)
    }

    /// Begins a request: at the working replica with the fewest requests in flight, of several such at the one that was asked the least. Where no
    /// replica works, at the one that may be asked again first. Returns `None` where all working ones have as many requests in flight as they may.
    ///
    /// Replicas in `failed` are passed over where there is another one.
    pub fn begin(&self, now: Instant, failed: &[usize]) -> Option<usize> {
        let most = self.most_in_flight.load(Ordering::Relaxed);
        let mut states = self.states();
        let order = |(number, replica): &(usize, &Replica)| {
            let rest = replica.rests_until.filter(|until| *until > now);
            let has_failed = failed.contains(number);
            (replica.is_left_out, has_failed, rest, replica.in_flight, replica.asked)
        };
        let next = states.iter().enumerate().min_by_key(order);
        let next = next.map(|(number, _)| number)?;
        let replica = states.get_mut(next)?;
        if most > 0 && replica.in_flight >= most {
            return None;
        }
        replica.in_flight += 1;
        replica.asked += 1;
        Some(next)
    }

    /// Ends a request that was answered.
    pub fn end(&self, replica: usize) {
        if let Some(replica) = self.states().get_mut(replica) {
            replica.in_flight = replica.in_flight.saturating_sub(1);
            replica.rests_until = None;
            replica.failures = 0;
        }
    }

    /// Ends a request that failed. The replica rests, at least for as long as it has asked for; what fails while it rests already is the
    /// same failure.
    pub fn fail(&self, replica: usize, asked: Option<Duration>, now: Instant) {
        if let Some(replica) = self.states().get_mut(replica) {
            replica.in_flight = replica.in_flight.saturating_sub(1);
            if replica.rests_until.is_some_and(|until| until > now) {
                return;
            }
            let rest = FIRST_REST
                .saturating_mul(1 << replica.failures.min(10))
                .min(LONGEST_REST);
            replica.rests_until = Some(now + rest.max(asked.unwrap_or_default().min(LONGEST_ASKED_PAUSE)));
            replica.failures += 1;
        }
    }

    /// Whether a replica can be asked at once: after the failure of another one there is nothing to wait for.
    pub fn has_working(&self, now: Instant) -> bool {
        let works = |replica: &Replica| !replica.is_left_out && replica.rests_until.is_none_or(|until| until <= now);
        self.states().iter().any(works)
    }

    /// Asks a replica no more. Returns false where it is the last one.
    pub fn leave_out(&self, replica: usize) -> bool {
        let mut states = self.states();
        let others = states
            .iter()
            .enumerate()
            .any(|(number, one)| number != replica && !one.is_left_out);
        if let Some(replica) = states.get_mut(replica).filter(|_| others) {
            replica.is_left_out = true;
        }
        others
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
        let begin = |now| replicas.begin(now, &[]).unwrap();
        assert_eq!([0; 6].map(|_| begin(start)), [0, 1, 2, 0, 1, 2]);
        assert_eq!(replicas.begin(start, &[0, 1]), Some(2));
        replicas.end(2);
        // The one that is done first gets the next.
        replicas.end(1);
        assert_eq!(begin(start), 1);
        for replica in [0, 0, 1, 2, 2] {
            replicas.end(replica);
        }
        // One fails, and is asked again after its rest, which grows; what else was in flight there counts once.
        begin(start);
        replicas.fail(1, None, start);
        replicas.fail(1, None, start);
        assert_eq!([0; 3].map(|_| begin(start)), [2, 0, 2]);
        assert_eq!(begin(after(2)), 1);
        replicas.fail(1, None, after(2));
        assert_ne!(begin(after(3)), 1);
        assert!(replicas.has_working(after(3)));
        assert_eq!(begin(after(5)), 1);
        // It rests for as long as it asks.
        replicas.fail(1, Some(Duration::from_secs(100)), after(5));
        assert_ne!(begin(after(99)), 1);
        // Where none works, the one whose rest ends first is asked.
        replicas.fail(0, None, after(99));
        replicas.fail(2, Some(Duration::from_secs(50)), after(99));
        assert!(!replicas.has_working(after(99)));
        assert_eq!(begin(after(99)), 0);
        // One that is left out is not asked, be the others silent or not; the last one stays.
        assert!(replicas.leave_out(1) && replicas.leave_out(0));
        assert_eq!([after(99), after(1000)].map(begin), [2, 2]);
        assert!(!replicas.leave_out(2));
    }

    #[test]
    fn an_address_never_has_more_in_flight_than_it_may() {
        let replicas = Replicas::new(vec!["a".to_owned(), "b".to_owned()]);
        let now = Instant::now();
        assert_eq!(replicas.allow(2), 4);
        assert_eq!(
            [0; 5].map(|_| replicas.begin(now, &[])),
            [Some(0), Some(1), Some(0), Some(1), None]
        );
        // The questions of one that is lost wait for the other.
        replicas.fail(0, None, now);
        assert_eq!(replicas.begin(now, &[]), None);
        replicas.end(1);
        assert_eq!(replicas.begin(now, &[]), Some(1));
        replicas.leave_out(0);
        assert_eq!(replicas.allow(2), 2);
    }
}
