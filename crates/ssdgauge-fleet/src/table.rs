//! A table: named columns of one kind each, and rows.

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// The kind of its cells.
    pub kind: Kind,
    /// Whether every row has a value.
    pub is_required: bool,
}

impl Column {
    /// Returns a column with a value in every row.
    pub const fn required(name: &'static str, kind: Kind) -> Column {
        Column { name, kind, is_required: true }
    }

    /// Returns a column in which rows may lack a value.
    pub const fn optional(name: &'static str, kind: Kind) -> Column {
        Column { name, kind, is_required: false }
    }
}

/// The kind of the cells of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// UTF-8 text.
    Text,
    /// A truth value.
    Boolean,
    /// A whole number of 64 bits.
    Integer,
    /// A whole number of 32 bits from 0 on: a revision, or the number of a second.
    Small,
    /// A number in double precision.
    Real,
    /// Milliseconds since 1970, UTC.
    Time,
    /// A list of whole numbers.
    Integers,
}

/// The content of a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// No value; a list without values is empty instead.
    Null,
    /// Of a column of texts.
    Text(String),
    /// Of a column of truth values.
    Boolean(bool),
    /// Of a column of whole numbers, or of times.
    Integer(i64),
    /// Of a column of numbers.
    Real(f64),
    /// Of a column of lists.
    Integers(Vec<i64>),
}

impl Cell {
    fn fits(&self, Column { kind, is_required, .. }: Column) -> bool {
        match self {
            Cell::Null => !is_required,
            Cell::Text(_) => kind == Kind::Text,
            Cell::Boolean(_) => kind == Kind::Boolean,
            Cell::Integer(_) => matches!(kind, Kind::Integer | Kind::Small | Kind::Time),
            Cell::Real(_) => kind == Kind::Real,
            Cell::Integers(_) => kind == Kind::Integers,
        }
    }
}

impl From<Option<&str>> for Cell {
    fn from(text: Option<&str>) -> Cell {
        text.map_or(Cell::Null, |text| Cell::Text(text.to_owned()))
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }
}

impl From<Option<f64>> for Cell {
    fn from(number: Option<f64>) -> Cell {
        number.filter(|number| number.is_finite()).map_or(Cell::Null, Cell::Real)
    }
}

impl From<bool> for Cell {
    fn from(is_true: bool) -> Cell {
        Cell::Boolean(is_true)
    }
}

impl From<u32> for Cell {
    fn from(count: u32) -> Cell {
        Cell::Integer(i64::from(count))
    }
}

impl From<u64> for Cell {
    /// Counts beyond 2^63 do not exist in practice; they become the largest number.
    fn from(count: u64) -> Cell {
        Cell::Integer(i64::try_from(count).unwrap_or(i64::MAX))
    }
}

/// A table of one run.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its name: the folder of its files.
    pub name: &'static str,
    /// The columns, in their order.
    pub columns: Vec<Column>,
    /// The rows; each has a cell for every column.
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(crate) fn new(name: &'static str, columns: &[&[Column]]) -> Table {
        Table { name, columns: columns.concat(), rows: Vec::new() }
    }

    pub(crate) fn push(&mut self, row: Vec<Cell>) {
        debug_assert_eq!(row.len(), self.columns.len(), "table {}", self.name);
        debug_assert!(
            row.iter().zip(&self.columns).all(|(cell, column)| cell.fits(*column)),
            "table {}: {row:?}",
            self.name
        );
        self.rows.push(row);
    }
}
