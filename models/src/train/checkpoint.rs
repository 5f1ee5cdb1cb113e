//! Files of tensors, and directories that are there whole or not at all.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use candle_core::{DType, Device, Tensor};
use safetensors::tensor::{Dtype, TensorView};

use crate::error::ModelError;

/// The text of a safetensors file with `tensors`, of 32-bit floats. Errors call the model `name`.
pub(super) fn safetensors_of(
    name: &str,
    tensors: impl Iterator<Item = (String, Tensor)>,
) -> Result<Vec<u8>, ModelError> {
    let failed = |error| ModelError::compute(name, "reading weights", &error);
    let mut numbers: Vec<(String, Vec<usize>, Vec<u8>)> = Vec::new();
    for (name, tensor) in tensors {
        let flat = tensor.to_dtype(DType::F32).and_then(|tensor| tensor.flatten_all());
        let values = flat.and_then(|flat| flat.to_vec1::<f32>()).map_err(failed)?;
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        numbers.push((name, tensor.dims().to_vec(), bytes));
    }
    let written = |error: safetensors::SafeTensorError| ModelError::Compute {
        model: name.to_owned(),
        what: "writing weights",
        message: error.to_string(),
    };
    let views = numbers.iter().map(|(name, shape, bytes)| {
        let view = TensorView::new(Dtype::F32, shape.clone(), bytes);
        Ok((name.as_str(), view.map_err(written)?))
    });
    let views = views.collect::<Result<Vec<_>, ModelError>>()?;
    let format = HashMap::from([("format".to_owned(), "pt".to_owned())]);
    safetensors::serialize(views, Some(format)).map_err(written)
}

/// The tensors of the safetensors file at `path`, on `device`.
pub(super) fn read_safetensors(path: &Path, device: &Device) -> Result<HashMap<String, Tensor>, ModelError> {
    let bytes = fs::read(path).map_err(|source| ModelError::cannot_read(path, source))?;
    candle_core::safetensors::load_buffer(&bytes, device).map_err(|error| ModelError::DamagedWeights {
        file: path.display().to_string(),
        message: error.to_string(),
    })
}

/// Writes a directory that is there whole or not at all.
///
/// `write` fills a directory beside it, whose name has `.partial` at the end. When all files are on disk, a directory that has the name
/// already is removed, and the new one is renamed. A process that is killed between the two leaves only the `.partial` directory, which
/// the next call removes.
///
/// # Errors
///
/// [`ModelError::Write`], and the errors of `write`.
pub fn write_directory_whole(
    directory: &Path,
    write: impl FnOnce(&Path) -> Result<(), ModelError>,
) -> Result<(), ModelError> {
    let partial = partial(directory);
    remove(&partial)?;
    let failed = |source| ModelError::cannot_write(&partial, source);
    fs::create_dir_all(&partial).map_err(failed)?;
    write(&partial)?;
    for entry in fs::read_dir(&partial).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let synced = File::open(&path).and_then(|file| file.sync_all());
        synced.map_err(|source| ModelError::cannot_write(&path, source))?;
    }
    remove(directory)?;
    fs::rename(&partial, directory).map_err(|source| ModelError::cannot_write(directory, source))
}

fn partial(directory: &Path) -> PathBuf {
    let mut name = directory.as_os_str().to_owned();
    name.push(".partial");
    name.into()
}

fn remove(directory: &Path) -> Result<(), ModelError> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(ModelError::cannot_write(directory, error)),
        _ => Ok(()),
    }
}
