//! [`Patience`]: decides whether a server is asked further questions, and reports those left unanswered.

use super::answer::Answer;
use super::error::{ServerError, Unanswered};
use super::pool::Next;

/// The number of unanswered questions in a row after which a server is left alone: one may be bad luck, and each takes the
/// whole time limit and all its repetitions.
const UNANSWERED_IN_A_ROW: usize = 3;

/// Counts of the questions asked and unanswered so far, and the last error.
#[derive(Debug, Default)]
pub struct Patience {
    asked: usize,
    unanswered: usize,
    in_a_row: usize,
    last_error: Option<ServerError>,
}

impl Patience {
    /// Counts a result. A server that refuses whatever it is asked, or is silent several times in a row, is left alone.
    pub fn add(&mut self, result: &Result<Answer, Unanswered>) -> Next {
        self.asked += 1;
        let Err(Unanswered { error, .. }) = result else {
            self.in_a_row = 0;
            return Next::Go;
        };
        self.unanswered += 1;
        self.in_a_row += 1;
        self.last_error = Some(error.clone());
        match self.in_a_row >= UNANSWERED_IN_A_ROW || error.is_fatal() {
            true => Next::Stop,
            false => Next::Go,
        }
    }

    /// Returns the reasons for which not all of `planned` questions are answered, if any are left. `too_dear` has the limit on cost and the cost so
    /// far, where the limit was reached.
    pub fn reasons(&self, name: &str, planned: usize, too_dear: Option<(f64, f64)>) -> Vec<String> {
        let unanswered = self.last_error.as_ref().map(|error| {
            let count = self.unanswered;
            format!("server {name}: {count} unanswered, the last: {error}")
        });
        let left = planned.saturating_sub(self.asked);
        let not_asked = (left > 0).then(|| match too_dear {
            Some((limit, cost)) => {
                format!("server {name}: {left} not asked, --max-cost {limit} reached at {cost:.4}")
            }
            None => format!("server {name}: {left} not asked"),
        });
        unanswered.into_iter().chain(not_asked).collect()
    }
}
