//! Numbers in arguments, with their bounds.

use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

/// Largest number of threads of a forward pass: more than any machine has processors that we know of.
const MOST_THREADS: usize = 512;

/// Reads a whole number of at least 1: a run over nothing measures nothing.
///
/// # Errors
///
/// A sentence that names the error in the text.
pub fn positive<N: FromStr<Err: Display> + PartialOrd + From<u8>>(text: &str) -> Result<N, String> {
    match text.parse::<N>() {
        Ok(number) if number >= N::from(1) => Ok(number),
        Ok(_) => Err("must be 1 or more".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Reads a number of threads.
///
/// # Errors
///
/// A sentence that names the error in the text.
pub fn threads(text: &str) -> Result<usize, String> {
    match positive(text)? {
        threads @ ..=MOST_THREADS => Ok(threads),
        _ => Err(format!("must be {MOST_THREADS} or less")),
    }
}

/// Largest number of repetitions of a measurement: the spread of a thousand tells all that there is to know.
const MOST_REPETITIONS: usize = 1000;

/// Reads a number of repetitions of a measurement.
///
/// # Errors
///
/// A sentence that names the error in the text.
pub fn repetitions(text: &str) -> Result<usize, String> {
    match positive(text)? {
        repetitions @ ..=MOST_REPETITIONS => Ok(repetitions),
        _ => Err(format!("must be {MOST_REPETITIONS} or less")),
    }
}

/// Longest time limit, in seconds: a year, which no clock overflows by.
const LONGEST_TIME: f64 = 365.0 * 86_400.0;

/// Reads a number of seconds above 0.
///
/// # Errors
///
/// A sentence that names the error in the text.
pub fn seconds(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    match Duration::try_from_secs_f64(value) {
        Ok(Duration::ZERO) | Err(_) if value <= 1.0 || value.is_nan() => Err("must be above 0".to_owned()),
        Ok(_) if value <= LONGEST_TIME => Ok(value),
        _ => Err(format!("must be {LONGEST_TIME} or less")),
    }
}

/// Reads a finite number above 0.
///
/// # Errors
///
/// A sentence that names the error in the text.
pub fn above_zero(text: &str) -> Result<f64, String> {
    match not_negative(text)? {
        0.0 => Err("must be above 0".to_owned()),
        value => Ok(value),
    }
}

/// Reads a finite number of 0 or more.
///
/// # Errors
///
/// A sentence that names the error in the text.
pub fn not_negative(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    match value.is_finite() && value >= 0.0 {
        true => Ok(value),
        false => Err("must be 0 or more".to_owned()),
    }
}

/// Reads a probability above 0 and below 1.
///
/// # Errors
///
/// A sentence that names the error in the text.
pub fn confidence(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    match value > 0.0 && value < 1.0 {
        true => Ok(value),
        false => Err("must be between 0 and 1".to_owned()),
    }
}
