//! Tables as JSON lines: one object for each row.

use crate::MARK;
use crate::rows::SCHEMA_VERSION;
use crate::table::{Cell, Table};
use serde_json::{Map, Value, json};

/// Returns the first line, which names the program.
pub fn json_lines_head() -> String {
    format!(
        "{}\n",
        json!({ "program": MARK, "schema_version": SCHEMA_VERSION, "table": "program" })
    )
}

/// Returns one line for each row of `tables`, with the name of its table as `table`. A cell without a
/// value is left out.
pub fn json_lines(tables: &[Table]) -> String {
    let mut text = String::new();
    for table in tables {
        for row in &table.rows {
            let mut object = Map::new();
            // In each line: a line is read without the others, and files are joined.
            object.insert("schema_version".into(), SCHEMA_VERSION.into());
            object.insert("table".into(), table.name.into());
            for (column, cell) in table.columns.iter().zip(row) {
                let value = match cell {
                    Cell::Null => continue,
                    Cell::Text(text) => text.as_str().into(),
                    Cell::Boolean(is_true) => (*is_true).into(),
                    Cell::Integer(number) => (*number).into(),
                    Cell::Real(number) => (*number).into(),
                    Cell::Integers(numbers) => numbers.as_slice().into(),
                };
                object.insert(column.name.into(), value);
            }
            text += &Value::Object(object).to_string();
            text.push('\n');
        }
    }
    text
}
