//! Tables as Parquet: a row group for each table, with columns of numbers and texts in
//! which any value may be missing.

use std::sync::Arc;

use parquet::basic::{ConvertedType, Repetition, Type as PhysicalType};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};

/// A column with its name.
pub struct Column<'a> {
    pub name: String,
    pub values: Values<'a>,
}

/// Values of a column.
pub enum Values<'a> {
    Numbers(Vec<Option<f64>>),
    Texts(Vec<&'a str>),
}

/// Returns the file. Columns must have equal lengths.
pub fn file(columns: &[Column<'_>]) -> Vec<u8> {
    write(columns).expect("memory takes what is written, and names and types fit the columns")
}

fn write(columns: &[Column<'_>]) -> Result<Vec<u8>> {
    let properties = WriterProperties::builder()
        .set_created_by(format!("weft {}", crate::VERSION))
        .build();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema(columns)?, properties.into())?;
    let mut rows = writer.next_row_group()?;
    for column in columns {
        column.write(&mut rows)?;
    }
    rows.close()?;
    writer.into_inner()
}

fn schema(columns: &[Column<'_>]) -> Result<TypePtr> {
    let fields: Result<Vec<TypePtr>> = columns.iter().map(Column::field).collect();
    let root = Type::group_type_builder("table").with_fields(fields?);
    Ok(Arc::new(root.build()?))
}

impl Column<'_> {
    fn field(&self) -> Result<TypePtr> {
        let (kind, meaning) = match self.values {
            Values::Numbers(_) => (PhysicalType::DOUBLE, ConvertedType::NONE),
            Values::Texts(_) => (PhysicalType::BYTE_ARRAY, ConvertedType::UTF8),
        };
        let field = Type::primitive_type_builder(&self.name, kind)
            .with_repetition(Repetition::OPTIONAL)
            .with_converted_type(meaning);
        Ok(Arc::new(field.build()?))
    }

    fn write(&self, rows: &mut SerializedRowGroupWriter<'_, Vec<u8>>) -> Result<()> {
        let Some(mut column) = rows.next_column()? else {
            return Ok(());
        };
        match &self.values {
            Values::Numbers(values) => {
                // A definition level of 1 marks a present value.
                let levels: Vec<i16> = values.iter().map(|v| v.is_some().into()).collect();
                let present: Vec<f64> = values.iter().flatten().copied().collect();
                let writer = column.typed::<DoubleType>();
                writer.write_batch(&present, Some(&levels), None)?;
            }
            Values::Texts(values) => {
                let texts: Vec<ByteArray> = values.iter().map(|&text| text.into()).collect();
                let writer = column.typed::<ByteArrayType>();
                writer.write_batch(&texts, Some(&vec![1; texts.len()]), None)?;
            }
        }
        column.close()
    }
}

#[cfg(test)]
mod tests;
