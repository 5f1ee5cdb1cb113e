//! [`Choices`]: a source of decisions for generators, read from the bytes of a fuzz input.

use arbitrary::Unstructured;

/// A source of decisions. When its bytes are used up, every decision is the first one offered, so generators offer the
/// simplest first and come to an end.
#[derive(Debug)]
pub struct Choices<'b>(Unstructured<'b>);

impl<'b> Choices<'b> {
    /// Decisions from `bytes`.
    pub fn new(bytes: &'b [u8]) -> Self {
        Self(Unstructured::new(bytes))
    }

    /// A number below `limit`, which is not zero.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0.int_in_range(0..=limit - 1).unwrap_or(0)
    }

    /// Draws one of `options`, of which there is one at least.
    pub fn pick<'o, T: ?Sized>(&mut self, options: &[&'o T]) -> &'o T {
        options[self.below(options.len())]
    }

    /// True about so many times out of a hundred.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) >= 100 - percent
    }

    /// A position of `items`, or `None` of an empty list.
    pub fn position<T>(&mut self, items: &[T]) -> Option<usize> {
        (!items.is_empty()).then(|| self.below(items.len()))
    }

    /// Puts `items` in another order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, at - self.below(at + 1));
        }
    }

    /// Whether all bytes are used up.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The bytes that are left.
    pub fn rest(self) -> &'b [u8] {
        self.0.take_rest()
    }
}
