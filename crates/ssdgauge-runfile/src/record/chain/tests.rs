use super::*;
use crate::schema;
use ssdgauge_statistics::Random;
use std::path::Path;

/// Every form of a number that SQLite has, whole ones among the real numbers, and records over several pages.
fn write(path: &Path, page: u32, random: &mut Random) -> Connection {
    let connection = Connection::open(path).unwrap();
    let settings = format!("PRAGMA page_size = {page}; PRAGMA foreign_keys = OFF");
    connection.execute_batch(&settings).unwrap();
    schema::create(&connection).unwrap();
    let sql = "INSERT INTO step VALUES (1,0,0,0,1,'a','b','c',0,'running',0,0,'d','e',0)";
    connection.execute_batch(sql).unwrap();
    let number = |random: &mut Random| (random.next_u64() as i64) >> random.below(64);
    for row in 0..900 {
        let blob = vec![row as u8; random.below(3 * u64::from(page.min(4_096))) as usize];
        let nothing = Some(number(random)).filter(|_| row % 3 == 0);
        let numbers: Vec<i64> = (0..9).map(|_| number(random)).collect();
        let sql = "INSERT INTO interval VALUES (?1,?2,?3,'read',?4,?5,?6,?7,?8,?9,?9,?10,?11,?12)";
        let [a, b, c, d, e, f, g, h, i] = numbers[..] else { unreachable!() };
        let values = rusqlite::params![a, b, c, d, e, f, g, h, nothing, i, blob, row];
        connection.execute(sql, values).unwrap();
    }
    for row in 0..4_000 {
        let value = match row % 4 {
            0 => random.unit() * 1e9,
            1 => -f64::from(row),
            2 => 1e300,
            _ => 0.0,
        };
        let sql = "INSERT INTO reading VALUES (1, ?1, 'die 3', 'power_w', ?2, ?3)";
        connection.execute(sql, rusqlite::params![number(random), value, row]).unwrap();
    }
    connection.execute_batch("COMMIT").unwrap();
    connection
}

fn tables(connection: &Connection) -> [SampleTable; 2] {
    [("interval", 14, None), ("reading", 6, Some(4))].map(|(name, columns, real)| {
        let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
        let root = connection.query_row(sql, [name], |row| row.get(0)).unwrap();
        SampleTable { name, root, columns, real }
    })
}

/// Returns what the pages of `path` give of `table`, with the bytes of all records.
fn by_pages(path: &Path, table: SampleTable, ends: &[i64]) -> Option<(Vec<Hash>, Vec<u8>)> {
    let mut seen = Vec::new();
    let see = &mut |_: &str, _: &[ValueRef<'_>], bytes: &[u8]| seen.extend_from_slice(bytes);
    let hashes = hashes_by_pages(&mut Pages::open(path)?, table, ends, see)?;
    Some((hashes, seen))
}

fn by_sqlite(
    connection: &Connection,
    table: SampleTable,
    ends: &[i64],
) -> Option<(Vec<Hash>, Vec<u8>)> {
    let mut seen = Vec::new();
    let see = &mut |_: &str, _: &[ValueRef<'_>], bytes: &[u8]| seen.extend_from_slice(bytes);
    let starts = [0].iter().chain(ends);
    let ranges = starts.zip(ends).map(|(from, to)| (*from, *to));
    let hashes = ranges.map(|range| hash_of(connection, table.name, range, see).unwrap()).collect();
    Some((hashes, seen))
}

#[test]
fn pages_hold_the_records_that_sqlite_returns() {
    let mut random = Random::new(46, 9);
    let folder = tempfile::tempdir().unwrap();
    for page in [512, 4_096, 65_536] {
        let path = folder.path().join(page.to_string());
        let connection = write(&path, page, &mut random);
        for table in tables(&connection) {
            for ends in [&[0, 0, 1, 700, 700, 800][..], &[900], &[0], &[]] {
                let expected = by_sqlite(&connection, table, ends);
                assert!(by_pages(&path, table, ends) == expected, "{page} {table:?} {ends:?}");
            }
            // Fewer records than are covered, and another number of columns, are left to SQLite.
            assert_eq!(by_pages(&path, table, &[10_000]), None);
            let other = SampleTable { columns: table.columns + 1, ..table };
            assert_eq!(by_pages(&path, other, &[10]), None);
        }
        let [interval, _] = tables(&connection);
        connection.execute_batch("DELETE FROM interval WHERE rowid = 500").unwrap();
        assert_eq!(by_pages(&path, interval, &[900]), None);
        assert!(by_pages(&path, interval, &[400]) == by_sqlite(&connection, interval, &[400]));
    }
}

#[test]
fn changed_bytes_give_other_hashes_or_none_and_equal_hashes_are_of_equal_records() {
    let mut random = Random::new(46, 10);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let connection = write(&path, 512, &mut random);
    let tables = tables(&connection);
    drop(connection);
    let sound = std::fs::read(&path).unwrap();
    let expected = tables.map(|table| by_pages(&path, table, &[300, 900]).unwrap());
    let (mut none, mut other) = (0, 0);
    for _ in 0..150 {
        let mut bytes = sound.clone();
        for _ in 0..1 + random.below(8) {
            let place = 100 + random.below(bytes.len() as u64 - 100) as usize;
            bytes[place] = random.next_u64() as u8;
        }
        std::fs::write(&path, &bytes).unwrap();
        for (table, expected) in tables.into_iter().zip(&expected) {
            match by_pages(&path, table, &[300, 900]) {
                None => none += 1,
                Some((hashes, seen)) if hashes == expected.0 => assert!(seen == expected.1),
                Some(_) => other += 1,
            }
        }
    }
    assert!(none > 20 && other > 20, "{none} {other}");
    // A tree whose pages are its own children ends.
    for root in 2..200 {
        let mut bytes = sound.clone();
        let page = &mut bytes[512 * (root - 1)..512 * root];
        page[0] = 5;
        page[8..12].copy_from_slice(&(root as u32).to_be_bytes());
        std::fs::write(&path, &bytes).unwrap();
        let [interval, _] = tables;
        by_pages(&path, SampleTable { root: root as u32, ..interval }, &[300]);
    }
}
