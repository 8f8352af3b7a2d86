//! The held-out claims: drawn by lot before any fit, and shown apart.
//!
//! A parameter that was chosen by looking at one of them would make it worthless as a test.

/// The text of the list, one id a line; lines that begin with `#` are comments.
const LIST: &str = include_str!("../claims/held-out.txt");

/// Returns the ids of the held-out claims.
pub fn held_out() -> impl Iterator<Item = &'static str> {
    LIST.lines().filter(|line| !line.starts_with('#') && !line.is_empty())
}

/// Returns whether the claim `id` is held out.
pub fn is_held_out(id: &str) -> bool {
    held_out().any(|one| one == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_the_one_that_was_drawn() {
        // FNV-1a of the bytes, computed when the list was committed.
        let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        assert_eq!(LIST.bytes().fold(0xcbf2_9ce4_8422_2325, mix), 0x2377_6ea6_13f8_4921);
        assert_eq!(held_out().count(), 16);
        assert!(is_held_out("S4-13") && !is_held_out("S4-1x") && !is_held_out("S4-8"));
    }
}
