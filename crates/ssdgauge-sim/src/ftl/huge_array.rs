//! Large tables on huge pages: what the map of a drive is made of.
//!
//! A random write touches a place of the map that no cache holds. On pages of 4 KiB it misses the
//! processor's page tables as well, which costs a third of all time. The memory is anonymous; no
//! file is opened.

use bytemuck::Pod;
use memmap2::MmapMut;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// A fixed number of values, all zero at first.
#[derive(Debug)]
pub(crate) struct Table<T> {
    memory: Option<MmapMut>,
    values: PhantomData<T>,
}

impl<T: Pod> Table<T> {
    /// Returns `count` zeros.
    ///
    /// # Panics
    /// Where the machine has no memory for them, as any allocation would.
    pub(crate) fn zeroed(count: usize) -> Table<T> {
        if count == 0 {
            return Table { memory: None, values: PhantomData };
        }
        let memory = MmapMut::map_anon(count * size_of::<T>())
            .unwrap_or_else(|error| panic!("no memory for the map of a virtual drive: {error}"));
        #[cfg(target_os = "linux")]
        // Advice: without huge pages all is as before, only slower.
        let _ = memory.advise(memmap2::Advice::HugePage);
        Table { memory: Some(memory), values: PhantomData }
    }
}

impl<T: Pod> Deref for Table<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        self.memory.as_ref().map_or(&[], |memory| bytemuck::cast_slice(&memory[..]))
    }
}

impl<T: Pod> DerefMut for Table<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        self.memory.as_mut().map_or(&mut [], |memory| bytemuck::cast_slice_mut(&mut memory[..]))
    }
}

impl<T: Pod> Clone for Table<T> {
    fn clone(&self) -> Self {
        let mut copy = Table::zeroed(self.len());
        copy.copy_from_slice(self);
        copy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_begins_with_zeros_and_a_copy_is_its_own() {
        for count in [0, 1, 5_000] {
            let mut table: Table<u16> = Table::zeroed(count);
            assert!(table.len() == count && table.iter().all(|value| *value == 0));
            table.iter_mut().for_each(|value| *value = 7);
            let copy = table.clone();
            table.iter_mut().for_each(|value| *value = 8);
            assert!(copy.iter().all(|value| *value == 7) && copy.len() == count);
        }
    }
}
