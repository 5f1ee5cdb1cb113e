//! Medians and percentiles.

use serde::Serialize;

/// Median and tail of a set of figures.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// Half are at most this.
    pub median: f64,
    /// 95 in 100 are at most this.
    pub p95: f64,
    /// 99 in 100 are at most this.
    pub p99: f64,
}

impl Spread {
    /// The spread of `values`; `None` where there are none. NaN counts as larger than everything.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_unstable_by(f64::total_cmp);
        Some(Self {
            median: quantile(&values, 0.5)?,
            p95: quantile(&values, 0.95)?,
            p99: quantile(&values, 0.99)?,
        })
    }
}

/// The `q`-quantile of sorted values, interpolated linearly between neighbours (NumPy's default).
pub fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let position = q.clamp(0.0, 1.0) * last as f64;
    let below = sorted[position.floor() as usize];
    let above = sorted[position.ceil() as usize];
    Some(below + (above - below) * position.fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_numpys() {
        // numpy.quantile([1, 2, 4, 8, 16], [0, .5, .95, .99, 1]) = [1, 4, 14.4, 15.68, 16]
        let values = [1.0, 2.0, 4.0, 8.0, 16.0];
        for (q, expected) in [(0.0, 1.0), (0.5, 4.0), (0.95, 14.4), (0.99, 15.68), (1.0, 16.0)] {
            let found = quantile(&values, q).unwrap();
            assert!((found - expected).abs() < 1e-9, "{q}: {found}");
        }
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(Spread::of([3.0, 1.0]).unwrap().median, 2.0);
        assert_eq!(Spread::of([]), None);
    }
}
