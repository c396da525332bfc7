//! Tables for consumers of Arrow.

use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    ArrayRef, Float64Array, RecordBatch, RecordBatchIterator, StringArray, UInt64Array,
};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::error::LabError;

/// Table that polars, pandas and pyarrow read without copying, through the Arrow
/// PyCapsule interface: `polars.DataFrame(table)`, `pandas.DataFrame.from_arrow(table)`,
/// `pyarrow.table(table)`.
#[pyclass(frozen, module = "weft_lab")]
pub struct Table(RecordBatch);

/// Column: its name and its values.
pub type Column<'a> = (&'a str, ArrayRef);

impl Table {
    /// Creates a table of columns of equal length.
    pub fn new(columns: Vec<Column<'_>>) -> PyResult<Table> {
        let batch = RecordBatch::try_from_iter_with_nullable(
            columns
                .into_iter()
                .map(|(name, values)| (name, values, true)),
        );
        Ok(Table(
            batch.map_err(|error| LabError::new_err(error.to_string()))?,
        ))
    }
}

/// Creates a column of texts.
pub fn texts<'a, T: AsRef<str>>(name: &'a str, values: impl Iterator<Item = T>) -> Column<'a> {
    (name, Arc::new(StringArray::from_iter_values(values)))
}

/// Creates a column of numbers, with nulls.
pub fn numbers(name: &str, values: impl Iterator<Item = Option<f64>>) -> Column<'_> {
    (name, Arc::new(values.collect::<Float64Array>()))
}

/// Creates a column of whole numbers.
pub fn counts(name: &str, values: impl Iterator<Item = u64>) -> Column<'_> {
    (name, Arc::new(UInt64Array::from_iter_values(values)))
}

#[pymethods]
impl Table {
    /// Exports the table as an Arrow stream. The schema is fixed; a request for another
    /// one is ignored, as the interface permits.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let reader = RecordBatchIterator::new([Ok(self.0.clone())], self.0.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// Names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        let schema = self.0.schema();
        schema
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect()
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    fn __repr__(&self) -> String {
        format!(
            "<weft_lab.Table: {} rows of {}>",
            self.0.num_rows(),
            self.columns().join(", ")
        )
    }
}
