//! A table from a Parquet file that this crate wrote.

use crate::MARK;
use crate::rows;
use crate::table::{Cell, Kind, Table};
use bytes::Bytes;
use parquet::column::reader::ColumnReader;
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};

/// The most rows and the most bytes without compression of a file that is read.
const MOST_ROWS: i64 = 20_000_000;
const MOST_BYTES: i64 = 4 << 30;

/// Returns the table `name` in `file`. A column that the file lacks has no values, and numbers of other sizes are
/// read: an earlier version wrote them.
///
/// # Errors
/// The file is damaged or too large, was not written by this crate, or has a column that this version does not
/// know.
pub fn read_parquet(name: &str, file: Vec<u8>) -> Result<Table, ParquetError> {
    // The library asserts some of what a damaged file violates.
    let read = std::panic::catch_unwind(|| decode(name, file));
    read.unwrap_or_else(|_| Err(ParquetError::General("it is damaged".into())))
}

fn decode(name: &str, file: Vec<u8>) -> Result<Table, ParquetError> {
    let general = |text: String| ParquetError::General(text);
    let mut table =
        rows::empty(name).ok_or_else(|| general(format!("there is no table {name}")))?;
    let length = file.len();
    let reader = SerializedFileReader::new(Bytes::from(file))?;
    let of_file = reader.metadata().file_metadata();
    if of_file.created_by() != Some(MARK) {
        return Err(general("it was not written by ssdgauge".into()));
    }
    let groups = reader.metadata().row_groups();
    let sum = |of: fn(&RowGroupMetaData) -> i64| groups.iter().map(of).fold(0, i64::saturating_add);
    let (rows, bytes) = (sum(RowGroupMetaData::num_rows), sum(RowGroupMetaData::total_byte_size));
    if rows > MOST_ROWS || bytes > MOST_BYTES {
        return Err(general(format!("{rows} rows of {bytes} bytes are too many")));
    }
    for column in groups.iter().flat_map(RowGroupMetaData::columns) {
        check_place(column, length)?;
    }
    let columns = of_file.schema_descr().columns();
    let mut places = Vec::with_capacity(columns.len());
    for column in columns {
        let name = column.path().parts().first().map_or("", String::as_str);
        let place = table.columns.iter().position(|known| known.name == name);
        places.push(place.ok_or_else(|| general(format!("the column {name} is not known")))?);
    }
    for number in 0..reader.num_row_groups() {
        read_group(reader.get_row_group(number)?.as_ref(), &places, &mut table)?;
    }
    Ok(table)
}

/// Checks that the bytes of a column lie in a file of `length` bytes: the library takes it for granted.
fn check_place(column: &ColumnChunkMetaData, length: usize) -> Result<(), ParquetError> {
    let begin = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
    let ends = |begin: i64| begin.checked_add(column.compressed_size());
    let is_inside = begin >= 0
        && column.data_page_offset() >= 0
        && column.compressed_size() >= 0
        && ends(begin).is_some_and(|end| end as u128 <= length as u128);
    match is_inside {
        true => Ok(()),
        false => Err(ParquetError::General("a column lies outside of the file".into())),
    }
}

fn read_group(
    group: &dyn RowGroupReader,
    places: &[usize],
    table: &mut Table,
) -> Result<(), ParquetError> {
    let count = usize::try_from(group.metadata().num_rows())
        .map_err(|_| ParquetError::General("a negative number of rows".into()))?;
    let missing = table.columns.iter().map(|column| match column.kind {
        Kind::Integers => Cell::Integers(Vec::new()),
        Kind::Text | Kind::Boolean | Kind::Integer | Kind::Small | Kind::Real | Kind::Time => {
            Cell::Null
        }
    });
    let missing: Vec<Cell> = missing.collect();
    let first = table.rows.len();
    table.rows.extend(std::iter::repeat_n(missing, count));
    for (number, place) in places.iter().enumerate() {
        let cells = cells(group.get_column_reader(number)?, table.columns[*place].kind, count)?;
        for (row, cell) in table.rows[first..].iter_mut().zip(cells) {
            row[*place] = cell;
        }
    }
    Ok(())
}

