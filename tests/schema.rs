//! A document against its published schema: the keywords of JSON Schema that these schemas use, and no others. The
//! test programs include this file by its path.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test may open files, and ends at the first error"
)]

use serde_json::{Map, Value};

/// Asserts that `document` follows the schema `name` of docs/generated/schema, and has no key that the schema lacks.
pub(crate) fn check(name: &str, document: &Value) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/generated/schema/");
    let text = std::fs::read_to_string(format!("{folder}{name}")).unwrap();
    let root: Value = serde_json::from_str(&text).unwrap();
    let mut faults = Vec::new();
    Schema { root: &root }.judge(&root, document, "", &mut faults);
    assert!(faults.is_empty(), "{name}: {}", faults.join("\n"));
}

struct Schema<'a> {
    root: &'a Value,
}

impl Schema<'_> {
    fn judge(&self, schema: &Value, value: &Value, at: &str, faults: &mut Vec<String>) {
        let Some(rules) = schema.as_object() else {
            return if schema != &Value::Bool(true) {
                faults.push(format!("{at}: not allowed"))
            };
        };
        let mut keys = None;
        for (word, rule) in rules {
            let holds = match word.as_str() {
                "$ref" => {
                    let place = rule.as_str().unwrap().strip_prefix('#').unwrap();
                    self.judge(self.root.pointer(place).unwrap(), value, at, faults);
                    true
                }
                "anyOf" => rule.as_array().unwrap().iter().any(|one| {
                    let mut own = Vec::new();
                    self.judge(one, value, at, &mut own);
                    own.is_empty()
                }),
                "type" => match rule {
                    Value::String(kind) => is_of(kind, value),
                    kinds => kinds
                        .as_array()
                        .unwrap()
                        .iter()
                        .any(|kind| is_of(kind.as_str().unwrap(), value)),
                },
                "required" => match value.as_object() {
                    Some(object) => rule
                        .as_array()
                        .unwrap()
                        .iter()
                        .all(|key| object.contains_key(key.as_str().unwrap())),
                    None => true,
                },
                "minimum" => value.as_f64().is_none_or(|number| number >= rule.as_f64().unwrap()),
                "maximum" => value.as_f64().is_none_or(|number| number <= rule.as_f64().unwrap()),
                "minItems" => {
                    value.as_array().is_none_or(|list| list.len() as u64 >= rule.as_u64().unwrap())
                }
                "maxItems" => {
                    value.as_array().is_none_or(|list| list.len() as u64 <= rule.as_u64().unwrap())
                }
                "items" => {
                    // After those that have places of their own.
                    let placed =
                        rules.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
                    for (place, one) in
                        value.as_array().into_iter().flatten().enumerate().skip(placed)
                    {
                        self.judge(rule, one, &format!("{at}/{place}"), faults);
                    }
                    true
                }
                "prefixItems" => {
                    let list = value.as_array().into_iter().flatten();
                    for (place, (one, rule)) in list.zip(rule.as_array().unwrap()).enumerate() {
                        self.judge(rule, one, &format!("{at}/{place}"), faults);
                    }
                    true
                }
                "properties" | "additionalProperties" => {
                    keys = value.as_object();
                    true
                }
                "$schema" | "$defs" | "title" | "description" | "format" => true,
                other => panic!("the keyword {other} is not known here"),
            };
            if !holds {
                faults.push(format!("{at}: {word} {rule} does not hold for {}", short(value)));
            }
        }
        if let Some(object) = keys {
            self.judge_keys(rules, object, at, faults);
        }
    }

    fn judge_keys(
        &self,
        rules: &Map<String, Value>,
        object: &Map<String, Value>,
        at: &str,
        faults: &mut Vec<String>,
    ) {
        for (key, value) in object {
            let own = rules.get("properties").and_then(|known| known.get(key));
            match own.or(rules.get("additionalProperties")) {
                Some(rule) => self.judge(rule, value, &format!("{at}/{key}"), faults),
                None => faults.push(format!("{at}/{key}: the schema has no such key")),
            }
        }
    }
}

fn is_of(kind: &str, value: &Value) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("the type {other} is not known here"),
    }
}

fn short(value: &Value) -> String {
    value.to_string().chars().take(80).collect()
}
