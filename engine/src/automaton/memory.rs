//! Bytes of memory that tables and lists take.
//!
//! While a schema is compiled and documents are read, only memory that may grow without the schema is counted, and compared with
//! the limit all the time. [`Masker::memory_bytes`](crate::Masker::memory_bytes) counts the memory that grows with the schema
//! alone, too.

use hashbrown::HashMap;

/// Bytes that a shared value takes besides its own: the counts of references, and the rounding of allocators.
pub(super) const SHARED_BYTES: usize = 24;

/// Returns the bytes of memory that a table takes, without the memory that its entries refer to.
pub(super) fn table_bytes<K, V>(table: &HashMap<K, V>) -> usize {
    table.capacity() * 8 / 7 * (size_of::<(K, V)>() + 1)
}

/// Returns the bytes of memory that a list takes, without the memory that its entries refer to.
pub(super) fn list_bytes<T>(list: &Vec<T>) -> usize {
    list.capacity() * size_of::<T>()
}