/// Returns the `count` cells of a column.
fn cells(column: ColumnReader, kind: Kind, count: usize) -> Result<Vec<Cell>, ParquetError> {
    let text = |bytes: &ByteArray| {
        let text = std::str::from_utf8(bytes.data());
        text.map(Cell::from).map_err(|_| ParquetError::General("a text is not UTF-8".into()))
    };
    match (column, kind) {
        (ColumnReader::Int64ColumnReader(mut column), Kind::Integers) => {
            let (mut present, mut continues, mut values) = (Vec::new(), Vec::new(), Vec::new());
            column.read_records(count, Some(&mut present), Some(&mut continues), &mut values)?;
            lists(&present, &continues, &values, count)
        }
        (ColumnReader::Int64ColumnReader(column), Kind::Integer | Kind::Small | Kind::Time) => {
            singles(column, count, |value| Ok(Cell::Integer(*value)))
        }
        (ColumnReader::Int32ColumnReader(column), Kind::Small) => {
            singles(column, count, |value| Ok(Cell::from(*value as u32)))
        }
        (ColumnReader::BoolColumnReader(column), Kind::Boolean) => {
            singles(column, count, |value| Ok(Cell::Boolean(*value)))
        }
        // The words of version 1.
        (ColumnReader::ByteArrayColumnReader(column), Kind::Boolean) => {
            singles(column, count, |bytes| match bytes.data() {
                b"yes" => Ok(Cell::Boolean(true)),
                b"no" => Ok(Cell::Boolean(false)),
                _ => Err(ParquetError::General("a truth value is not yes or no".into())),
            })
        }
        (ColumnReader::DoubleColumnReader(column), Kind::Real) => {
            singles(column, count, |value| Ok(Cell::Real(*value)))
        }
        (ColumnReader::ByteArrayColumnReader(column), Kind::Text) => singles(column, count, text),
        (_, _) => Err(ParquetError::General("a column is of another kind".into())),
    }
}

fn singles<T: DataType>(
    mut column: parquet::column::reader::ColumnReaderImpl<T>,
    count: usize,
    cell: impl Fn(&T::T) -> Result<Cell, ParquetError>,
) -> Result<Vec<Cell>, ParquetError> {
    let (mut present, mut values) = (Vec::new(), Vec::new());
    let (rows, _, _) = column.read_records(count, Some(&mut present), None, &mut values)?;
    check_count(rows, count)?;
    if present.is_empty() {
        // A required column has no definition levels.
        check_count(values.len(), count)?;
        return values.iter().map(cell).collect();
    }
    let mut values = values.iter();
    let of_row = |present: &i16| match present {
        0 => Ok(Cell::Null),
        _ => values.next().map_or_else(|| check_count(0, 1).map(|()| Cell::Null), &cell),
    };
    present.iter().map(of_row).collect()
}

/// Returns the lists: a place with repetition level 0 begins one, and has no value where it is not present.
fn lists(
    present: &[i16],
    continues: &[i16],
    values: &[i64],
    count: usize,
) -> Result<Vec<Cell>, ParquetError> {
    let mut lists: Vec<Vec<i64>> = Vec::with_capacity(count);
    let mut values = values.iter();
    for (present, continues) in present.iter().zip(continues) {
        if *continues == 0 {
            lists.push(Vec::new());
        }
        if let (true, Some(list)) = (*present > 0, lists.last_mut()) {
            list.extend(values.next());
        }
    }
    check_count(lists.len(), count)?;
    Ok(lists.into_iter().map(Cell::Integers).collect())
}

