//! Elements of tensors on the CPU as slices.

use candle_core::{CpuStorage, Error, Result, Storage, Tensor, WithDType};

/// Hands the elements of a contiguous CPU tensor that starts its storage to `read`.
pub(crate) fn with_cpu_storage<T>(tensor: &Tensor, read: impl FnOnce(&CpuStorage) -> Result<T>) -> Result<T> {
    let (storage, layout) = tensor.storage_and_layout();
    match &*storage {
        Storage::Cpu(storage) if layout.contiguous_offsets().is_some_and(|(start, _)| start == 0) => read(storage),
        _ => Err(Error::Msg("expected a contiguous tensor on the CPU".to_owned())),
    }
}

/// Hands the elements of a contiguous CPU tensor to `read`.
pub(crate) fn with_cpu_slice<D: WithDType, T>(tensor: &Tensor, read: impl FnOnce(&[D]) -> T) -> Result<T> {
    with_cpu_storage(tensor, |storage| {
        Ok(read(&storage.as_slice::<D>()?[..tensor.elem_count()]))
    })
}
