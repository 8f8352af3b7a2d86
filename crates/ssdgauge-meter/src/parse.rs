//! The parser of meter output: a plain number, or a JSON document with a JSON pointer.

use serde_json::Value;

/// The JSON pointer to the watts of a program without the option `pointer=`.
const DEFAULT_POINTER: &str = "/power_w";

/// Returns the number at `pointer` (RFC 6901) of `document`. A string that contains a number is
/// accepted, because some smart plugs quote their numbers.
///
/// # Errors
/// There is no finite number at `pointer`; the error lists the pointers that lead to numbers.
pub(crate) fn number_at(document: &Value, pointer: &str) -> Result<f64, String> {
    let value = document.pointer(pointer);
    let number = value.and_then(|value| match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    });
    let number = number.filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| {
        let mut known = Vec::new();
        pointers(document, String::new(), &mut known);
        match known.is_empty() {
            true => format!("no number at '{pointer}', nor anywhere else"),
            false => format!("no number at '{pointer}'; numbers are at: {}", known.join(", ")),
        }
    })
}

/// The maximum number of pointers in an error.
const MAX_POINTERS: usize = 12;

fn pointers(value: &Value, path: String, known: &mut Vec<String>) {
    if known.len() >= MAX_POINTERS {
        return;
    }
    match value {
        Value::Number(_) => known.push(path),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate().take(MAX_POINTERS) {
                pointers(item, format!("{path}/{index}"), known);
            }
        }
        Value::Object(fields) => {
            for (key, item) in fields {
                let key = key.replace('~', "~0").replace('/', "~1");
                pointers(item, format!("{path}/{key}"), known);
            }
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// One line of the output of a program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OutputLine {
    /// The value, in the unit of the program.
    pub(crate) value: f64,
    /// The time stamp of the program in seconds (`time_s`), where the line has one.
    pub(crate) stamp: Option<f64>,
}

/// Parses a line: a plain number, or a JSON document with a number at `pointer`.
///
/// # Errors
/// The line is neither, or has no number at `pointer`.
pub(crate) fn parse_line(text: &str, pointer: Option<&str>) -> Result<OutputLine, String> {
    let text = text.trim();
    if pointer.is_none()
        && let Ok(value) = text.parse::<f64>()
        && value.is_finite()
    {
        return Ok(OutputLine { value, stamp: None });
    }
    let document: Value = serde_json::from_str(text)
        .map_err(|_| format!("'{}' is neither a number nor JSON", excerpt(text)))?;
    let value = number_at(&document, pointer.unwrap_or(DEFAULT_POINTER))?;
    let stamp = document.get("time_s").and_then(Value::as_f64);
    Ok(OutputLine { value, stamp })
}

/// Returns `pointer` where it is a JSON pointer: empty, or with a leading slash (RFC 6901).
///
/// # Errors
/// It is none; the error shows the likely correction.
pub(crate) fn checked_pointer(pointer: String) -> Result<String, String> {
    match pointer.is_empty() || pointer.starts_with('/') {
        true => Ok(pointer),
        false => Err(format!("'{pointer}' is not a JSON pointer; write /{pointer}")),
    }
}

/// Returns the first 60 characters of the output of a meter, without control characters, which
/// could change the state of a terminal.
pub(crate) fn excerpt(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_line_is_a_number_or_a_document() {
        let value = |text, pointer| parse_line(text, pointer).map(|line| line.value);
        assert_eq!(value(" 2.5\r\n", None), Ok(2.5));
        assert_eq!(value("{\"power_w\": 3}", None), Ok(3.0));
        assert_eq!(value("{\"a\": [{\"w\": \"4.5\"}]}", Some("/a/0/w")), Ok(4.5));
        let stamped = parse_line("{\"power_w\": 3, \"time_s\": 1.25}", None).unwrap();
        assert_eq!(stamped.stamp, Some(1.25));
        for (text, word) in [("2,5 W", "neither"), ("nan", "neither"), ("", "neither")] {
            assert!(parse_line(text, None).unwrap_err().contains(word), "{text}");
        }
    }

    #[test]
    fn a_wrong_pointer_is_an_error_that_lists_the_pointers_to_numbers() {
        let status = json!({ "id": 0, "apower": 12.5, "aenergy": { "total": 3 }, "on": true });
        let error = number_at(&status, "/power").unwrap_err();
        assert!(error.contains("/apower") && error.contains("/aenergy/total"), "{error}");
        assert!(number_at(&json!({ "a/b": 1 }), "/x").unwrap_err().contains("/a~1b"));
        assert!(number_at(&json!("x"), "").unwrap_err().contains("nor anywhere else"));
    }
}
