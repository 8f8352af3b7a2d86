//! A table as a Parquet file compressed with gzip.

use crate::MARK;
use crate::table::{Cell, Kind, Table};
use parquet::basic::{Compression, GzipLevel};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
pub use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::sync::Arc;

/// Returns the bytes of a Parquet file with the rows of `table`. Every column but lists may lack
/// values.
///
/// # Errors
/// The encoder failed, which no table of this crate makes it do.
pub fn parquet(table: &Table) -> Result<Vec<u8>, ParquetError> {
    let schema = Arc::new(parse_message_type(&schema(table))?);
    let properties = WriterProperties::builder()
        .set_created_by(MARK.to_owned())
        .set_compression(Compression::GZIP(GzipLevel::default()))
        .build();
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties))?;
    let mut rows = file.next_row_group()?;
    let mut number = 0;
    while let Some(mut column) = rows.next_column()? {
        write(column.untyped(), table, number)?;
        column.close()?;
        number += 1;
    }
    rows.close()?;
    file.into_inner()
}

/// Returns the schema in the language of Parquet.
fn schema(table: &Table) -> String {
    let fields = table.columns.iter().map(|(name, kind)| match kind {
        Kind::Text => format!("optional binary {name} (UTF8);"),
        Kind::Integer => format!("optional int64 {name};"),
        Kind::Real => format!("optional double {name};"),
        Kind::Time => format!("optional int64 {name} (TIMESTAMP(MILLIS,true));"),
        Kind::Integers => format!(
            "required group {name} (LIST) {{ repeated group list {{ required int64 element; }} }}"
        ),
    });
    format!("message {} {{ {} }}", table.name, fields.collect::<Vec<_>>().join(" "))
}

/// Writes the column `number`: its values, and for each place whether there is one (definition level
/// 1) and whether it continues a list (repetition level 1).
fn write(writer: &mut ColumnWriter<'_>, table: &Table, number: usize) -> Result<(), ParquetError> {
    let cells = || table.rows.iter().map(|row| &row[number]);
    let present: Vec<i16> = cells().map(|cell| i16::from(*cell != Cell::Null)).collect();
    match (writer, table.columns[number].1) {
        (ColumnWriter::Int64ColumnWriter(writer), Kind::Integers) => {
            let (mut values, mut present, mut continues) = (Vec::new(), Vec::new(), Vec::new());
            for cell in cells() {
                let Cell::Integers(list) = cell else { continue };
                values.extend(list);
                // An empty list has one place without a value.
                let places = list.len().max(1);
                present.extend(std::iter::repeat_n(i16::from(!list.is_empty()), places));
                continues.extend((0..places).map(|place| i16::from(place > 0)));
            }
            writer.write_batch(&values, Some(&present), Some(&continues))?;
        }
        (ColumnWriter::Int64ColumnWriter(writer), _) => {
            let value = |cell: &Cell| if let Cell::Integer(n) = cell { Some(*n) } else { None };
            let values: Vec<i64> = cells().filter_map(value).collect();
            writer.write_batch(&values, Some(&present), None)?;
        }
        (ColumnWriter::DoubleColumnWriter(writer), _) => {
            let value = |cell: &Cell| if let Cell::Real(n) = cell { Some(*n) } else { None };
            let values: Vec<f64> = cells().filter_map(value).collect();
            writer.write_batch(&values, Some(&present), None)?;
        }
        (ColumnWriter::ByteArrayColumnWriter(writer), _) => {
            let value = |cell: &Cell| match cell {
                Cell::Text(text) => Some(ByteArray::from(text.as_str())),
                _ => None,
            };
            let values: Vec<ByteArray> = cells().filter_map(value).collect();
            writer.write_batch(&values, Some(&present), None)?;
        }
        _ => return Err(ParquetError::General("a column of another kind".into())),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::reader::RowIter;

    #[test]
    fn what_is_written_is_read() {
        let columns = [
            ("name", Kind::Text),
            ("count", Kind::Integer),
            ("share", Kind::Real),
            ("at", Kind::Time),
            ("list", Kind::Integers),
        ];
        let mut table = Table::new("example", &[&columns]);
        let lists = [vec![1, 2, 3], Vec::new(), vec![i64::MAX]];
        for (number, list) in (0..).zip(lists) {
            let odd = number % 2 == 1;
            let cell = |cell: Cell| if odd { Cell::Null } else { cell };
            table.push(vec![
                cell(Cell::from("ü,;")),
                cell(Cell::Integer(number)),
                cell(Cell::Real(0.5)),
                cell(Cell::Integer(1_795_414_817_538)),
                Cell::Integers(list),
            ]);
        }
        let bytes = bytes::Bytes::from(parquet(&table).unwrap());
        assert!(bytes.windows(MARK.len()).any(|window| window == MARK.as_bytes()));
        let reader = SerializedFileReader::new(bytes).unwrap();
        assert_eq!(reader.metadata().file_metadata().created_by(), Some(MARK));
        let rows: Vec<String> =
            RowIter::from_file_into(Box::new(reader)).map(|row| row.unwrap().to_string()).collect();
        assert_eq!(
            rows,
            [
                "{name: \"ü,;\", count: 0, share: 0.5, at: 2026-11-23 06:20:17.538 +00:00, list: [1, 2, 3]}",
                "{name: null, count: null, share: null, at: null, list: []}",
                "{name: \"ü,;\", count: 2, share: 0.5, at: 2026-11-23 06:20:17.538 +00:00, list: [9223372036854775807]}",
            ]
        );
    }

    #[test]
    fn a_table_without_rows_is_a_file_without_rows() {
        let table = Table::new("example", &[&[("list", Kind::Integers), ("name", Kind::Text)]]);
        let bytes = bytes::Bytes::from(parquet(&table).unwrap());
        let reader = SerializedFileReader::new(bytes).unwrap();
        assert_eq!(reader.metadata().file_metadata().num_rows(), 0);
    }
}