fn check_count(rows: usize, expected: usize) -> Result<(), ParquetError> {
    match rows == expected {
        true => Ok(()),
        false => Err(ParquetError::General(format!("{rows} rows in place of {expected}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parquet_file::parquet;
    use crate::table::Column;

    /// Returns a table of steps with cells of every kind, and without.
    fn steps() -> Table {
        let mut table = rows::empty("step").unwrap();
        for number in 0..40i64 {
            let cell = |column: &Column| match (column.kind, number % 3) {
                (Kind::Integers, _) => Cell::Integers((0..number % 5).collect()),
                (_, 0) if !column.is_required => Cell::Null,
                (Kind::Text, _) => Cell::Text(format!("ü{number}")),
                (Kind::Boolean, _) => Cell::Boolean(number % 2 == 0),
                (Kind::Small, _) => Cell::Integer(number),
                (Kind::Integer | Kind::Time, _) => Cell::Integer(number - 7),
                (Kind::Real, _) => Cell::Real(0.1 * number as f64),
            };
            let row = table.columns.iter().map(cell).collect();
            table.push(row);
        }
        table
    }

    #[test]
    fn a_table_is_read_as_it_was_written() {
        let table = steps();
        let read = read_parquet("step", parquet(&table).unwrap()).unwrap();
        assert_eq!((read.name, &read.columns, &read.rows), ("step", &table.columns, &table.rows));
        let empty = rows::empty("finding").unwrap();
        assert!(read_parquet("finding", parquet(&empty).unwrap()).unwrap().rows.is_empty());
    }

    #[test]
    fn a_column_that_is_missing_has_no_values_and_an_unknown_one_is_an_error() {
        let mut earlier = steps();
        earlier.columns.pop();
        earlier.rows.iter_mut().for_each(|row| drop(row.pop()));
        let read = read_parquet("step", parquet(&earlier).unwrap()).unwrap();
        assert!(read.rows.iter().all(|row| row.last() == Some(&Cell::Integers(Vec::new()))));
        let other = parquet(&steps()).unwrap();
        let error = read_parquet("run", other).unwrap_err().to_string();
        assert!(error.contains("is not known"), "{error}");
    }

    #[test]
    fn a_file_of_version_1_is_read_and_written_as_one_of_this_version() {
        let mut earlier = rows::empty("run").unwrap();
        earlier.columns.retain(|column| column.name != "invalid");
        for column in &mut earlier.columns {
            *column = match (column.name, column.kind) {
                ("complete", _) => Column::optional("complete", Kind::Text),
                (name, Kind::Small) => Column::optional(name, Kind::Integer),
                (name, kind) => Column::optional(name, kind),
            };
        }
        for complete in ["yes", "no"] {
            let cell = |column: &Column| match (column.name, column.kind) {
                ("complete", _) => Cell::from(complete),
                (_, Kind::Integer | Kind::Small | Kind::Time) => Cell::Integer(5),
                _ => Cell::from("text"),
            };
            let row = earlier.columns.iter().map(cell).collect();
            earlier.push(row);
        }
        let read = read_parquet("run", parquet(&earlier).unwrap()).unwrap();
        let place = |name: &str| read.columns.iter().position(|one| one.name == name).unwrap();
        let column = |name: &str| read.rows.iter().map(|row| &row[place(name)]).collect::<Vec<_>>();
        assert_eq!(column("complete"), [&Cell::Boolean(true), &Cell::Boolean(false)]);
        assert_eq!(column("invalid"), [&Cell::Null, &Cell::Null], "it is not known");
        assert_eq!(column("suite_revision"), [&Cell::Integer(5), &Cell::Integer(5)]);
        let again = read_parquet("run", parquet(&read).unwrap()).unwrap();
        assert_eq!(again.rows, read.rows);
    }

    #[test]
    fn a_damaged_file_is_an_error() {
        let bytes = parquet(&steps()).unwrap();
        for length in (0..bytes.len()).step_by(97) {
            assert!(read_parquet("step", bytes[..length].to_vec()).is_err(), "{length} bytes");
        }
        let mut changed = 0;
        for place in (0..bytes.len()).step_by(3) {
            let mut damaged = bytes.clone();
            damaged[place] ^= 0x55;
            // Some bytes carry no meaning; none may end the program.
            changed += usize::from(read_parquet("step", damaged).is_err());
        }
        assert!(changed > 10, "{changed} of the changes were noticed");
    }
}
