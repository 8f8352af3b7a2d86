//! Large arrays on huge pages, for the page map of a drive.
//!
//! A random write touches an entry of the map that no processor cache holds. On pages of 4 KiB it
//! also misses the TLB, which costs a third of the run time. The memory is anonymous; no file is
//! opened.

use bytemuck::Pod;
use memmap2::MmapMut;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// An array of fixed length; its values are initially zero.
#[derive(Debug)]
pub(crate) struct HugeArray<T> {
    /// `None` for an array of length 0, which cannot be mapped.
    memory: Option<MmapMut>,
    values: PhantomData<T>,
}

impl<T: Pod> HugeArray<T> {
    /// Returns an array of `length` zeros.
    ///
    /// # Panics
    /// Where the machine cannot provide the memory, as any allocation would.
    pub(crate) fn zeroed(length: usize) -> HugeArray<T> {
        if length == 0 {
            return HugeArray { memory: None, values: PhantomData };
        }
        let memory = MmapMut::map_anon(length * size_of::<T>())
            .unwrap_or_else(|error| panic!("no memory for the map of a virtual drive: {error}"));
        #[cfg(target_os = "linux")]
        // The result is ignored: without huge pages the array works the same, only slower.
        let _ = memory.advise(memmap2::Advice::HugePage);
        HugeArray { memory: Some(memory), values: PhantomData }
    }
}

impl<T: Pod> Deref for HugeArray<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        self.memory.as_ref().map_or(&[], |memory| bytemuck::cast_slice(&memory[..]))
    }
}

impl<T: Pod> DerefMut for HugeArray<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        self.memory.as_mut().map_or(&mut [], |memory| bytemuck::cast_slice_mut(&mut memory[..]))
    }
}

impl<T: Pod> Clone for HugeArray<T> {
    fn clone(&self) -> Self {
        let mut copy = HugeArray::zeroed(self.len());
        copy.copy_from_slice(self);
        copy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_is_initially_zero_and_a_clone_is_independent() {
        for length in [0, 1, 5_000] {
            let mut array: HugeArray<u16> = HugeArray::zeroed(length);
            assert!(array.len() == length && array.iter().all(|value| *value == 0));
            array.iter_mut().for_each(|value| *value = 7);
            let copy = array.clone();
            array.iter_mut().for_each(|value| *value = 8);
            assert!(copy.iter().all(|value| *value == 7) && copy.len() == length);
        }
    }
}
