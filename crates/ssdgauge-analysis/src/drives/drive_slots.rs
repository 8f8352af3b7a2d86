//! Slots of colours and shapes: a drive has the same one on every page that does not hold another
//! drive of equal slot.
//!
//! The slot follows from the model and never from the order of files.

/// How many drives have a colour of their own. Chosen: six colours and a grey are the maximum that stay
/// apart for readers with any colour vision.
pub const SLOTS: usize = 6;

/// The slot of the first of all other drives: grey. The next ones have slots of the same colour and
/// another shape, see `grey`.
pub const OTHERS: usize = SLOTS;

/// Returns the slot of the grey drive with this number.
fn grey(number: usize) -> usize {
    OTHERS + (OTHERS + 1) * number
}

/// Returns the number of the colour of `slot`: [`OTHERS`] for each grey drive.
pub fn colour(slot: usize) -> usize {
    slot % (OTHERS + 1)
}

/// Returns the number of the grey drive of `slot`; `None` for one with a colour.
pub fn number_of_grey(slot: usize) -> Option<usize> {
    (colour(slot) == OTHERS).then_some(slot / (OTHERS + 1))
}

/// Returns the dashes of the line of `slot` in a file: those of the grey drives differ.
pub fn dashes(slot: usize) -> Option<&'static [f64]> {
    const DASHES: [Option<&[f64]>; SLOTS] = [
        None,
        Some(&[7.0, 3.0]),
        Some(&[2.0, 3.0]),
        Some(&[9.0, 3.0, 2.0, 3.0]),
        Some(&[4.0, 2.0]),
        Some(&[12.0, 4.0]),
    ];
    DASHES[number_of_grey(slot)? % SLOTS]
}

/// The slots of the virtual drives that stand for a class each, and that are tested at the same time the
/// most: no two of them share a slot.
const CLASSES: [(&str, usize); SLOTS] = [
    ("tlc-client", 0),
    ("mlc-client", 1),
    ("sata-datacentre", 2),
    ("nvme-datacentre", 3),
    ("qlc-client", 4),
    ("xpoint-like", 5),
];

/// What the slot of a drive follows from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look {
    /// The model, with the label of its runs where they have one.
    pub model: String,
    /// What sets the drive apart from others of its model.
    pub(crate) fingerprint: String,
}

/// Returns the slot of each drive; `preferred` lists the drives that come first where there are more than
/// [`SLOTS`].
///
/// A drive has the slot of its model. Where several drives of a page share that, the first of them by its
/// hash keeps it, and each of the others takes the next slot that is the own one of no drive of the page.
pub(crate) fn assign(looks: &[Look], preferred: &[usize]) -> Vec<usize> {
    let mut chosen: Vec<usize> = match looks.len() > SLOTS {
        true => preferred.iter().copied().take(SLOTS).collect(),
        false => (0..looks.len()).collect(),
    };
    let key = |drive: usize| (hash(&looks[drive].fingerprint), &looks[drive].fingerprint, drive);
    chosen.sort_by(|a, b| key(*a).cmp(&key(*b)));
    let mut slots = vec![OTHERS; looks.len()];
    let mut taken = [false; SLOTS];
    let mut without: Vec<usize> = Vec::new();
    for drive in chosen {
        let own = own_slot(&looks[drive].model);
        match std::mem::replace(&mut taken[own], true) {
            true => without.push(drive),
            false => slots[drive] = own,
        }
    }
    for drive in without {
        let own = own_slot(&looks[drive].model);
        let free = (0..SLOTS).map(|step| (own + step) % SLOTS).find(|slot| !taken[*slot]);
        let Some(slot) = free else { continue };
        taken[slot] = true;
        slots[drive] = slot;
    }
    let mut others: Vec<usize> = (0..looks.len()).filter(|one| slots[*one] == OTHERS).collect();
    others.sort_by(|a, b| key(*a).cmp(&key(*b)));
    for (number, drive) in others.into_iter().enumerate() {
        slots[drive] = grey(number);
    }
    slots
}

/// Returns the slot of `model` on a page of its own.
fn own_slot(model: &str) -> usize {
    let class = model.strip_prefix("MODEL ").and_then(|rest| rest.split(' ').next());
    let known = CLASSES.iter().find(|(known, _)| Some(*known) == class);
    known.map_or_else(|| (hash(model) % SLOTS as u64) as usize, |(_, slot)| *slot)
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

    fn look(model: &str, serial: usize) -> Look {
        Look { model: model.to_owned(), fingerprint: format!("block|{model}|S{serial}|1000|-") }
    }

    fn looks(n: usize) -> Vec<Look> {
        (0..n).map(|number| look(&format!("Disk {number}"), number)).collect()
    }

    #[test]
    fn the_slot_of_a_drive_does_not_depend_on_the_order_of_files() {
        let forward = looks(6);
        let order: Vec<usize> = (0..6).collect();
        let slots = assign(&forward, &order);
        let mut seen = slots.clone();
        seen.sort_unstable();
        assert_eq!(seen, [0, 1, 2, 3, 4, 5], "every drive has its own");
        let backward: Vec<Look> = forward.iter().rev().cloned().collect();
        let mut turned = assign(&backward, &order);
        turned.reverse();
        assert_eq!(turned, slots);
    }

    #[test]
    fn a_drive_keeps_the_slot_of_its_model_with_any_others_of_another_slot() {
        let all = looks(40);
        for one in &all {
            let alone = assign(std::slice::from_ref(one), &[0])[0];
            let others = all.iter().filter(|other| own_slot(&other.model) != alone).take(5);
            let mut page: Vec<Look> = others.cloned().collect();
            page.push(one.clone());
            assert_eq!(assign(&page, &[0, 1, 2, 3, 4, 5])[5], alone, "{one:?} among {page:?}");
        }
    }

    #[test]
    fn two_drives_of_one_model_have_the_slot_of_the_model_and_another_one() {
        let twins = [look("Disk", 1), look("Disk", 2)];
        let slots = assign(&twins, &[0, 1]);
        assert_ne!(slots[0], slots[1]);
        assert!(slots.contains(&own_slot("Disk")), "{slots:?}");
        assert_eq!(assign(&twins[..1], &[0]), assign(&twins[1..], &[0]), "alone they are equal");
    }

    #[test]
    fn the_virtual_drives_of_each_class_have_slots_of_their_own() {
        let class = |(class, _): (&str, usize)| look(&format!("MODEL {class} 500 GB"), 0);
        let all = CLASSES.map(class);
        assert_eq!(assign(&all, &[0, 1, 2, 3, 4, 5]), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn more_than_six_drives_leave_the_others_grey() {
        let slots = assign(&looks(9), &[8, 3, 1, 0, 5, 7, 2, 4, 6]);
        let mut greys: Vec<usize> = [2, 4, 6].map(|other| slots[other]).into();
        assert_eq!(slots.iter().filter(|slot| number_of_grey(**slot).is_some()).count(), 3);
        assert!(greys.iter().all(|slot| colour(*slot) == OTHERS));
        // Each has a shape of its own.
        greys.sort_unstable();
        greys.dedup();
        assert_eq!(greys.len(), 3);
    }
}
