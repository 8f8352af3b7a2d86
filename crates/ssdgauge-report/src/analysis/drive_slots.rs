//! Slots of colours and shapes: a drive has the same one on every page that does not hold another
//! drive of equal slot.
//!
//! The slot follows from a hash of the drive's fingerprint and never from the order of files.

/// How many drives have a colour of their own. Chosen: six colours and a grey are the most that stay
/// apart for readers with any colour vision.
pub(crate) const SLOTS: usize = 6;

/// The slot of all other drives: grey.
pub(crate) const OTHERS: usize = SLOTS;

/// Returns the slot of each of `fingerprints`; `preferred` lists the drives that come first where there
/// are more than [`SLOTS`].
///
/// Drives take their slots in the order of their hashes. A slot that is taken already is replaced by
/// the next free one.
pub(crate) fn assign(fingerprints: &[String], preferred: &[usize]) -> Vec<usize> {
    let mut chosen: Vec<usize> = match fingerprints.len() > SLOTS {
        true => preferred.iter().copied().take(SLOTS).collect(),
        false => (0..fingerprints.len()).collect(),
    };
    let hash = |drive: usize| hash(&fingerprints[drive]);
    chosen
        .sort_by(|a, b| (hash(*a), &fingerprints[*a], *a).cmp(&(hash(*b), &fingerprints[*b], *b)));
    let mut slots = vec![OTHERS; fingerprints.len()];
    let mut taken = [false; SLOTS];
    for drive in chosen {
        let wanted = (hash(drive) % SLOTS as u64) as usize;
        let free = (0..SLOTS).map(|step| (wanted + step) % SLOTS).find(|slot| !taken[*slot]);
        let Some(slot) = free else { continue };
        taken[slot] = true;
        slots[drive] = slot;
    }
    slots
}

/// Returns the 64-bit FNV-1a hash of `text` (Fowler, Noll and Vo), folded to spread its low bits.
fn hash(text: &str) -> u64 {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hash ^ (hash >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(n: usize) -> Vec<String> {
        (0..n).map(|number| format!("block|Disk {number}|S{number}|1000|-")).collect()
    }

    #[test]
    fn the_slot_of_a_drive_does_not_depend_on_the_order_of_files() {
        let forward = names(6);
        let order: Vec<usize> = (0..6).collect();
        let slots = assign(&forward, &order);
        let mut seen = slots.clone();
        seen.sort_unstable();
        assert_eq!(seen, [0, 1, 2, 3, 4, 5], "every drive has its own");
        let backward: Vec<String> = forward.iter().rev().cloned().collect();
        let mut turned = assign(&backward, &order);
        turned.reverse();
        assert_eq!(turned, slots);
        for (number, name) in forward.iter().enumerate() {
            let alone = assign(std::slice::from_ref(name), &[0]);
            assert_eq!(alone[0] as u64, hash(name) % SLOTS as u64, "{number}");
        }
    }

    #[test]
    fn more_than_six_drives_leave_the_others_grey() {
        let slots = assign(&names(9), &[8, 3, 1, 0, 5, 7, 2, 4, 6]);
        assert_eq!(slots.iter().filter(|slot| **slot == OTHERS).count(), 3);
        for other in [2, 4, 6] {
            assert_eq!(slots[other], OTHERS);
        }
    }
}
