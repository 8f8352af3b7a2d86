//! The pool of random data for writes.

use ssdgauge_core::{MAX_SLOT_MEMORY, Random, Workload};
use ssdgauge_os::memory::Region;
use std::fs::File;
use std::io::{self, Read};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// The length of a pool, unless a workload needs more. It exceeds the caches of the processor, and
/// no 4 KiB repeat within it.
const DEFAULT_LENGTH: usize = 64 << 20;

/// Pools without a rig, for reuse: the kernel clears new memory, which takes longer than to write it.
static FREE: Mutex<Vec<Arc<Region>>> = Mutex::new(Vec::new());

/// The random data of one rig: different in each run, so that a drive with deduplication finds no data
/// of an earlier run, and equal in each process of a run, so that one which continues it can compare
/// what an earlier one has written. A region belongs to one rig at a time, because the threads of a
/// workload write verification headers into it.
#[derive(Debug, Default)]
pub struct Pool {
    seed: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Empty,
    /// A thread generates it.
    Generating(JoinHandle<Result<Arc<Region>, String>>),
    Ready(Arc<Region>),
}

impl Pool {
    /// Starts to generate the pool of `seed` on a separate thread, so that the first write need not
    /// wait.
    pub fn begin(seed: u64) -> Pool {
        let thread = std::thread::spawn(move || generate(seed, DEFAULT_LENGTH));
        Pool { seed, state: Mutex::new(State::Generating(thread)) }
    }

    /// Returns the words of the pool of `seed` without any header, up to `length` bytes and at least as
    /// many as a pool usually has. A longer pool begins with the words of a shorter one.
    pub(crate) fn words(seed: u64, length: usize) -> Vec<u64> {
        let mut words = vec![0; length.max(DEFAULT_LENGTH) / 8];
        fill(seed, &mut words);
        words
    }

    /// Returns the seed, from which the data follows.
    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the data, at least `length` bytes of it. Waits for the generating thread.
    ///
    /// # Errors
    /// The cause in words, where there is no memory or /dev/urandom cannot be read.
    pub fn get(&self, length: usize) -> Result<Arc<Region>, String> {
        let mut state = self.state.lock().map_err(|_| "no data to write".to_owned())?;
        let region = match std::mem::take(&mut *state) {
            State::Empty => generate(self.seed, length.max(DEFAULT_LENGTH))?,
            State::Generating(thread) => {
                thread.join().map_err(|_| "no data to write".to_owned()).flatten()?
            }
            State::Ready(region) => region,
        };
        let region = if region.length() < length { generate(self.seed, length)? } else { region };
        *state = State::Ready(region.clone());
        Ok(region)
    }

    /// Returns the data as the last writes have left it; `None` where nothing was written.
    pub fn written(&self) -> Option<Arc<Region>> {
        match &*self.state.lock().ok()? {
            State::Ready(region) => Some(region.clone()),
            State::Empty | State::Generating(_) => None,
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let Ok(state) = self.state.get_mut() else { return };
        let region = match std::mem::take(state) {
            State::Empty => return,
            State::Generating(thread) => thread.join().ok().and_then(Result::ok),
            State::Ready(region) => Some(region),
        };
        // A request of a thread that hangs in the kernel may still use the region: such a region
        // is never used again.
        let region = region.filter(|region| Arc::strong_count(region) == 1);
        if let (Some(region), Ok(mut free)) = (region, FREE.lock()) {
            free.push(region);
        }
    }
}

/// Returns a region of at least `length` bytes with the data of `seed`: a free one, or a new one.
fn generate(seed: u64, length: usize) -> Result<Arc<Region>, String> {
    let free = FREE.lock().ok().and_then(|mut free| {
        let found = free.iter().position(|region| region.length() >= length)?;
        Arc::into_inner(free.swap_remove(found))
    });
    let mut region = match free {
        Some(region) => region,
        None => Region::new(length).map_err(|error| format!("no data to write: {error}"))?,
    };
    fill(seed, region.words_mut());
    Ok(Arc::new(region))
}

fn fill(seed: u64, words: &mut [u64]) {
    // Another sequence than those of the requests.
    let mut random = Random::new(seed, u64::MAX);
    words.iter_mut().for_each(|word| *word = random.next_u64());
}

/// Returns the maximum number of bytes of the pool that `workload` may need: a bound, because the slots of an open
/// loop depend on the available memory, and the threads on the engine.
pub fn longest_pool(workload: &Workload) -> usize {
    let writers = workload.streams.iter().filter(|stream| stream.writes());
    let bytes = writers.map(|stream| {
        let blocks = stream.block_size.0.next_multiple_of(4_096) * u64::from(stream.total_depth());
        match stream.arrival.per_second() {
            Some(_) => blocks + MAX_SLOT_MEMORY.0,
            None => blocks,
        }
    });
    bytes.sum::<u64>() as usize
}

/// Returns a random number that identifies a run.
///
/// # Errors
/// The error of the kernel, where /dev/urandom cannot be read.
pub fn random_tag() -> io::Result<u64> {
    let mut bytes = [0; 8];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(u64::from_ne_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pool_cannot_be_compressed_or_deduplicated() {
        let pool = Pool::begin(7).get(0).unwrap();
        // SAFETY: this pool has no other user.
        let words = unsafe {
            std::slice::from_raw_parts(pool.at(0).cast::<[u64; 512]>(), pool.length() / 4_096)
        };
        let blocks: std::collections::HashSet<&[u64; 512]> = words.iter().collect();
        assert_eq!(blocks.len(), pool.length() / 4_096);
        // All bytes are equally frequent, so an entropy coder gains nothing: 65,536 of each are
        // expected in 16 MiB, and five standard deviations are 1,280.
        let mut counts = [0u32; 256];
        for word in words.iter().flatten().take(2 << 20) {
            word.to_le_bytes().iter().for_each(|byte| counts[usize::from(*byte)] += 1);
        }
        assert!(counts.iter().all(|n| n.abs_diff(65_536) < 1_280), "{counts:?}");
    }

    #[test]
    fn a_pool_belongs_to_one_rig_and_grows_on_demand() {
        let (one, two) = (Pool::begin(1), Pool::begin(2));
        let (first, second) = (one.get(0).unwrap(), two.get(DEFAULT_LENGTH + 1).unwrap());
        assert_ne!(first.at(0), second.at(0));
        assert!(first.length() >= DEFAULT_LENGTH && second.length() > DEFAULT_LENGTH);
    }

    #[test]
    fn the_data_follows_from_the_seed_whatever_the_length_and_the_earlier_use() {
        let words = |region: &Region| -> Vec<[u64; 2]> {
            let every = (0..DEFAULT_LENGTH).step_by(1 << 16);
            // SAFETY: the words lie within the region, which has no other user.
            every.map(|at| unsafe { ssdgauge_os::memory::words_at(region.at(at)) }).collect()
        };
        let used = Pool::begin(3);
        let region = used.get(0).unwrap();
        // SAFETY: the region has no other user.
        unsafe { region.put(1 << 16, [0, 0]) };
        drop((region, used));
        let expected = Pool::words(4, 0);
        let pool = Pool::begin(4);
        for length in [0, DEFAULT_LENGTH + 4_096] {
            let found = words(&pool.get(length).unwrap());
            for (number, pair) in found.into_iter().enumerate() {
                let at = (number << 16) / 8;
                assert_eq!(pair.map(u64::to_le), [expected[at], expected[at + 1]]);
            }
        }
        assert_ne!(Pool::words(5, 0)[..8], expected[..8]);
    }
}
