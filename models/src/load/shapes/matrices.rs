//! [`MatrixShape`]: name and shape of a matrix of a checkpoint, and of the matrices of a gated feed-forward part.

/// A tensor's name and shape.
pub(crate) type NamedShape = (String, Vec<usize>);

/// A matrix of a checkpoint, which may have a bias.
#[derive(Clone)]
pub(crate) struct MatrixShape {
    /// The name without `.weight` or `.bias`.
    name: String,
    /// Number of rows.
    outputs: usize,
    /// Number of columns.
    pub(crate) inputs: usize,
    has_bias: bool,
}

impl MatrixShape {
    /// The matrix, `[outputs, inputs]`.
    pub(crate) fn weight(&self) -> NamedShape {
        (format!("{}.weight", self.name), vec![self.outputs, self.inputs])
    }

    /// The bias, `[outputs]`, where there is one.
    pub(crate) fn bias(&self) -> Option<NamedShape> {
        self.has_bias
            .then(|| (format!("{}.bias", self.name), vec![self.outputs]))
    }

    /// Number of weights.
    pub(crate) fn elements(&self) -> u64 {
        elements(&self.weight()) + self.bias().as_ref().map_or(0, elements)
    }
}

/// The matrices of one gated feed-forward part.
pub(crate) struct GatedShapes {
    /// Gate and up projection, or one matrix of both.
    pub(crate) gate_up: Vec<MatrixShape>,
    pub(crate) down: MatrixShape,
}

impl GatedShapes {
    /// Gate and up projection, then the projection down.
    pub(crate) fn matrices(&self) -> impl Iterator<Item = &MatrixShape> {
        self.gate_up.iter().chain([&self.down])
    }
}

/// The weights of a norm, `[len]`.
pub(crate) fn norm(name: &str, len: usize) -> NamedShape {
    (format!("{name}.weight"), vec![len])
}

/// A matrix of that name.
pub(crate) fn matrix_shape(name: impl Into<String>, outputs: usize, inputs: usize, has_bias: bool) -> MatrixShape {
    MatrixShape {
        name: name.into(),
        outputs,
        inputs,
        has_bias,
    }
}

/// Number of elements of a tensor.
pub(crate) fn elements((_, shape): &NamedShape) -> u64 {
    shape.iter().map(|size| *size as u64).product()
}
