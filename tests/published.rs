//! The published schemas of documents, which are made from their types. Programs include this file by its path.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test may open files, and ends at the first error"
)]

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use std::path::Path;

/// Asserts that the schema `name` of docs/generated/schema is that of `T`.
pub(crate) fn check<T: JsonSchema>(name: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/generated/schema");
    // What is written, not what would be accepted: a null is a key that is always there.
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let text = format!("{:#}\n", schema.as_value());
    let path = folder.join(name);
    if std::env::var("SNAPSHOTS").is_ok_and(|mode| mode == "overwrite") {
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(&path, &text).unwrap();
    }
    let published = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(published == text, "{name} is out of date: SNAPSHOTS=overwrite writes it again");
}
