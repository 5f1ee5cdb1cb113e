//! [`Bitmask`]: memory of the caller into which masks are written.

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// `torch.int32`, after the first tensor of this type.
static INT32: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// The type of torch's tensors, after the first one.
static TENSOR_TYPE: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// Rows of words in the memory of a numpy array, a memoryview, or a tensor on the CPU.
pub(crate) struct Bitmask<'py> {
    /// The Python object that keeps the memory in place.
    _owner: Owner<'py>,
    address: *mut u32,
    pub(crate) rows: usize,
    /// Words of one row.
    pub(crate) words: usize,
}

enum Owner<'py> {
    Buffer(#[expect(dead_code, reason = "held for the memory")] PyBuffer<i32>),
    Tensor(#[expect(dead_code, reason = "held for the memory")] Bound<'py, PyAny>),
}

impl<'py> Bitmask<'py> {
    /// The memory of `object`, which has one or two dimensions of 32-bit signed integers, is contiguous and writable.
    pub(crate) fn of(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        // Tensors first by their type: that they are no buffers is said by an exception, which takes longer than a mask.
        if TENSOR_TYPE
            .get(object.py())
            .is_some_and(|known| object.is_exact_instance(known.bind(object.py())))
        {
            return Self::of_tensor(object);
        }
        match PyBuffer::<i32>::get(object) {
            Ok(buffer) => Self::of_buffer(buffer),
            Err(_) if object.hasattr("data_ptr")? => Self::of_tensor(object),
            Err(error) => {
                let kind = object.get_type().name()?;
                let message = format!(
                    "the bitmask is a writable array of 32-bit signed integers or a tensor of torch.int32 on the CPU, not {kind}: {error}"
                );
                Err(PyTypeError::new_err(message))
            }
        }
    }

    fn of_buffer(buffer: PyBuffer<i32>) -> PyResult<Self> {
        if buffer.readonly() {
            return Err(PyValueError::new_err("the bitmask is read-only"));
        }
        let foreign: &[u8] = if cfg!(target_endian = "little") { b">!" } else { b"<" };
        if buffer
            .format()
            .to_bytes()
            .first()
            .is_some_and(|order| foreign.contains(order))
        {
            return Err(PyTypeError::new_err(
                "the words of the bitmask have the byte order of another machine",
            ));
        }
        let (rows, words) = shape(buffer.shape(), buffer.is_c_contiguous())?;
        Ok(Self {
            address: buffer.buf_ptr().cast(),
            _owner: Owner::Buffer(buffer),
            rows,
            words,
        })
    }

    fn of_tensor(tensor: &Bound<'py, PyAny>) -> PyResult<Self> {
        let py = tensor.py();
        if !tensor.getattr(intern!(py, "is_cpu"))?.extract::<bool>()? {
            let device = tensor.getattr(intern!(py, "device"))?;
            let message = format!("the bitmask lies on {device}: masks are written on the CPU, copy them from there");
            return Err(PyValueError::new_err(message));
        }
        let kind = tensor.getattr(intern!(py, "dtype"))?;
        if !INT32.get(py).is_some_and(|known| kind.is(known)) {
            let name = kind.str()?;
            if name != "torch.int32" {
                return Err(PyTypeError::new_err(format!(
                    "the bitmask is of {name}, not of torch.int32"
                )));
            }
            // A second thread that sets them sets the same.
            let _ = INT32.set(py, kind.unbind());
            let _ = TENSOR_TYPE.set(py, tensor.get_type().unbind());
        }
        let dimensions: Vec<usize> = tensor.getattr(intern!(py, "shape"))?.extract()?;
        let is_contiguous = tensor.call_method0(intern!(py, "is_contiguous"))?.extract()?;
        let (rows, words) = shape(&dimensions, is_contiguous)?;
        let address: usize = tensor.call_method0(intern!(py, "data_ptr"))?.extract()?;
        Ok(Self {
            _owner: Owner::Tensor(tensor.clone()),
            address: address as *mut u32,
            rows,
            words,
        })
    }

    /// All words, row after row.
    #[allow(unsafe_code)]
    pub(crate) fn all_words(&mut self) -> &mut [u32] {
        let len = self.rows * self.words;
        if len == 0 {
            return &mut [];
        }
        // SAFETY: the exporter of the buffer, or torch for a contiguous CPU tensor of that type and shape, gives the address of `len`
        // initialised, aligned, writable 32-bit integers. `_owner` keeps them where they are for as long as `self` lives. That no
        // other thread uses the array meanwhile is asked of callers by the documentation of each method.
        unsafe { std::slice::from_raw_parts_mut(self.address, len) }
    }

    /// The words of one row.
    #[allow(unsafe_code)]
    pub(crate) fn row(&mut self, row: i64) -> PyResult<&mut [u32]> {
        let (rows, words) = (self.rows, self.words);
        let place = usize::try_from(row).ok().filter(|place| *place < rows);
        let place = place.ok_or_else(|| no_such_row(row, rows))?;
        if words == 0 {
            return Ok(&mut []);
        }
        // SAFETY: as for all words, of which these are a part; of other rows no reference is made, so that threads may use them.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.address.add(place * words), words) })
    }
}

/// The error for a row that the bitmask does not have.
pub(crate) fn no_such_row(row: i64, rows: usize) -> PyErr {
    PyValueError::new_err(format!("the bitmask has {rows} rows, and none of number {row}"))
}

fn shape(dimensions: &[usize], is_contiguous: bool) -> PyResult<(usize, usize)> {
    if !is_contiguous {
        return Err(PyValueError::new_err("the bitmask is not contiguous"));
    }
    match *dimensions {
        [words] => Ok((1, words)),
        [rows, words] => Ok((rows, words)),
        _ => {
            let message = format!("the bitmask has {} dimensions, not one or two", dimensions.len());
            Err(PyValueError::new_err(message))
        }
    }
}
