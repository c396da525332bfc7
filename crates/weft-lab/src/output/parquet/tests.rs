use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;

use super::{Column, Values, file};

#[test]
fn a_table_is_read_back_with_its_gaps() {
    let columns = [
        Column {
            name: "x".into(),
            values: Values::Numbers(vec![Some(1.5), None, Some(-0.0)]),
        },
        Column {
            name: "s".into(),
            values: Values::Texts(vec!["a", "", "bc ü"]),
        },
    ];
    let bytes = file(&columns);
    assert_eq!(bytes, file(&columns), "the same table, the same bytes");
    let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
    let about = reader.metadata().file_metadata();
    assert!(about.created_by().unwrap().starts_with("weft "));
    let rows: Vec<_> = reader.get_row_iter(None).unwrap().flatten().collect();
    let numbers: Vec<Option<f64>> = rows.iter().map(|row| row.get_double(0).ok()).collect();
    let texts: Vec<&str> = rows
        .iter()
        .map(|row| row.get_string(1).unwrap().as_str())
        .collect();
    assert_eq!(numbers, [Some(1.5), None, Some(0.0)]);
    assert_eq!(texts, ["a", "", "bc ü"]);
}

#[test]
fn a_table_without_rows_is_a_file() {
    let columns = [Column {
        name: "x".into(),
        values: Values::Numbers(Vec::new()),
    }];
    let reader = SerializedFileReader::new(bytes::Bytes::from(file(&columns))).unwrap();
    assert_eq!(reader.metadata().file_metadata().num_rows(), 0);
}
